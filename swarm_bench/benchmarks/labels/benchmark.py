"""The benchmark `labels`: classification of code, as CodeXGLUE and CodeComplex have it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, Field, field_validator

from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.benchmarks.cases.texts import cut
from swarm_bench.benchmarks.labels.metrics import (
    ANSWER_KEY,
    CORRECT,
    COUNTS,
    NO_LABEL,
    RIGHT,
    make_confusion_counts,
    make_label_metrics,
)
from swarm_bench.benchmarks.labels.tasks import TASKS, Name, Task
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way

_STOP = "\n\n"
"""Of texts that are continued. Many models begin their answer with one line break."""


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
