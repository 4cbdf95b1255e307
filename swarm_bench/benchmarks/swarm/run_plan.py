"""Which swarms run, and in which order; how the agents of a run are dealt into blocks; and what of
a session that is continued may grow, and what must stay as it was."""

import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter

from swarm_bench.config.compare_options import SCOPES
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.base import Group, Trial, stable_id
from swarm_bench.core.session.experiment import (
    Experiment,
    Mode,
    Program,
    Repository,
    Setting,
    Task,
    cut,
)
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.core.treatment.mode_parts import Purpose
from swarm_bench.engine.continuing import check_kept, check_runs, check_same, check_slice_kept
from swarm_bench.engine.plan import (
    Block,
    check_slice,
    draw_order,
    iterate_groups,
    plan_blocks,
    select_slice,
)
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
    whole_plan = _plan(experiment.order, times, blocks, experiment.tasks)
    return select_slice(whole_plan, experiment.slice)


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
    """Return what was run of a session that may end at every look: up to the last block that
    was looked at, or with one of the agents that have `started`."""
    if not experiment.until_clear:
        return experiment
    blocks = experiment.agents_of_blocks
    run = [number for number, block in enumerate(blocks, 1) if not started.isdisjoint(block)]
    return experiment.first_blocks(max([1, *run, *(look.blocks for look in experiment.looks)]))


def count_planned(experiment: Experiment) -> dict[str, int]:
    """Count the trials of each mode, in the order of the modes."""
    if experiment.slice is None:  # a large plan takes a while to make
        return dict.fromkeys(experiment.arms, experiment.runs * experiment.trials_per_mode)
    counts = dict.fromkeys(experiment.arms, 0)
    for swarm in iterate_groups(plan(experiment)):
        counts[swarm.arm] += len(swarm.trials)
    return counts


TASKS = 6
"""Approximate number of tasks of a block, by default."""


def deal_blocks(experiment: Experiment, max_size: int | None, least: float = 0.0) -> Experiment:
    """Deal the agents of a new session into blocks: of `most` tasks, where a size was set, and
    of `least` or more, where that leaves two of a run."""
    blocks = tuple(_deal(experiment, experiment.agents_by_commit.values(), max_size, least))
    number = experiment.runs * len(blocks)
    check_slice(experiment.slice, number, "a block")
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
    grown = new.model_copy(update={"blocks": blocks, "order": order})
    check_slice_kept(old, grown)
    return grown


def _deal(
    experiment: Experiment, of_commits: Iterable[Sequence[int]], max_size: int | None, least: float
) -> Iterator[tuple[int, ...]]:
    """Yield blocks of one commit each. A swarm whose size was set by the user is a block."""
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


def extend(old: Experiment, new: Experiment, recorded_ids: Collection[str | None]) -> Experiment:
    """Extend the experiment `old` by the runs, tasks and modes that only `new` has.

    `recorded` are the ids of trials with a record, `None` where one has none. Raises `UsageError`
    for any other difference.
    """
    _check_same(old, new)
    old_modes = {mode.name for mode in old.modes}
    new_modes = {mode.name: mode for mode in new.modes}  # with the secrets that are not stored
    modes = (
        *(new_modes.get(mode.name, mode) for mode in old.modes),
        *(mode for mode in new.modes if mode.name not in old_modes),
    )
    grown = old.model_copy(
        update={
            "agent": new.agent,  # its version is that of the trials to come
            "counters": {**old.counters, **new.counters},
            "limits": new.limits,
            "min_connected": new.min_connected,  # it is about the summary only
            "modes": modes,
            "prices": new.prices,  # with those of `old`, and models that it did not have
            "repository": continue_repository(
                old.repository, new.repository, any_recorded=bool(recorded_ids)
            ),
            "runs": new.runs,
            "service_url": new.service_url,
            "settings": merge_settings(old, new),
            "suite": _name_suite(old, new),
            "tasks": _merge_tasks(old, new),
        }
    )
    size = new.settings.get("block_size")
    grown = extend_blocks(old, grown, size.value if size else None)
    if not old.all_tasks and len(grown.tasks) > len(old.tasks):
        raise UsageError(
            "A session whose tasks go round among its agents cannot be given more tasks; "
            "start a new one, without --agents if tasks are to be added later"
        )
    _check_records(grown, recorded_ids)
    return grown


def check_options(old: Mapping[str, Setting], new: Mapping[str, Setting]) -> None:
    """Raise `UsageError` for options on the agents that differ from those of the session, or for
    fewer runs: before anything is asked or copied."""
    for name in (name for name in SCOPES if new[name].source == "command line"):
        if name in old:
            check_kept(name, SCOPES[name], old[name].value, new[name].value)
        elif name == "until_clear":
            check_same(name, False, new[name].value)
        elif name == "block_size":
            raise UsageError(
                "--block-size: the session began when a run was one block, and its runs stay so; "
                "omit it, or start a new session"
            )
    if "runs" in old:
        check_runs(old["runs"].value, new["runs"].value)
    if "agents" in old and not old["agents"].value:
        check_same("agents", [], new["agents"].value)


def add_back_ends(
    experiment: Experiment,
    back_ends: Mapping[str, Program],
    purposes: Mapping[str, Mapping[str, Purpose | None]],
) -> Experiment:
    """Add the tools that answer in the modes now, and what they are for. What is stored already
    stays, so that equal trials have equal labels. Raises `UsageError` when a mode has another tool
    than before."""
    check_back_ends(experiment.retrieval, back_ends)
    by_mode = {**purposes, **experiment.tool_purposes}
    return experiment.model_copy(
        update={
            "retrieval": {**back_ends, **experiment.retrieval},
            "tool_purposes": {mode: dict(tools) for mode, tools in by_mode.items()},
        }
    )


def check_back_ends(old_programs: Mapping[str, Program], back_ends: Mapping[str, Program]) -> None:
    """Raise `UsageError` when a mode has another tool than is stored."""
    for mode, now in back_ends.items():
        previous = old_programs.get(mode, now)
        if now.label != previous.label:
            raise UsageError(
                f"{mode} ran with {previous.label} when the session began, and now there is "
                f"{now.label}; bring the old one back, or start a new session"
            )


def _check_same(old: Experiment, new: Experiment) -> None:
    for name, scope in SCOPES.items():
        if scope.decides:
            decided = attrgetter(scope.decides)
            check_same(name, decided(old), decided(new))
    if new.agent.name != old.agent.name:
        raise UsageError(
            f"The agent was {old.agent.name!r} when the session began and is {new.agent.name!r} "
            "now; restore it, or start a new session"
        )
    check_content(old, new)
    check_runs(old.runs, new.runs)
    if new.answer_format != old.answer_format:
        raise UsageError(
            "The task file asks for another answer_format than when the session began; "
            "put the old one back, or start a new session"
        )


def check_content(old: AnyExperiment, new: AnyExperiment) -> None:
    """Raise `UsageError` when the repository has changed, and a task is asked on it as it was."""
    if new.repository.tree != old.repository.tree and needs_own_copy(old, new):
        same = new.repository.path == old.repository.path
        raise UsageError(
            f"{new.repository.path} is not as {'it' if same else old.repository.path} was when "
            f"the session began; {bring_back(old.repository)}, or start a new session"
        )


def needs_own_copy(*experiments: AnyExperiment) -> bool:
    """Tell whether a task is asked on what the repository was when its session began; otherwise it
    does not matter how that has changed."""
    return any(task.commit is None for session in experiments for task in session.tasks)


def bring_back(repository: Repository) -> str:
    """Say how to bring the repository back to what it was."""
    if repository.commit is None:
        return "restore its content"
    commit = f"check out {repository.commit[:12]} again"
    return f"{commit}, with the same uncommitted changes" if repository.dirty else commit


def continue_repository(old: Repository, new: Repository, *, any_recorded: bool) -> Repository:
    """Return the repository as the session had it, with what clones do not have from now on.
    Where files with answer keys were not looked for before, its trials had them."""
    answers = tuple(dict.fromkeys((*(old.answers or ()), *(new.answers or ()))))
    had_them = old.answers is None and any_recorded and bool(new.answers)
    update = {
        "answers": answers,
        "answers_since": datetime.now(UTC) if had_them else old.answers_since,
        "left_out": tuple(dict.fromkeys((*old.left_out, *new.left_out))),
    }
    return old.model_copy(update=update)


def _merge_tasks(old: Experiment, new: Experiment) -> tuple[Task, ...]:
    old_questions = {task.id: (task.prompt, task.commit) for task in old.tasks}
    for task in new.tasks:
        if task.id in old_questions and old_questions[task.id] != (task.prompt, task.commit):
            raise UsageError(
                f"The task {task.id!r} asks something else, or on another commit, than when the "
                "session began; give the new question a new id"
            )
    return (*old.tasks, *(task for task in new.tasks if task.id not in old_questions))


def merge_settings(old: AnyExperiment, new: AnyExperiment) -> dict[str, Setting]:
    """Merge the settings: one taken over from the session keeps its first source."""
    return {
        name: old.settings.get(name, setting) if setting.source == "session" else setting
        for name, setting in new.settings.items()
    }


def _name_suite(old: Experiment, new: Experiment) -> str:
    has_more = len(_merge_tasks(old, new)) > len(old.tasks)
    return f"{old.suite}, {new.suite}" if has_more and new.suite != old.suite else old.suite


def _check_records(grown: Experiment, recorded_ids: Collection[str | None]) -> None:
    planned = {
        trial.id for block in plan(grown) for swarm in block.groups for trial in swarm.trials
    }
    if not planned.issuperset(filter(None, recorded_ids)):
        raise UsageError(
            "The session has records of trials that are not in its plan; "
            "start a new session, or restore its experiment.json"
        )


def build_prompt(experiment: Experiment, mode: Mode, task: Task) -> str:
    """Join the mode's instructions, the task, and what the answer should look like."""
    parts = (mode.instructions, task.prompt, experiment.answer_format)
    return "\n\n".join(part for part in parts if part)
