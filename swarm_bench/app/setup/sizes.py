"""How many agents a session has, and how many of them work at the same time."""

import os
from dataclasses import dataclass

from swarm_bench.analysis.wording import quantify
from swarm_bench.app.notices import LOCAL_AGENT
from swarm_bench.config.settings import Resolved, Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.base import MAX_TRIALS
from swarm_bench.core.session.designs import Design
from swarm_bench.runtime.processes.launching import room_at_once

AT_ONCE = 4
"""Agents that run at the same time when nobody says how many."""


@dataclass(frozen=True, kw_only=True)
class SwarmSizes:
    """How many agents a session has, and how many of them share a workspace: keys of the
    experiment."""

    agents: int
    concurrency: int
    all_tasks: bool
    swarm_size: int | None = None


def find_largest_swarm(settings: Settings) -> int:
    """Return the number of agents in the largest swarm, or of those that run at the same time when
    every task has one."""
    return max(settings.agents, default=AT_ONCE)


def resolve_sizes(resolved: Resolved, design: Design, tasks: int) -> SwarmSizes:
    """Resolve the sizes of a session; `tasks` is how many the suite has.

    Every session of a series has the trials of the largest swarm, cut into swarms of its size: so
    they differ in what is shared, and not in the tasks.
    """
    if design.agent_at_a_time:
        return SwarmSizes(agents=1, concurrency=1, all_tasks=True)
    settings, max_agents = resolved.settings, find_largest_swarm(resolved.settings)
    at_once, all_tasks = settings.concurrency, settings.all_tasks or not settings.agents
    if at_once is not None and at_once > max_agents and not all_tasks:
        if resolved.is_typed("concurrency"):
            raise UsageError(
                f"--concurrency {at_once} is more than the {quantify(max_agents, 'agent')} of a "
                f"swarm; give at most {max_agents}"
            )
        at_once = max_agents  # where it is a setting for other calls too, it is an upper bound
    if resolved.member is not None:
        if resolved.is_typed("block_size"):
            raise UsageError("--block-size: in growing swarms, a swarm is a block; omit it")
        if all_tasks and max_agents > tasks:
            raise UsageError(
                f"--agents {max_agents}: with --all-tasks a swarm has at most the {tasks} tasks of "
                "the suite; give smaller swarms"
            )
        size = resolved.member.size
        at_once = min(at_once or room_at_once(), size)
        return SwarmSizes(
            agents=max_agents, concurrency=at_once, all_tasks=all_tasks, swarm_size=size
        )
    if len(settings.agents) > 1:
        raise UsageError(
            f"--agents {' '.join(map(str, settings.agents))}: this session has swarms of one size; "
            "give one number"
        )
    return SwarmSizes(
        agents=max_agents, concurrency=_choose_concurrency(resolved, at_once), all_tasks=all_tasks
    )


def _choose_concurrency(resolved: Resolved, at_once: int | None) -> int:
    """Return how many agents run at once: as in the session that is continued, as many as are asked
    for, or no more than a block has tasks. Raises `UsageError` for blocks that are too small."""
    settings, session = resolved.settings, resolved.session
    if session is not None:
        return at_once or session.concurrency
    number, size = at_once or min(_choose_default(settings), room_at_once()), settings.block_size
    if size is None or number <= size:
        return number
    if at_once is None and (resolved.is_typed("block_size") or not settings.agents):
        return size
    if resolved.is_typed("block_size"):
        raise UsageError(
            f"--block-size {size}: {number} agents run at once, so a block has at least as many "
            "tasks; give a larger one, or lower --concurrency"
        )
    return number


def _choose_default(settings: Settings) -> int:
    """Return how many run at once where nobody says: an agent of ours needs a processor, or its
    times would include waiting."""
    usual = find_largest_swarm(settings)
    is_local = settings.agent == LOCAL_AGENT and not settings.agents
    return min(usual, os.cpu_count() or 1) if is_local else usual


def check_trials(sizes: SwarmSizes, times: int, tasks: int) -> None:
    """Refuse more trials than a session can have; `times`: how often each agent or task has one."""
    trials = (tasks if sizes.all_tasks else sizes.agents) * times
    if trials > MAX_TRIALS:
        advice = "ask fewer tasks or lower" if sizes.all_tasks else "lower --agents or"
        raise UsageError(
            f"That is {trials:,} trials, and a session has at most {MAX_TRIALS:,}; {advice} --runs"
        )
