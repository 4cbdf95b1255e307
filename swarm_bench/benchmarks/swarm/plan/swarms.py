"""Which swarms run, and in which order."""

import math
from collections.abc import Collection, Sequence, Set
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
    """Return all blocks of the experiment, in the order they run. The agents of a block are a swarm
    of each mode. What comes after a verdict that stands, or that no recording has, is not run."""
    if experiment.ends_after:
        experiment = experiment.first_blocks(experiment.ends_after)
    blocks = experiment.agents_of_blocks
    times = len(blocks) // experiment.orders_per_run
    return _plan(experiment.order, times, blocks, experiment.tasks)


@lru_cache(maxsize=1)
@uncollected()
def _plan(
    drawn: tuple[tuple[str, ...], ...],
    times: int,
    blocks: tuple[tuple[int, ...], ...],
    tasks: tuple[Task, ...],
) -> tuple[Block[Swarm], ...]:
    """Cache the plan: a call asks for it several times, and it can have 100,000 trials. Each order
    that was drawn is that of so many blocks."""
    orders = [order for order in drawn for _ in range(times)]
    members = [[(agent, tasks[(agent - 1) % len(tasks)]) for agent in block] for block in blocks]
    planned = []
    for turn, order in enumerate(orders):
        before, number = divmod(turn, len(blocks))
        swarms = (_swarm(before + 1, mode, members[number]) for mode in order)
        planned.append(
            Block(
                run=before + 1,
                number=number + 1,
                of_run=len(blocks),
                order=order,
                groups=tuple(swarms),
            )
        )
    return tuple(planned)


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


def as_far_as(experiment: Experiment, begun: Set[int]) -> Experiment:
    """Return of a session that may end at every look what was run of it: up to the last block that
    was looked at, or with one of the agents that have `begun`."""
    if not experiment.until_clear:
        return experiment
    blocks = experiment.agents_of_blocks
    run = [number for number, block in enumerate(blocks, 1) if not begun.isdisjoint(block)]
    return experiment.first_blocks(max([1, *run, *(look.blocks for look in experiment.looks)]))


def planned_by_mode(experiment: Experiment) -> dict[str, int]:
    """Count the trials of each mode, in the order of the modes."""
    each = experiment.runs * experiment.trials_per_mode
    return {mode.name: each for mode in experiment.modes}


def _swarm(run: int, mode: str, agents: Sequence[tuple[int, Task]]) -> Swarm:
    trials = tuple(
        Trial(id=stable_id(run, mode, agent, task.id), run=run, mode=mode, agent=agent, task=task)
        for agent, task in agents
    )
    commit = next((task.commit for _, task in agents if task.commit), None)
    swarm = Swarm(id="", run=run, mode=mode, trials=trials, commit=commit)
    return replace(swarm, id=swarm_id(swarm))


def swarm_id(swarm: Swarm) -> str:
    """Return the id of a swarm of these trials."""
    return stable_id(swarm.run, swarm.mode, *(trial.id for trial in swarm.trials))
