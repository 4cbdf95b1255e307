"""Which swarms run, and in which order."""

import math
from collections.abc import Collection, Set
from dataclasses import replace
from functools import lru_cache

from swarm_bench.core.session.base import Group, Trial, stable_id
from swarm_bench.core.session.experiment import Experiment, Task
from swarm_bench.engine.plan import Block, iterate_groups, plan_blocks
from swarm_bench.runtime.cycles import pause_collection

SwarmTrial = Trial[Task]
"""One agent, whose number it has, on one task."""
Swarm = Group[Task]
"""The trials that share a workspace and its services."""


def plan(experiment: Experiment) -> tuple[Block[Task], ...]:
    """Return all blocks of the experiment, in the order they run. The agents of a block are a swarm
    of each mode. What comes after a verdict that stands, or that no recording has, is not run."""
    if experiment.ends_after:
        experiment = experiment.first_blocks(experiment.ends_after)
    blocks = experiment.agents_of_blocks
    times = len(blocks) // experiment.orders_per_run
    return _plan(experiment.order, times, blocks, experiment.tasks)


@lru_cache(maxsize=1)
@pause_collection()
def _plan(
    drawn_orders: tuple[tuple[str, ...], ...],
    times: int,
    blocks: tuple[tuple[int, ...], ...],
    tasks: tuple[Task, ...],
) -> tuple[Block[Task], ...]:
    """Cache the plan: a call asks for it several times, and it can have 100,000 trials. Each order
    that was drawn is that of so many blocks."""
    orders = [order for order in drawn_orders for _ in range(times)]
    members = [[(agent, tasks[(agent - 1) % len(tasks)]) for agent in block] for block in blocks]
    planned = plan_blocks(
        orders, members, lambda run, mode, agent, task: stable_id(run, mode, agent, task.id)
    )
    return tuple(replace(block, groups=tuple(map(_set_commit, block.groups))) for block in planned)


def _set_commit(swarm: Swarm) -> Swarm:
    commit = next((trial.case.commit for trial in swarm.trials if trial.case.commit), None)
    return replace(swarm, commit=commit)


def list_commits(experiment: Experiment) -> tuple[str, ...]:
    """Return the commits that its tasks are asked on, in the order they take their turn."""
    swarms = iterate_groups(plan(experiment))
    return tuple(dict.fromkeys(swarm.commit for swarm in swarms if swarm.commit is not None))


def estimate_seconds(experiment: Experiment, finished: Collection[str | None] = ()) -> float:
    """Return an upper bound of the time that agents and indexing may still take."""
    total = 0.0
    for swarm in iterate_groups(plan(experiment)):
        pending = sum(trial.id not in finished for trial in swarm.trials)
        total += math.ceil(pending / experiment.concurrency) * experiment.limits.timeout
        mode = experiment.mode(swarm.arm)
        steps = (mode.services, experiment.prepares(mode), mode.warm_up)
        if pending:
            total += sum(map(bool, steps)) * experiment.limits.index_timeout
    return total


def cut_to_started(experiment: Experiment, started: Set[int]) -> Experiment:
    """Return of a session that may end at every look what was run of it: up to the last block that
    was looked at, or with one of the agents that have `begun`."""
    if not experiment.until_clear:
        return experiment
    blocks = experiment.agents_of_blocks
    run = [number for number, block in enumerate(blocks, 1) if not started.isdisjoint(block)]
    return experiment.first_blocks(max([1, *run, *(look.blocks for look in experiment.looks)]))


def count_planned(experiment: Experiment) -> dict[str, int]:
    """Count the trials of each mode, in the order of the modes."""
    per_mode = experiment.runs * experiment.trials_per_mode
    return {mode.name: per_mode for mode in experiment.modes}
