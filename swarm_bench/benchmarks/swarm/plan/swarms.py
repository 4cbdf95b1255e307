"""Which swarms run, and in which order."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from swarm_bench.core.session.experiment import Experiment, Task, stable_id
from swarm_bench.engine.plan import Block, groups_of
from swarm_bench.runtime.cycles import uncollected


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One agent on one task in one mode in one run."""

    id: str
    run: int
    mode: str
    agent: int
    task: Task


@dataclass(frozen=True, kw_only=True)
class Swarm:
    """The trials that share a workspace and its services."""

    id: str
    run: int
    mode: str
    trials: tuple[Trial, ...]
    commit: str | None = None
    """That its tasks are asked on; `None` for what the session copied when it began."""

    @property
    def arm(self) -> str:
        """The engine's word for the mode."""
        return self.mode

    def without(self, finished: Collection[str]) -> "Swarm":
        """Return the swarm with the trials that are still to run."""
        trials = tuple(trial for trial in self.trials if trial.id not in finished)
        return replace(self, trials=trials)


def plan(experiment: Experiment) -> tuple[Block[Swarm], ...]:
    """Return all blocks of the experiment, in the order they run. A run has a block for each of its
    swarms: for every commit that tasks are asked on, and in `ab` for every task."""
    size, own = experiment.agents_per_swarm, experiment.repository.clean_commit
    return _plan(experiment.order, experiment.tasks, experiment.trials_per_mode, size, own)


@lru_cache(maxsize=1)
@uncollected()
def _plan(
    orders: tuple[tuple[str, ...], ...],
    tasks: tuple[Task, ...],
    trials: int,
    size: int,
    own: str | None,
) -> tuple[Block[Swarm], ...]:
    """Cache the plan: a call asks for it several times, and it can have 100,000 trials."""
    agents = [(agent, tasks[(agent - 1) % len(tasks)]) for agent in range(1, trials + 1)]
    by_commit: dict[str | None, list[tuple[int, Task]]] = {}
    for agent, task in agents:
        by_commit.setdefault(task.commit or own, []).append((agent, task))
    return tuple(
        Block(
            run=run,
            order=order,
            groups=tuple(_swarm(run, mode, members[first : first + size]) for mode in order),
        )
        for run, order in enumerate(orders, start=1)
        for members in by_commit.values()
        for first in range(0, len(members), size)
    )


def commits(experiment: Experiment) -> tuple[str, ...]:
    """Return the commits that its tasks are asked on, in the order they take their turn."""
    swarms = groups_of(plan(experiment))
    return tuple(dict.fromkeys(swarm.commit for swarm in swarms if swarm.commit is not None))


def longest_seconds(experiment: Experiment, finished: Collection[str | None] = ()) -> float:
    """Return an upper bound of the time that agents and indexing may still take."""
    total = 0.0
    for swarm in groups_of(plan(experiment)):
        pending = sum(trial.id not in finished for trial in swarm.trials)
        total += math.ceil(pending / experiment.concurrency) * experiment.limits.timeout
        mode = experiment.mode(swarm.mode)
        steps = (mode.services, experiment.prepares(mode), mode.warm_up)
        if pending:
            total += sum(map(bool, steps)) * experiment.limits.index_timeout
    return total


def planned_by_mode(experiment: Experiment) -> dict[str, int]:
    """Count the trials of each mode, in the order of the modes."""
    turns = Counter(mode for order in experiment.order for mode in order)
    return {mode.name: turns[mode.name] * experiment.trials_per_mode for mode in experiment.modes}


def _swarm(run: int, mode: str, agents: Sequence[tuple[int, Task]]) -> Swarm:
    trials = tuple(
        Trial(id=stable_id(run, mode, agent, task.id), run=run, mode=mode, agent=agent, task=task)
        for agent, task in agents
    )
    return Swarm(
        id=stable_id(run, mode, *(trial.id for trial in trials)),
        run=run,
        mode=mode,
        trials=trials,
        commit=next((task.commit for _, task in agents if task.commit), None),
    )
