"""The metrics of what the agents wrote."""

from swarm_bench.analysis.aggregates import read_field
from swarm_bench.benchmarks.swarm.metrics.effort import ANSWERS
from swarm_bench.core.metric import Better, Column, How, Metric, Row, Style
from swarm_bench.core.session.records import TrialRecord


def _is_null(trial: TrialRecord) -> bool:
    return (trial.result_lines or 0) <= 1


def _is_grounded(trial: TrialRecord) -> bool | None:
    return False if trial.result_lines is None else trial.grounded


def _names_existing(trial: TrialRecord) -> bool | None:
    if trial.result_lines is None:
        return False
    return None if trial.references_existing is None else trial.references_existing >= 3


def _is_structured(trial: TrialRecord) -> bool | None:
    return False if trial.result_lines is None else trial.structured


ANSWER_METRICS = (
    Metric(
        key="null_results",
        title="Null/empty results",
        unit="true or false",
        style=Style.WHOLE,
        definition="Trials without an answer, or with one of a single line.",
        better=Better.LOWER,
        read=_is_null,
        row=Row(table=ANSWERS, how=How.NUMBER),
    ),
    Metric(
        key="grounded",
        title="Grounded answer",
        unit="true or false",
        style=Style.AVERAGE,
        definition="references is 3 or more.",
        better=Better.HIGHER,
        read=read_field("grounded"),
        relative=False,
        row=Row(
            table=ANSWERS,
            how=How.SHARE,
            title="Grounded outputs",
            definition="Answers with at least 3 file references (e.g. foo/bar.ts), repetitions "
            "included, as canopy's script counts them; it also counts names of files that do not "
            "exist. A trial without an answer is not grounded.",
            read=_is_grounded,
        ),
    ),
    Metric(
        key="grounded_existing",
        title="Grounded in existing files",
        unit="true or false",
        style=Style.AVERAGE,
        definition="Answers that name at least 3 different files of the workspace.",
        better=Better.HIGHER,
        read=_names_existing,
        relative=False,
        row=Row(table=ANSWERS, how=How.SHARE),
    ),
    Metric(
        key="references",
        title="File references",
        unit="references",
        style=Style.AVERAGE,
        definition="Mentions of files as canopy's script counts them: see below.",
        better=Better.HIGHER,
        read=read_field("references"),
        relative=False,
        row=Row(
            table=ANSWERS,
            how=How.MEAN,
            title="Avg file refs/output",
            definition="Mean file references of the answers there are (references).",
        ),
        column=Column(title="Refs (existing)", style=Style.WHOLE, beside="references_existing"),
    ),
    Metric(
        key="references_existing",
        title="Existing files named",
        unit="files",
        style=Style.AVERAGE,
        definition="Different mentions that name a file of the workspace.",
        better=Better.HIGHER,
        read=read_field("references_existing"),
        relative=False,
        row=Row(
            table=ANSWERS,
            how=How.MEAN,
            title="Avg existing files named/output",
            definition="Mean of the different mentions that name a file of the workspace, whatever "
            "its extension (references_existing).",
        ),
    ),
    Metric(
        key="structured",
        title="Structured answer",
        unit="true or false",
        style=Style.AVERAGE,
        definition="3 headings or more, and 5 bullets or 1 code fence or more.",
        better=Better.HIGHER,
        read=read_field("structured"),
        relative=False,
        row=Row(
            table=ANSWERS,
            how=How.SHARE,
            title="Structured outputs",
            definition="Answers with at least 3 headings and at least 5 bullets or 1 code fence; "
            "comments inside fences are not headings. A trial without an answer is not structured.",
            read=_is_structured,
        ),
    ),
)
