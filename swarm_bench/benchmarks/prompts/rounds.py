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
_SHOWN = 6
"""Training cases that stand in a request for a better prompt."""
_SHOWN_WELL = 2
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
    def of(cls, arm: Arm, records: Sequence[ModelRecord], cases: Mapping[str, RowCase]) -> "Round":
        training = {case.id for case in cases.values() if case.part == TRAINING}
        own = [it for it in records if it.arm == arm.name and it.case in training]
        trials = sorted(own, key=lambda it: (it.run, it.case))
        ended = {(it.run, it.case) for it in trials if it.conclusive and _passed(it) is not None}
        runs = {it.run for it in records}
        return cls(arm, trials, is_whole=bool(runs) and len(ended) == len(training) * len(runs))

    @property
    def passing(self) -> float:
        """The share of its answers that pass."""
        return mean(passed for it in self.trials if (passed := _passed(it)) is not None)

    @property
    def quality(self) -> float | None:
        """The mean of the marks; `None` without any."""
        marks = [mark for it in self.trials if (mark := _quality(it)) is not None]
        return mean(marks) if marks else None

    def is_better(self, other: "Round") -> bool:
        """Tell whether more of its answers pass, or as many with better marks. Marks that are
        missing decide nothing."""
        if self.passing != other.passing:
            return self.passing > other.passing
        marks = self.quality, other.quality
        return marks[0] is not None and marks[1] is not None and marks[0] > marks[1]

    @property
    def shown(self) -> tuple[list[ModelRecord], list[ModelRecord]]:
        """Trials that stand in a request, each of another case, and the others: failures first, and
        some that went well where there are any."""
        by_case = {it.case: it for it in reversed(self.trials)}
        ordered = sorted(by_case.values(), key=lambda it: (bool(_passed(it)), it.case))
        failed = [it for it in ordered if not _passed(it)]
        passed = [it for it in ordered if _passed(it)]
        well = passed[: max(_SHOWN_WELL, _SHOWN - len(failed))]
        chosen = [*failed[: _SHOWN - len(well)], *well]
        return chosen, [it for it in ordered if it not in chosen]


def best_of(rounds: Sequence[Round]) -> Round:
    """Return the first one than which none is better."""
    return reduce(lambda best, it: it if it.is_better(best) else best, rounds)


def suggestion(record: ModelRecord) -> str:
    """Return what the judge would have the prompt say, in view of a trial."""
    return str((record.scores or {}).get(SUGGESTION) or "")


def outcome(record: ModelRecord) -> str:
    """Say how a trial ended, and what the judge suggests."""
    text = suggestion(record)
    more = f" A suggestion on it: {text}" if text else ""
    return f"{ends(record.scores or {})}{more}"


def ends(scores: Mapping[str, Any]) -> str:
    """Say how its tests ended."""
    return "Its tests passed." if scores.get(PASSED) else "Its tests failed."
