"""The benchmark `labels`: classification of code, as CodeXGLUE and CodeComplex have it. Its figures
come from how often each label was answered where which was right."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any, ClassVar

from pydantic import BaseModel, Field, field_validator

from swarm_bench.benchmarks.cases.passing import of_answer
from swarm_bench.benchmarks.cases.role import (
    ModelBenchmark,
    RowCase,
    Scores,
    Tools,
    counts_of,
    of_score,
)
from swarm_bench.benchmarks.cases.texts import cut
from swarm_bench.benchmarks.labels.tasks import TASKS, Name, Task
from swarm_bench.core.metric import Better, Column, Confusion, How, Metric, Row, Style
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way

_STOP = "\n\n"
"""Stop word of texts that are continued. Many models begin their answer with one line break."""


class Labels(ModelBenchmark):
    """Labels of code: how the time of a program grows, whether two functions are clones, whether
    one has a defect."""

    name: ClassVar[str] = "labels"
    dataset: ClassVar[str] = "defect-mini"
    Row: ClassVar[type[BaseModel]] = TASKS["defect"].row
    ways: ClassVar[tuple[Way, ...]] = ("chat", "text")
    one_word: ClassVar[bool] = True
    oddities: ClassVar[tuple[str, ...]] = (
        "The originals train an encoder with a linear head and ask nobody, so the prompt is our "
        "own, and parity=true is refused; predictions of what was trained are read by "
        "generations:FILE.",
        "The first label in an answer counts, also in 'not linear'.",
        "Macro figures are means over the labels that occur in rows or answers, and 0 stands for "
        "what is divided by 0, as in the evaluator of CodeXGLUE; its figures for clones are these.",
    )

    task: Name = Field(
        default="defect",
        description="Rows of complexity have src and complexity, of clone func1, func2 and label, "
        "of defect func and target.",
    )
    temperature: float | None = Field(default=0, ge=0, description="Of sampling.")

    @field_validator("parity")
    @classmethod
    def _has_no_original(cls, parity: bool) -> bool:
        if parity:
            raise ValueError("has no meaning: the originals ask no model; omit it")
        return parity

    def default_dataset(self) -> str:
        """Return the shipped rows of the task."""
        return f"{self.task}-mini"

    def row_schema(self) -> type[BaseModel]:
        """Return what a row of the task has."""
        return self._task.row

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each row."""
        for number, row in enumerate(rows):
            yield RowCase(id=str(number) if row.id is None else row.id, row=row)

    def notes(self, rows: Sequence[Any]) -> Sequence[str]:
        """Say what is right without looking at the code."""
        ((label, number),) = Counter(row.label for row in rows).most_common(1)
        return (
            f"The most frequent label, {label}, is right in {number} of {len(rows)} rows "
            f"({number / len(rows):.2f}): a model that is no better has learned nothing from the "
            "code. The accuracy of copy may be lower, as it learns from the other rows alone.",
        )

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Ask for one of the labels and nothing else."""
        text, label = self._write_prompt(case), case.row.label
        if way == "text":
            return Ask(prompt=text, sampling=self.sampling(_STOP), reference=f" {label}")
        turn = Turn(role="user", text=text)
        return Ask(prompt=(turn,), sampling=self.sampling(), reference=label)

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the first label of the answer; nothing where there is none."""
        text = cut(completion, (_STOP,)) if way == "text" else completion.text
        return self._task.find_label(text, values=completion.whole) or ""

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Hold the label against that of the row."""
        right, answer = case.row.label, prediction or None
        return {
            CORRECT: answer == right,
            NO_LABEL: answer is None,
            RIGHT: right,
            ANSWER_KEY: answer,
            COUNTS: make_confusion_counts(self._task.labels, right, answer),
        }

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return accuracy, and precision, recall and F1 of all labels and of yes."""
        return make_label_metrics(
            tuple(dict.fromkeys(label for task in TASKS.values() for label in task.labels))
        )

    def lesson(self, case: RowCase) -> str:
        """Return the question with its answer."""
        return f"{self._write_prompt(case)} {case.row.label}"

    def reference(self, case: RowCase) -> str | None:
        """Return the right label."""
        return str(case.row.label)

    @property
    def _task(self) -> Task:
        return TASKS[self.task]

    def _write_prompt(self, case: RowCase) -> str:
        labels = ", ".join(self._task.labels)
        return (
            f"{self._task.question}\nAnswer with one of these words and nothing else: {labels}.\n\n"
            f"{case.row.code}\n\nAnswer:"
        )


CORRECT = "correct"
"""Key of a score, as are the next."""
NO_LABEL = "no_label"
RIGHT = "right"
ANSWER_KEY = "answered"
COUNTS = "confusion"


def make_confusion_counts(labels: Sequence[str], right: str, answer: str | None) -> list[int]:
    """Count one answer: for each right label each answered one, and at the end for each right
    label that none was answered."""
    number, row = len(labels), labels.index(right)
    counts = [0] * (number * number + number)
    at = number * number + row if answer is None else number * row + labels.index(answer)
    counts[at] = 1
    return counts


@dataclass(frozen=True, kw_only=True)
class _Label:
    """What became of one label."""

    hits: float
    right: float
    """Number of times the label was right."""
    answers: float

    @property
    def precision(self) -> float | None:
        """Return the share of the label's answers that are right; `None` if there are none."""
        return self.hits / self.answers if self.answers > 0 else None

    @property
    def recall(self) -> float | None:
        """Return the share of the label's rows that are answered right; `None` if there are
        none."""
        return self.hits / self.right if self.right > 0 else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; `None` where it was neither right nor answered."""
        total = self.right + self.answers
        return 2 * self.hits / total if total > 0 else None


def _count_labels(counts: Sequence[float]) -> list[_Label]:
    number = (isqrt(4 * len(counts) + 1) - 1) // 2
    rows = [counts[number * at : number * (at + 1)] for at in range(number)]
    return [
        _Label(
            hits=rows[at][at],
            right=sum(rows[at]) + counts[number * number + at],
            answers=sum(row[at] for row in rows),
        )
        for at in range(number)
    ]


def _make_macro(
    figure: Callable[[_Label], float | None],
) -> Callable[[Sequence[float]], float | None]:
    def compute(counts: Sequence[float]) -> float | None:
        occurring = [
            label for label in _count_labels(counts) if label.right > 0 or label.answers > 0
        ]
        figures = [
            figure(label) or 0.0 for label in occurring
        ]  # as the evaluators of the originals do
        return sum(figures) / len(figures) if figures else None

    return compute


def _make_binary(
    figure: Callable[[_Label], float | None],
) -> Callable[[Sequence[float]], float | None]:
    def compute(counts: Sequence[float]) -> float | None:
        labels = _count_labels(counts)
        is_binary = len(labels) == 2 and labels[1].right > 0
        return figure(labels[1]) if is_binary else None

    return compute


def make_label_metrics(labels: tuple[str, ...]) -> tuple[Metric, ...]:
    """Declare the figures; `labels` are those of all tasks."""
    return (
        Metric(
            key="accuracy",
            title="Accuracy",
            phrase="labelled {} of the cases right",
            unit="0 to 1",
            style=Style.FRACTION,
            better=Better.HIGHER,
            definition="Share of answers whose first label is the right one; one without a label "
            "is wrong.",
            read=of_answer(CORRECT),
            relative=False,
            compared=True,
            confusion=Confusion(labels=labels, read=_read_pair),
            column=Column(title="Right"),
        ),
        *(
            _make_figure(
                f"macro_{name}", f"Macro {_TITLES[name]}", _MACRO, _make_macro(_FIGURES[name])
            )
            for name in _FIGURES
        ),
        *(
            _make_figure(name, _TITLES[name].capitalize(), _BINARY, _make_binary(_FIGURES[name]))
            for name in _FIGURES
        ),
        Metric(
            key=NO_LABEL,
            title="No label",
            unit="true or false",
            style=Style.PERCENT,
            better=Better.LOWER,
            definition="Answers in which no label stands, and trials that have no answer.",
            read=of_score(NO_LABEL),
            row=Row(table="Answers", how=How.SHARE),
        ),
    )


_FIGURES: Mapping[str, Callable[[_Label], float | None]] = {
    "precision": lambda label: label.precision,
    "recall": lambda label: label.recall,
    "f1": lambda label: label.f1,
}
_TITLES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_MACRO = "Mean over the labels that occur in rows or answers; what is divided by 0 is 0 in it."
_BINARY = (
    "Of the label yes, in tasks of yes or no; missing where no row has it, and precision where "
    "nobody answered it too."
)


def _make_figure(
    key: str, title: str, definition: str, compute: Callable[[Sequence[float]], float | None]
) -> Metric:
    return Metric(
        key=key,
        title=title,
        unit="0 to 1",
        style=Style.FRACTION,
        better=Better.HIGHER,
        definition=definition,
        counts=counts_of(COUNTS),
        of_counts=compute,
        relative=False,
    )


def _read_pair(record: Any) -> tuple[str, str | None] | None:
    scores = record.scores or {}
    right, answer = scores.get(RIGHT), scores.get(ANSWER_KEY)
    return (right, answer) if isinstance(right, str) else None
