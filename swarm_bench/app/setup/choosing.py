"""What the options name: modes, tasks and programs, and how many agents work on them. What a call
continues keeps its own."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swarm_bench.analysis.wording import quantify
from swarm_bench.app.notices import LOCAL_AGENT
from swarm_bench.app.setup.agents import read_agent_environment
from swarm_bench.app.trust.approval import identify_program, require
from swarm_bench.app.trust.demands import list_mode_demands, list_suite_demands
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS, load_metrics
from swarm_bench.config.compare_options import REPOSITORY
from swarm_bench.config.layers import Resolved, Settings
from swarm_bench.config.shipped import MODES
from swarm_bench.core import entry_points
from swarm_bench.core.errors import Problems, UsageError, choice
from swarm_bench.core.metric import Better, Metrics
from swarm_bench.core.ports import Agent, Probe
from swarm_bench.core.session.base import MAX_TRIALS
from swarm_bench.core.session.designs import LOCAL, Design
from swarm_bench.core.session.experiment import Experiment, Mode, Program
from swarm_bench.core.session.prices import Prices
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.datasets.suites import Suite, check_keys, find_suite
from swarm_bench.models.own_prices import read_prices
from swarm_bench.retrieval.canopy.backends import SERVICE, find_program
from swarm_bench.retrieval.modes.mode import add_secrets, find_modes, has_changed, make_mode_name
from swarm_bench.retrieval.modes.secrets import refuse_keys
from swarm_bench.retrieval.placebo.arm import add_controls
from swarm_bench.retrieval.probes.registered import SHIPPED, load_probes
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.processes.launching import room_at_once

AT_ONCE = 4
"""Default number of agents that run at the same time."""


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
    """Return how many run at once by default: an agent of ours needs a processor, or its times
    would include waiting."""
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


COPY_SUFFIX = "-again"
"""Suffix of the copy that a calibration compares a mode with."""
INSTEAD = "exploration"
"""The suite that is asked where a repository gives no tasks."""


@dataclass(frozen=True, kw_only=True)
class SessionInputs:
    """Objects that the options name: modes, tasks, agent, programs, prices."""

    design: Design
    modes: tuple[Mode, ...]
    suite: Suite
    agent: Agent
    program: Program
    probes: Mapping[str, Probe]
    sizes: SwarmSizes
    prices: Prices
    agent_env: Mapping[str, str] = field(repr=False)
    """Variables that the user gives the agents."""


def read_inputs(resolved: Resolved, design: Design, agent: Agent, *, starts: bool) -> SessionInputs:
    """Read what the options name; for tasks that are yet to be made from the repository those that
    are asked without them. Without `starts` it is only to be looked at.

    Raises `UsageError` and `ConfigError`, in a group for several.
    """
    settings, session = resolved.settings, resolved.session
    problems = Problems()
    with problems.collected():
        modes = read_modes(resolved, session)
    with problems.collected():
        suite = _read_suite(resolved, session)
    with problems.collected():
        _check_metrics(settings, starts=starts)
    with problems.collected():
        prices = read_session_prices(resolved)
    problems.check()
    if starts:
        require(
            resolved, [*list_mode_demands(resolved, modes), *list_suite_demands(resolved, suite)]
        )
    all_modes = [*modes, *(session.modes if session else ())]
    if design.mode_twice:
        modes = _copy_mode(modes)
    elif settings.controls:
        modes = add_controls(modes, settings.controls)
    sizes = resolve_sizes(resolved, design, len(suite.tasks))
    inputs = SessionInputs(
        design=design,
        modes=modes,
        suite=suite,
        agent=agent,
        program=identify_program(agent, resolved),
        probes=load_probes(all_modes) if starts else SHIPPED,
        sizes=sizes,
        prices=prices,
        agent_env=read_agent_environment(settings),
    )
    check_trials(sizes, len(modes) * settings.runs, len(suite.tasks))
    return inputs


def _check_metrics(settings: Settings, *, starts: bool) -> None:
    """Refuse metrics that no verdict can be on; a plan loads none of a package, and any name can
    be that of one. Raises `UsageError`."""
    keys = filter(None, (settings.primary, settings.quality))
    if starts or not entry_points.list_plugins("metrics") or all(key in METRICS for key in keys):
        check_verdict(vars(settings), load_metrics() if starts else METRICS)


def check_verdict(settings: Mapping[str, Any], metrics: Metrics) -> None:
    """Refuse metrics that no verdict can be on; a setting that is missing is not looked at. Raises
    `UsageError`."""
    readable = [metric for metric in metrics if metric.read]
    costs = [m.key for m in readable if m.relative and m.better is Better.LOWER and not m.keyed]
    shares = [m.key for m in readable if m.better is Better.HIGHER and m.is_share]
    _check_metric("primary", settings, costs, "of which less is better")
    _check_metric("quality", settings, shares, "from 0 to 1 of which more is better")


def _check_metric(name: str, settings: Mapping[str, Any], fit: Sequence[str], kind: str) -> None:
    key = settings.get(name)
    if key is not None and key not in fit:
        raise UsageError(f"--{name} {key}: a verdict is on a metric {kind}; {choice(key, fit)}")


def find_programs(settings: Settings) -> dict[str, Path]:
    """Return the canopy programs of a call, by name."""
    return {
        "canopy-mcp": find_program("canopy-mcp", settings.canopy_mcp),
        SERVICE: find_program(SERVICE, settings.canopy_service),
    }


def build_tools(resolved: Resolved, settings: Settings, work: Path) -> Tools:
    """Return what the modes of a call are started with."""
    return Tools(
        work=work,
        programs=find_programs(settings),
        user_environment=resolved.environment,
        agent_env=read_agent_environment(settings),
        dotenv=resolved.dotenv,
        service_url=settings.service_url,
        inherit_settings=settings.inherit_settings,
        index_timeout=settings.index_timeout,
    )


def read_session_prices(resolved: Resolved) -> Prices:
    """Read the prices of a call. A session that is continued keeps its own, and so do those of a
    series. Raises `ConfigError`."""
    previous = resolved.session or (resolved.member and resolved.member.like)
    return {**read_prices(), **((previous and previous.prices) or {})}


def _read_suite(resolved: Resolved, session: Experiment | None) -> Suite:
    if session is None or resolved.is_typed("tasks"):
        return check_keys(
            find_named_suite(resolved.settings.tasks), session.tasks if session else ()
        )
    return build_stored_suite(session)


def find_named_suite(name: str) -> Suite:
    """Find a suite; for tasks that are yet to be made the one that is asked without them."""
    return find_suite(INSTEAD if name == REPOSITORY else name)


def build_stored_suite(session: Experiment) -> Suite:
    """Return the tasks that a session holds."""
    return Suite(
        name=session.suite,
        source=session.suite,
        description="",
        answer_format=session.answer_format,
        made=session.made,
        since=session.since,
        scorers=session.scorers,
        tasks=session.tasks,
    )


def read_modes(resolved: Resolved, session: AnyExperiment | None) -> tuple[Mode, ...]:
    """Read the modes that the session does not hold; its own stay as they were.

    Raises `UsageError` for a file that changed, or has the name of another, and for one with a key
    that other machines would need.
    """
    modes = _read_modes(resolved, session)
    if resolved.settings.on != LOCAL:
        refuse_keys(modes)
    return modes


def _read_modes(resolved: Resolved, session: AnyExperiment | None) -> tuple[Mode, ...]:
    if session is None:
        return tuple(find_modes(resolved.settings.modes))
    names = _list_sources(resolved, session)
    stored_modes = {mode.name: add_secrets(mode) for mode in session.modes}
    for name in names:
        if MODES.is_path(name) and (mode := stored_modes.get(make_mode_name(Path(name)))):
            _check_same_file(name, mode)
    return (
        *stored_modes.values(),
        *find_modes([n for n in names if make_mode_name(Path(n)) not in stored_modes]),
    )


def _list_sources(resolved: Resolved, session: AnyExperiment) -> Sequence[str]:
    """Return where the modes are read from. An older session has its paths as they were typed, in
    another folder maybe: what it took over is where it read them."""
    names = resolved.settings.modes
    if resolved.sources["modes"] != "session":
        return names
    sources = {mode.name: mode.source for mode in session.modes}
    return [
        sources.get(make_mode_name(Path(name)), name) if MODES.is_path(name) else name
        for name in names
    ]


def _check_same_file(name: str, mode: Mode) -> None:
    if Path(name).expanduser().resolve() != Path(mode.source).resolve():
        raise UsageError(
            f"{name} and {mode.source} of the session are both called {mode.name!r}; "
            "rename the new file"
        )
    if Path(name).is_file() and has_changed(mode):
        raise UsageError(
            f"{mode.source} has changed since the session began, which keeps its own copy; "
            "restore the file, or start a new session"
        )


def _copy_mode(modes: Sequence[Mode]) -> tuple[Mode, Mode]:
    """Return the mode that a calibration compares with itself, and its copy under another name. A
    session that is continued has both already."""
    first = modes[0]
    copy = first.model_copy(update={"name": first.name + COPY_SUFFIX})
    if {mode.name for mode in modes} - {first.name, copy.name}:
        raise UsageError(
            f"calibrate compares one mode with itself, and not {', '.join(m.name for m in modes)}; "
            "give one with --mode, and start a new session for another"
        )
    return first, (modes[1] if len(modes) > 1 else copy)
