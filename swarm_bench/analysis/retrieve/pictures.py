"""Pictures of a session of `retrieve`: how early each mode names a right file, and how much of what
was asked for an answer finds for its tokens."""

from collections.abc import Mapping, Sequence

from swarm_bench.analysis.documents.blocks import list_absent
from swarm_bench.analysis.retrieve.figures import Answers
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.metric import Style
from swarm_bench.core.report.pictures import (
    MAX_LINES,
    Axis,
    Line,
    MarkGroup,
    MarkRow,
    PlaneChart,
    Point,
    RowChart,
    RowMark,
)
from swarm_bench.core.session.retrieving import Form

_MAX_QUESTIONS = 40
_LEAST_RANKS = 10
_LEAST = 1e-6
"""Reciprocal of the last rank that is drawn; no answer names so many files."""
_TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
_RECALL = (
    "Means over all questions: the share of the right files among all that an answer names, and "
    "its tokens. What a part of an answer would have named is not recorded."
)
Ranks = Mapping[str, Mapping[str, Sequence[float]]]
"""Reciprocals of the ranks of all runs, by mode and task; 0 where no right file was named."""


def make_rank_chart(answers: Answers, form: Form, phrase: str) -> RowChart | None:
    """Make the chart of the rank of the first right file by question and mode; `None` without
    answers. `phrase` says how was asked."""
    arms = answers.experiment.arms[:MAX_LINES]
    ranks: Ranks = {arm: answers.group_by_task(arm, "reciprocal_rank", form) for arm in arms}
    tasks = [task for task, question_form in answers.questions.values() if question_form == form]
    answered_tasks = [task for task in tasks if _list_values(ranks, task.id)]
    if not answered_tasks:
        return None
    order = sorted(answered_tasks, key=lambda task: _measure_agreement(ranks, task.id))
    rows = tuple(
        MarkRow(label=task.title or task.id, marks=tuple(_make_marks(ranks, task.id)))
        for task in order[:_MAX_QUESTIONS]
    )
    numbers = [mark.value for row in rows for mark in row.marks if mark.value is not None]
    high = max([_LEAST_RANKS, *numbers])
    missing = len(tasks) * len(arms) * answers.experiment.runs - sum(
        len(_list_values(ranks, task.id)) for task in tasks
    )
    return RowChart(
        title=f"Rank of the first right file, {phrase}",
        explanation=_explain_ranks(len(order), missing, answers.experiment.arms[MAX_LINES:]),
        axis=Axis(
            label="Rank",
            style=Style.WHOLE,
            is_logarithmic=True,
            low=1,
            high=high,
            ticks=tuple(tick for tick in _TICKS if tick <= high),
        ),
        groups=tuple(MarkGroup(label=arm, shape=number) for number, arm in enumerate(arms)),
        rows=rows,
        extra_column="not found",
    )


def _list_values(ranks: Ranks, task: str) -> list[float]:
    return [value for of_arm in ranks.values() for value in of_arm.get(task, ())]


def _measure_agreement(ranks: Ranks, task: str) -> float:
    """Return how close modes are in a question, at most 0 for those that are alike."""
    values = _list_values(ranks, task)
    return min(values) - max(values)


def _make_marks(ranks: Ranks, task: str) -> list[RowMark]:
    """Make a mark for each mode and rank; equal ranks of several runs have one."""
    return [
        RowMark(group=number, value=round(1 / value) if value >= _LEAST else None)
        for number, of_arm in enumerate(ranks.values())
        for value in dict.fromkeys(of_arm.get(task, ()))
    ]


def _explain_ranks(questions: int, missing: int, omitted_arms: Sequence[str]) -> str:
    sentences = ["Questions in which modes differ most come first."]
    if questions > _MAX_QUESTIONS:
        sentences.append(f"The first {_MAX_QUESTIONS} of {questions:,} questions are shown.")
    if omitted_arms:
        sentences.append(f"Not shown: {', '.join(omitted_arms)}.")
    if missing > 0:
        verb = "is" if missing == 1 else "are"
        sentences.append(f"{quantify(missing, 'answer')} {verb} missing.")
    return " ".join(sentences)


def make_recall_chart(answers: Answers, form: Form, phrase: str) -> PlaneChart | None:
    """Make the chart of what modes found against the tokens of their answers; `None` where no mode
    has both."""
    lines = list[Line]()
    for number, arm in enumerate(answers.experiment.arms[:MAX_LINES]):
        records = answers.select_records(arm, form)
        tokens, recall = (answers.compute_mean(records, key) for key in ("tokens", "recall"))
        if tokens is not None and recall is not None:
            point = Point(x=tokens, y=recall)
            lines.append(Line(label=arm, shape=number, points=(point,)))
    if not lines:
        return None
    return PlaneChart(
        title=f"Recall against tokens, {phrase}",
        explanation=f"{_RECALL}{list_absent(answers.experiment.arms, lines)}",
        x=Axis(label="Tokens of an answer", style=Style.WHOLE, low=0),
        y=Axis(label="Recall", style=Style.FRACTION, low=0, high=1),
        lines=tuple(lines),
    )
