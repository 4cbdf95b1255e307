"""One mode in one run: what a figure of a run is computed from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from swarm_bench.core.metric import KeyPart
from swarm_bench.core.session.records import SwarmRecord, TrialRecord

Trials = tuple[TrialRecord, ...]
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
        return max(len(self.judged[part]), planned)

    @cached_property
    def judged(self) -> Mapping[KeyPart, Trials]:
        """Those of these tasks, by a part that their key has."""
        keyed = [trial for trial in self.trials if trial.task_key in self.keyed]
        return {
            part: tuple(trial for trial in keyed if trial.task_key in tasks)
            for part, tasks in self.with_part.items()
        }
