"""How the agents of a run are dealt into blocks, and in which order the modes take their turn."""

import math
import random
from collections.abc import Iterable, Iterator, Sequence

from swarm_bench.core.session.experiment import Experiment, cut
from swarm_bench.engine.plan import draw_order

TASKS = 6
"""What a block has about, where nobody says how many."""


def deal_blocks(experiment: Experiment, max_size: int | None, least: float = 0.0) -> Experiment:
    """Deal the agents of a new session into blocks: of `most` tasks, where a size was set, and
    of `least` or more, where that leaves two of a run."""
    blocks = tuple(_deal(experiment, experiment.agents_by_commit.values(), max_size, least))
    number = experiment.runs * len(blocks)
    order = draw_order(experiment.arms, number, experiment.seed)
    return experiment.model_copy(update={"blocks": blocks, "order": order})


def draw_task_order(experiment: Experiment) -> Experiment:
    """Put the tasks of a new session that has blocks into a drawn order, and the blocks one after
    the other: whatever was run when it ends is a draw of the tasks."""
    tasks, draw = experiment.tasks, random.Random(f"{experiment.seed}:tasks")
    dealt = [list(agents) for agents in experiment.agents_of_blocks]
    for agents in experiment.agents_by_commit.values():
        drawn_agents = iter(draw.sample(agents, len(agents)))
        of_commit = set(agents)
        for block in dealt:
            if of_commit.issuperset(block):
                block[:] = [next(drawn_agents) for _ in block]
    draw.shuffle(dealt)
    order = [tasks[agent - 1] for block in dealt for agent in block]
    numbers = iter(range(1, len(order) + 1))
    blocks = tuple(tuple(next(numbers) for _ in block) for block in dealt)
    return experiment.model_copy(update={"tasks": tuple(order), "blocks": blocks})


def extend_blocks(old: Experiment, new: Experiment, max_size: int | None) -> Experiment:
    """Give a session that grew by runs, tasks or modes the blocks and the order that it had, and
    more. New tasks have blocks of their own, of `most` tasks, where a size was set, or about
    as large as those that there are, or larger."""
    blocks = old.blocks
    if blocks is not None:
        old_count = old.trials_per_mode
        added = [
            [agent for agent in agents if agent > old_count]
            for agents in new.agents_by_commit.values()
        ]
        blocks = (*blocks, *_deal(old, added, max_size, max(map(len, blocks))))
    old_orders, now = old.orders_per_run, 1 if blocks is None else len(blocks)
    drawn_orders = [
        old.order[run * old_orders + block] if run < old.runs and block < old_orders else ()
        for run in range(new.runs)
        for block in range(now)
    ]
    order = draw_order(new.arms, new.runs * now, old.seed, drawn_orders)
    return new.model_copy(update={"blocks": blocks, "order": order})


def _deal(
    experiment: Experiment, of_commits: Iterable[Sequence[int]], max_size: int | None, least: float
) -> Iterator[tuple[int, ...]]:
    """Yield blocks of one commit each. A swarm of which somebody said the size is a block."""
    size = 1 if experiment.design.agent_at_a_time else experiment.swarm_size
    if size is not None:
        yield from cut(of_commits, size)
        return
    for agents in filter(None, of_commits):
        number = _count_blocks(len(agents), experiment.concurrency, max_size, least)
        for block in range(number):
            first, last = (len(agents) * edge // number for edge in (block, block + 1))
            yield tuple(agents[first:last])


def _count_blocks(tasks: int, at_once: int, max_size: int | None, least: float) -> int:
    """Return how many blocks so many tasks make: one where all run at once, and else an even
    number, since blocks are pairs. As many run at once as may, where two blocks allow it."""
    if tasks <= at_once:
        return 1
    if max_size is not None:
        number = max(2, math.ceil(tasks / max(max_size, at_once)))
        return min(tasks, number + number % 2)
    pairs = math.ceil(tasks / TASKS / 2 - 0.5)
    possible = int(tasks / max(at_once, least) / 2)
    return 2 * max(1, min(pairs, possible))
