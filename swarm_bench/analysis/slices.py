"""What figures are computed from: one mode in one run, and what kinds of trials there are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from swarm_bench.core.metric import KeyPart
from swarm_bench.core.session.records import SwarmRecord, TrialRecord

Trials = tuple[TrialRecord, ...]
Block = tuple[int, int]
"""A run, and which of its blocks."""
Weights = Mapping[str, float]
"""Of tasks in means, by their ids."""


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One mode in one run."""

    mode: str
    run: int
    trials: Trials
    """Those that count."""
    absent: int
    """Trials that were planned and do not count, or have not been run."""
    swarms: tuple[SwarmRecord, ...]
    keyed: Weights
    """Tasks whose answers are judged by a key."""
    asked: tuple[str, ...]
    """The task of each planned trial."""
    with_part: Mapping[KeyPart, frozenset[str]]
    """Tasks by a part that their key has."""

    def to_judge(self, part: KeyPart) -> int:
        """How many trials of these tasks there are, or should be."""
        tasks = self.with_part[part]
        planned = sum(task in self.keyed and task in tasks for task in self.asked)
        return max(len(self.judged(part)), planned)

    def judged(self, part: KeyPart) -> Trials:
        """Return those of these tasks whose key has the part."""
        if part not in self._judged:
            tasks = self.with_part[part] & self.keyed.keys()
            self._judged[part] = tuple(trial for trial in self.trials if trial.task_key in tasks)
        return self._judged[part]

    @cached_property
    def _judged(self) -> dict[KeyPart, Trials]:
        return {}


_KIND = attrgetter(
    *("model", "program", "program_version", "backend", "token_counter", "price_table"),
    *("cost_estimated", "cost_unreliable", "fixed_rules", "rehearsal", "replayed"),
    "turns_counted",
)


def one_of_each_kind(trials: Iterable[TrialRecord]) -> Trials:
    """Select one trial of each kind: all of a kind have the same makers and sources of figures."""
    return tuple({_KIND(trial): trial for trial in trials}.values())
