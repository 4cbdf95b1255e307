"""The metrics of what the agents wrote, and of what their answers name, against the keys of their
tasks."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from swarm_bench.analysis.aggregates import read_field
from swarm_bench.benchmarks.swarm.metrics.effort import ANSWERS
from swarm_bench.core.metric import Better, Column, How, KeyPart, Metric, ReadTrial, Row, Style
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.stored import StoredScore
from swarm_bench.source.key_measures import ELSEWHERE, ROOM

CORRECTNESS = "What was found"
_FOUND_NOTHING = (
    "A trial without an answer found nothing, unless the harness or the provider failed."
)
_FACTS_ELSEWHERE = f"fact_share{ELSEWHERE}"
_NONE: Mapping[str, StoredScore] = MappingProxyType({})


def read_score(key: str) -> ReadTrial:
    """Read a score by its key."""

    def read(trial: TrialRecord) -> float | None:
        value = (trial.scores or _NONE).get(key)
        return None if isinstance(value, str) else value

    return read


def _find_number(scores: Mapping[str, StoredScore], key: str) -> float | None:
    value = scores.get(key)
    return None if isinstance(value, str) else value


def is_right(trial: TrialRecord) -> bool | None:
    """Tell whether the answer names every file of the key and matches every fact of it, and not
    half of those of the other tasks."""
    scores = trial.scores or _NONE
    files, facts = scores.get("files_all_found"), _matches_all(scores)
    if files is None:
        return facts
    return bool(files) and facts is not False


def _matches_all(scores: Mapping[str, StoredScore]) -> bool | None:
    share, elsewhere = _find_number(scores, "fact_share"), _find_number(scores, _FACTS_ELSEWHERE)
    if share is None or elsewhere is None:  # there is no other task with facts
        return None if share is None else share == 1
    return share > 0.5 and round(share + elsewhere, 9) == 1


def _make_share(key: str, title: str, definition: str, part: KeyPart = "files") -> Metric:
    """Declare a score between 0 and 1 of an answer, whose mean over tasks is a row."""
    return Metric(
        key=key,
        title=title,
        unit="0 to 1",
        style=Style.FRACTION,
        definition=definition,
        better=Better.HIGHER,
        read=read_score(key),
        relative=False,
        of_failed=True,
        row=Row(table=CORRECTNESS, how=How.TASK_MEAN),
        keyed=part,
    )


def _make_count(
    key: str, title: str, definition: str, better: Better | None = Better.LOWER
) -> Metric:
    """Declare a count of references, whose total is a row."""
    return Metric(
        key=key,
        title=title,
        unit="references",
        style=Style.WHOLE,
        definition=f"{definition}.",
        better=better,
        read=read_score(key),
        relative=False,
        row=Row(table=ANSWERS, how=How.TOTAL),
    )


_ELSEWHERE: tuple[tuple[str, str, KeyPart], ...] = (
    ("file_recall", "Recall (files) of other keys", "files"),
    ("symbol_recall", "Recall (symbols) of other keys", "symbols"),
    ("fact_share", "Facts of other keys", "facts"),
)
OF_KEYS = (
    replace(
        _make_share(
            "file_recall",
            "Recall (files)",
            "Share of the key's files that the answer names, among its first files: as many as "
            f"the key has and {ROOM} more. The mean over tasks by their weight. {_FOUND_NOTHING}",
        ),
        phrase="found {} of the files",
        column=Column(title="Recall"),
        page="Recall (files)",
    ),
    Metric(
        key="constant_recall",
        title="Recall of a constant answer",
        unit="0 to 1",
        style=Style.FRACTION,
        definition="What the best answer would find that is the same for every task: of all files "
        "that the keys name, those that find most, as many as can count. With few tasks that is "
        "much; a recall that is not above it tells little.",
        keyed="files",
    ),
    Metric(
        key="right_answer",
        title="Right answers",
        phrase="answered {} of the tasks right",
        unit="true or false",
        style=Style.PERCENT,
        definition="Share of the answers that name all files of the key and match all its facts, "
        "and not half of the facts of other tasks. The mean over tasks by their weight. "
        f"{_FOUND_NOTHING}",
        better=Better.HIGHER,
        read=is_right,
        relative=False,
        of_failed=True,
        row=Row(table=CORRECTNESS, how=How.TASK_MEAN),
        page="Right answer",
        keyed="any",
    ),
    _make_share(
        "file_precision",
        "Precision (files)",
        "Share of the files that the answer names that are in the key. An answer without any has "
        "none. A key of a change may lack files that are right too, so compare modes by it.",
    ),
    _make_share("file_f1", "F1 (files)", "The harmonic mean of recall and precision of files."),
    _make_share(
        "file_ndcg",
        "nDCG (files)",
        "How early the answer names the key's files: 1 where they stand before all others.",
    ),
    Metric(
        key="file_first_rank",
        title="Rank of the first right file",
        unit="rank",
        style=Style.AVERAGE,
        definition="Its place among the files that the answer names, from 1; the median. An answer "
        "that names no right one is counted as missing.",
        better=Better.LOWER,
        read=read_score("file_first_rank"),
        relative=False,
        row=Row(table=CORRECTNESS, how=How.MEDIAN),
        keyed="files",
    ),
    _make_share(
        "symbol_recall",
        "Recall (symbols)",
        "Share of the key's functions, classes and methods that the answer names.",
        "symbols",
    ),
    _make_share(
        "symbol_precision",
        "Precision (symbols)",
        "Share of those that the answer names that are in the key.",
        "symbols",
    ),
    _make_share(
        "fact_share",
        "Facts",
        "Share of the key's facts that the answer matches, less the share of the other tasks' "
        "facts that it matches too, so that whoever says everything has 0. "
        "Facts that the question matches do not count.",
        "facts",
    ),
    *(
        replace(
            _make_share(
                f"{key}{ELSEWHERE}",
                title,
                f"Share of the {part} in the keys of other tasks that the answer has too: tasks "
                "about the same files and what the own key has are left out. Where it is as high "
                "as what is found of the own key, answers do not depend on the question.",
                part,
            ),
            better=None,
        )
        for key, title, part in _ELSEWHERE
    ),
    Metric(
        key="tokens_per_right_answer",
        title="Effective tokens per right answer",
        unit="tokens",
        style=Style.WHOLE,
        definition="Effective tokens of all trials of the keyed tasks, failed ones too, divided by "
        "the right answers among them, over all runs. Missing where there is none.",
        better=Better.LOWER,
        keyed="any",
        spent=True,
    ),
    Metric(
        key="cost_per_right_answer",
        title="Cost per right answer",
        unit="US dollars",
        style=Style.DOLLARS,
        definition="The same with cost.",
        better=Better.LOWER,
        keyed="any",
        spent=True,
    ),
)

CITED = (
    Metric(
        key="invented_share",
        title="Invented references",
        unit="% of references",
        style=Style.PERCENT,
        definition="Of the files, lines and symbols that an answer points to, those that are not "
        "there: the mean over tasks of the answers that point to any.",
        better=Better.LOWER,
        read=read_score("invented_share"),
        relative=False,
        row=Row(table=ANSWERS, how=How.TASK_MEAN),
    ),
    _make_count(
        "citations", "References", "Files, lines and symbols that the answers point to", None
    ),
    _make_count("citations_invented", "References to nothing", "Those whose file does not exist"),
    _make_count("lines_invented", "Lines that do not exist", "Those beyond the end of their file"),
    _make_count(
        "symbols_misplaced", "Symbols elsewhere", "Those whose symbol is not in their file"
    ),
)


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
        definition="Whether it has 3 file references or more.",
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
            definition="Mean file references of the answers there are.",
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
            "its extension.",
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
