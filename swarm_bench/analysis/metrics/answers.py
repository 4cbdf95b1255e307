"""The metrics of what the agents wrote."""

from swarm_bench.analysis.metrics.aggregates import mean, number, share
from swarm_bench.analysis.metrics.measure import Measure, metric
from swarm_bench.core.report.report import Style
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Status

_ENDED_WELL = {None, Status.COMPLETED}


def succeeded(trial: TrialRecord) -> bool | None:
    if trial.status not in _ENDED_WELL or (trial.result_lines or 0) <= 1:
        return False
    return None if trial.compacted is None else not trial.compacted


def _null(trial: TrialRecord) -> bool:
    return (trial.result_lines or 0) <= 1


def _grounded(trial: TrialRecord) -> bool | None:
    return False if trial.result_lines is None else trial.grounded


def _exists(trial: TrialRecord) -> bool | None:
    if trial.result_lines is None:
        return False
    return None if trial.references_existing is None else trial.references_existing >= 3


def _structured(trial: TrialRecord) -> bool | None:
    return False if trial.result_lines is None else trial.structured


ANSWERS = (
    Measure(
        metric=metric(
            "success_rate",
            "Success rate (non-empty, not compacted)",
            "% of trials",
            Style.PERCENT,
            "Trials that ended by themselves with an answer of more than one line, in fewer turns "
            "than the budget. It says nothing about whether the answer is right.",
        ),
        of=share(succeeded),
    ),
    Measure(
        metric=metric(
            "avg_output_lines",
            "Avg output lines",
            "lines",
            Style.AVERAGE,
            "Mean lines of the answers there are (result_lines).",
        ),
        of=mean("result_lines"),
    ),
    Measure(
        metric=metric(
            "avg_turns",
            "Avg turns used",
            "turns",
            Style.AVERAGE,
            "Mean turns of the agents that report them (num_turns).",
        ),
        of=mean("num_turns"),
    ),
    Measure(
        metric=metric(
            "avg_requests",
            "Avg model requests",
            "requests",
            Style.AVERAGE,
            "Mean requests of the main conversation, which the budget of turns is about "
            "(requests).",
        ),
        of=mean("requests"),
    ),
    Measure(
        metric=metric(
            "null_results",
            "Null/empty results",
            "trials",
            Style.WHOLE,
            "Trials without an answer, or with one of a single line.",
        ),
        of=number(_null),
    ),
    Measure(
        metric=metric(
            "grounded",
            "Grounded outputs",
            "% of trials",
            Style.PERCENT,
            "Answers with at least 3 file references (e.g. foo/bar.ts), repetitions included, as "
            "canopy's script counts them; it also counts names of files that do not exist. A trial "
            "without an answer is not grounded.",
        ),
        of=share(_grounded),
    ),
    Measure(
        metric=metric(
            "grounded_existing",
            "Grounded in existing files",
            "% of trials",
            Style.PERCENT,
            "Answers that name at least 3 different files of the workspace.",
        ),
        of=share(_exists),
    ),
    Measure(
        metric=metric(
            "avg_references",
            "Avg file refs/output",
            "references",
            Style.AVERAGE,
            "Mean file references of the answers there are (references).",
        ),
        of=mean("references"),
    ),
    Measure(
        metric=metric(
            "avg_references_existing",
            "Avg existing files named/output",
            "files",
            Style.AVERAGE,
            "Mean of the different mentions that name a file of the workspace, whatever its "
            "extension (references_existing).",
        ),
        of=mean("references_existing"),
    ),
    Measure(
        metric=metric(
            "structured",
            "Structured outputs",
            "% of trials",
            Style.PERCENT,
            "Answers with at least 3 headings and at least 5 bullets or 1 code fence; comments "
            "inside fences are not headings. A trial without an answer is not structured.",
        ),
        of=share(_structured),
    ),
)
