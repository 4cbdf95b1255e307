"""What a prompt came to in training: the part of the data that others are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from statistics import mean
from typing import Any

from swarm_bench.benchmarks.cases.passing import PASSED, of_answer
from swarm_bench.benchmarks.cases.role import RowCase, of_score
from swarm_bench.benchmarks.prompts.common import QUALITY
from swarm_bench.core.session.models import Arm, ModelRecord

HELD_OUT, TRAINING = "held-out", "training"
SUGGESTION = "suggestion"
"""Key of a score: what the judge would have the prompt say, in view of a training case."""
_MAX_EXAMPLES = 6
"""Training cases that stand in a request for a better prompt."""
_MAX_GOOD_EXAMPLES = 2
"""Of these, that went well, where as many did."""

_passed, _quality = of_answer(PASSED), of_score(QUALITY)


@dataclass(frozen=True)
class Round:
    """An arm, and what its prompt came to in training."""

    arm: Arm
    trials: Sequence[ModelRecord]
    """Those of training, in the order of their ids."""
    is_whole: bool
    """Whether each of them tells whether it passes, and the judge has answered."""

    @classmethod
    def build(
        cls, arm: Arm, records: Sequence[ModelRecord], cases: Mapping[str, RowCase]
    ) -> "Round":
        training = {case.id for case in cases.values() if case.part == TRAINING}
        training_records = [
            record for record in records if record.arm == arm.name and record.case in training
        ]
        trials = sorted(training_records, key=lambda record: (record.run, record.case))
        complete = {
            (record.run, record.case)
            for record in trials
            if record.conclusive and _passed(record) is not None
        }
        runs = {record.run for record in records}
        return cls(arm, trials, is_whole=bool(runs) and len(complete) == len(training) * len(runs))

    @property
    def passing(self) -> float:
        """The share of its answers that pass."""
        return mean(passed for record in self.trials if (passed := _passed(record)) is not None)

    @property
    def quality(self) -> float | None:
        """The mean of the marks; `None` without any."""
        marks = [mark for record in self.trials if (mark := _quality(record)) is not None]
        return mean(marks) if marks else None

    def is_better(self, rival: "Round") -> bool:
        """Tell whether more of its answers pass, or as many with better marks. Marks that are
        missing decide nothing."""
        if self.passing != rival.passing:
            return self.passing > rival.passing
        marks = self.quality, rival.quality
        return marks[0] is not None and marks[1] is not None and marks[0] > marks[1]

    @property
    def examples(self) -> tuple[list[ModelRecord], list[ModelRecord]]:
        """Trials that stand in a request, each of another case, and the others: failures first, and
        some that went well where there are any."""
        by_case = {record.case: record for record in reversed(self.trials)}
        ordered = sorted(by_case.values(), key=lambda record: (bool(_passed(record)), record.case))
        failed = [record for record in ordered if not _passed(record)]
        passed = [record for record in ordered if _passed(record)]
        well = passed[: max(_MAX_GOOD_EXAMPLES, _MAX_EXAMPLES - len(failed))]
        selected = [*failed[: _MAX_EXAMPLES - len(well)], *well]
        return selected, [record for record in ordered if record not in selected]


def find_best(rounds: Sequence[Round]) -> Round:
    """Return the first one than which none is better."""
    return reduce(lambda best, entry: entry if entry.is_better(best) else best, rounds)


def read_suggestion(record: ModelRecord) -> str:
    """Return what the judge would have the prompt say, in view of a trial."""
    return str((record.scores or {}).get(SUGGESTION) or "")


def describe_outcome(record: ModelRecord) -> str:
    """Say how a trial ended, and what the judge suggests."""
    text = read_suggestion(record)
    advice = f" A suggestion on it: {text}" if text else ""
    return f"{describe_end(record.scores or {})}{advice}"


def describe_end(scores: Mapping[str, Any]) -> str:
    """Say how its tests ended."""
    return "Its tests passed." if scores.get(PASSED) else "Its tests failed."
