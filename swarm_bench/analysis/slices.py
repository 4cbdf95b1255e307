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
    keyed_weights: Weights
    """Tasks whose answers are judged by a key."""
    run_tasks: tuple[str, ...]
    """The task of each planned trial."""
    tasks_by_part: Mapping[KeyPart, frozenset[str]]
    """Tasks by a part that their key has."""

    def count_to_judge(self, part: KeyPart) -> int:
        """How many trials of these tasks there are, or should be."""
        tasks = self.tasks_by_part[part]
        planned = sum(task in self.keyed_weights and task in tasks for task in self.run_tasks)
        return max(len(self.select_judged(part)), planned)

    def select_judged(self, part: KeyPart) -> Trials:
        """Return those of these tasks whose key has the part."""
        if part not in self._judged_by_part:
            tasks = self.tasks_by_part[part] & self.keyed_weights.keys()
            self._judged_by_part[part] = tuple(
                trial for trial in self.trials if trial.task_key in tasks
            )
        return self._judged_by_part[part]

    @cached_property
    def _judged_by_part(self) -> dict[KeyPart, Trials]:
        return {}


_KIND = attrgetter(
    *("model", "program", "program_version", "backend", "token_counter", "price_table"),
    *("cost_estimated", "cost_unreliable", "fixed_rules", "rehearsal", "replayed"),
    "turns_counted",
)


def select_one_of_each_kind(trials: Iterable[TrialRecord]) -> Trials:
    """Select one trial of each kind: all of a kind have the same makers and sources of figures."""
    return tuple({_KIND(trial): trial for trial in trials}.values())
