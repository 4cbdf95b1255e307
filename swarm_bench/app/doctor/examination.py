"""Everything that `doctor` looks at, in the order in which it tells: what a comparison needs of the
machine, the repository and the agent's program, and the tools. What nobody vouches for stays."""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import psutil
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from swarm_bench.analysis.wording import quantify
from swarm_bench.app.doctor.servers import check_tools
from swarm_bench.app.setup.agents import (
    find_authentication,
    list_variable_names,
    suggest_credentials,
)
from swarm_bench.app.setup.choosing import find_largest_swarm
from swarm_bench.app.trust.approval import approve, list_unapproved, require
from swarm_bench.app.trust.demands import list_mode_demands
from swarm_bench.benchmarks.agents.finding import find_agent
from swarm_bench.benchmarks.swarm.running.packing import add_agent_needs
from swarm_bench.config import layers as options
from swarm_bench.config.compare_options import SCOPES
from swarm_bench.config.layers import Resolved, Settings
from swarm_bench.config.trust import Demand
from swarm_bench.core import entry_points
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.listing import Check, State
from swarm_bench.core.ports import Abilities, Agent, Described
from swarm_bench.core.roles.execution import Environment
from swarm_bench.core.roles.executor import Needs, find_executor_kind
from swarm_bench.core.session.designs import ENVIRONMENT, LOCAL
from swarm_bench.core.session.experiment import REHEARSAL, Mode, Program
from swarm_bench.environments.python_tests import try_out
from swarm_bench.retrieval.modes.mode import find_modes
from swarm_bench.retrieval.modes.secrets import build_mode_needs
from swarm_bench.runtime.processes.launching import descriptor_limit, needed_descriptors
from swarm_bench.runtime.workspaces.checkout import commit_of
from swarm_bench.runtime.workspaces.content import select_folder
from swarm_bench.runtime.workspaces.git import git

Tell = Callable[[Check], None]
TellStep = Callable[[str], None]


def examine(
    typed_options: Mapping[str, Any],
    config: Path | None,
    trust: bool,
    tell: Tell,
    environment: str | None,
    tell_step: TellStep,
) -> bool:
    """Tell of each check as soon as it is done, and what is looked at meanwhile. `environment` runs
    code of models. Returns whether a node lacks something. Raises `UsageError` and `ConfigError`
    for options that cannot be."""
    resolved = approve(options.load(typed_options, config=config), trust=trust, refuse=False)
    with cancelling():
        return anyio.run(_examine, resolved, tell, environment, tell_step)


async def _examine(
    resolved: Resolved, tell: Tell, environment: str | None, tell_step: TellStep
) -> bool:
    pending = list_unapproved(resolved)
    settings = drop_unapproved(resolved.settings, pending)
    lacks = settings.on != LOCAL and await _examine_nodes(
        replace(resolved, settings=settings), tell, tell_step
    )
    tell(check_python())
    tell(await check_git())
    is_named = resolved.sources["repo"] != "default"
    tell_step(f"looking at {settings.repo.resolve()}")
    tell(await check_repository(settings.repo, settings.include, is_named=is_named))
    tell_step("running a program as one that a model wrote")
    tell(await check_sandbox(environment))
    tell(check_disk(settings.workspace_root, await estimate_clone_bytes(settings.repo)))
    at_once = settings.concurrency or find_largest_swarm(settings)
    tell(check_memory(at_once, settings.agent, find_agent_memory(settings)))
    tell(check_descriptors(at_once))
    tell_step(f"asking {settings.agent} for its version")
    for check in check_agent(settings, resolved.environment):
        tell(check)
    for demand in pending:
        tell(build_unstarted_check(demand))
    async for check in check_tools(resolved, settings, create_mode_reader(resolved), tell_step):
        tell(check)
    return lacks


async def _examine_nodes(resolved: Resolved, tell: Tell, tell_step: TellStep) -> bool:
    """Tell of each node. Returns whether one lacks something. Raises `UsageError` where none can be
    reached."""
    settings = resolved.settings
    kind = find_executor_kind(settings.on)
    tell_step(f"examining the nodes of {settings.on}")
    checks = await kind.examine(await _find_needs(resolved))
    for check in checks:
        tell(check)
    return any(check.state is State.PROBLEM for check in checks)


async def _find_needs(resolved: Resolved) -> Needs:
    """Return what a node needs for a session of these options; what is wrong with a mode or with
    the agent is told among the other checks."""
    settings = resolved.settings
    at_once = settings.concurrency or find_largest_swarm(settings)
    modes, agent, path = list[Mode](), None, None
    for name in settings.modes:
        with suppress(SwarmBenchError):
            modes += create_mode_reader(resolved)(name)
    with suppress(SwarmBenchError):
        agent = find_agent(settings.agent)
        path = agent.program(settings.model).path
    abilities = agent and _find_abilities(agent)
    needs = replace(
        build_mode_needs(modes, list_variable_names(settings), resolved.environment),
        agents_at_once=at_once,
        disk_mb=(2 + at_once) * await estimate_clone_bytes(settings.repo) >> 20,
        optional_programs=("bwrap",),
        optional_keys=abilities.keys if abilities else (),
    )
    needs_no_key = settings.model == REHEARSAL or settings.inherit_settings
    return add_agent_needs(needs, agent, settings.agent, path, needs_no_key=needs_no_key)


def drop_unapproved(settings: Settings, demands: Sequence[Demand]) -> Settings:
    """Return the settings without what is asked for; other modes stay."""
    omitted = {demand.word for demand in demands if demand.option == "modes"}
    options = {demand.option for demand in demands} & SCOPES.keys()
    defaults = Settings()
    changes: dict[str, Any] = {name: getattr(defaults, name) for name in options}
    if "modes" in changes:
        changes["modes"] = [name for name in settings.modes if name not in omitted]
    return replace(settings, **changes)


def build_unstarted_check(demand: Demand) -> Check:
    """Name what was not started."""
    return Check(
        about=demand.option.replace("_", "-"),
        state=State.WARNING,
        finding=f"not started or used: {demand.sentence}",
        advice="look at it, then add --trust",
    )


def create_mode_reader(resolved: Resolved) -> Callable[[str], tuple[Mode, ...]]:
    """Return what reads a mode. It raises `UsageError` also for a mode that was changed since it
    was approved."""

    def find(name: str) -> tuple[Mode, ...]:
        modes = find_modes([name])
        require(resolved, list_mode_demands(resolved, modes))
        return modes

    return find


OLDEST_PYTHON = (3, 11)
LITTLE_DISK = 1_000_000_000
"""Bytes. A session holds a snapshot and one clone of the repository, and what its agents print."""
GIGABYTE = 1e9
BLOCK = 4096
"""Bytes of a file system that a file takes at least."""
LEAST_CLONE = 100_000
"""Bytes of git's own files."""


def check_python() -> Check:
    version = platform.python_version()
    if sys.version_info >= OLDEST_PYTHON:
        return Check(about="python", state=State.OK, finding=version)
    advice = "install swarm-bench with Python 3.11 or newer"
    return Check(about="python", state=State.PROBLEM, finding=version, advice=advice)


async def check_git() -> Check:
    try:
        version = (await git("--version", cwd=Path.cwd())).decode().strip()
    except SwarmBenchError as error:
        return Check(about="git", state=State.PROBLEM, finding=str(error))
    return Check(about="git", state=State.OK, finding=version.removeprefix("git version "))


async def check_repository(repo: Path, include: Sequence[str] = (), *, is_named: bool) -> Check:
    """Check that the repository can be copied; `is_named`: whether it was asked for, as the working
    folder may be any."""
    looking = partial(select_folder, repo.resolve(), include, is_named=is_named)
    try:
        commit = await commit_of(repo)
        if commit is None:
            await anyio.to_thread.run_sync(looking)
    except SwarmBenchError as error:
        state = State.PROBLEM if is_named else State.WARNING
        return Check(about="repository", state=state, finding=str(error))
    finding = f"{repo.resolve()}, {f'commit {commit[:12]}' if commit else 'a plain folder'}"
    return Check(about="repository", state=State.OK, finding=finding)


async def check_sandbox(name: str | None = None) -> Check:
    """Check that code of models can be run where it reaches nothing, or in the environment that was
    named."""
    subject = "code of models"
    try:
        environment: Environment = entry_points.make("environments", name or ENVIRONMENT)
        program = environment.program()
        await try_out(environment)
    except SwarmBenchError as error:
        finding, _, advice = str(error).partition("; ")
        state = State.PROBLEM if name else State.ABSENT
        return Check(about=subject, state=state, finding=finding, advice=advice or None)
    if environment.confines:
        return Check(about=subject, state=State.OK, finding=f"confined by {program.label}")
    return Check(about=subject, state=State.WARNING, finding=environment.confinement)


async def estimate_clone_bytes(repo: Path) -> int:
    """Count the bytes on the disk that one clone of the repository takes at least, in blocks of
    files; 0 for what cannot be copied."""
    try:
        if await commit_of(repo):
            listing = await git("ls-tree", "-r", "-l", "-z", "HEAD", cwd=repo)
            sizes = [line.split(maxsplit=4)[3] for line in listing.split(b"\0") if line]
            file_sizes = [int(size) for size in sizes if size != b"-"]  # a submodule has none
        else:
            names = select_folder(repo.resolve(), (), is_named=True).names
            file_sizes = [(repo / os.fsdecode(name)).lstat().st_size for name in names]
    except (SwarmBenchError, OSError):
        return 0
    return LEAST_CLONE + sum(-(-size // BLOCK) * BLOCK for size in file_sizes)


def check_disk(workspace_root: Path | None, needed: int = 0) -> Check:
    """Check that there is room for the clones; `needed`: bytes of one."""
    folder = (workspace_root or Path(tempfile.gettempdir())).expanduser().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = psutil.disk_usage(str(existing)).free
    finding = f"{free / GIGABYTE:.1f} GB free in {folder}, where the clones are made"
    if free >= max(LITTLE_DISK, needed):
        return Check(about="disk", state=State.OK, finding=finding)
    advice = "free some, or choose another folder: workspace-root in swarm-bench.toml"
    if free < needed:
        finding = f"{finding}; one of them needs {needed / 1e6:.1f} MB"
    state = State.PROBLEM if free < needed else State.WARNING
    return Check(about="disk", state=state, finding=finding, advice=advice)


def check_memory(agents: int, agent: str, megabytes: int | None) -> Check:
    """Check the memory for so many agents at once; `megabytes`: what one takes, `None` when that
    was not measured."""
    free = psutil.virtual_memory().available
    if megabytes is None:
        finding = f"{free / GIGABYTE:.1f} GB free; what an agent {agent} takes was not measured"
        return Check(about="memory", state=State.OK, finding=finding)
    needed = agents * megabytes * 1_000_000
    finding = (
        f"{free / GIGABYTE:.1f} GB free; {agents} {agent} at once take about "
        f"{needed / GIGABYTE:.1f} GB"
    )
    if needed <= free:
        return Check(about="memory", state=State.OK, finding=finding)
    advice = "give fewer --agents, or let fewer run at once with --concurrency"
    return Check(about="memory", state=State.PROBLEM, finding=finding, advice=advice)


def check_descriptors(agents: int) -> Check:
    """Check that so many agents at once can have their pipes and files."""
    limit, needed = descriptor_limit(), needed_descriptors(agents)
    verb = "needs" if agents == 1 else "need"
    finding = f"{limit} open files; {quantify(agents, 'agent')} at once {verb} about {needed}"
    if needed <= limit:
        return Check(about="open files", state=State.OK, finding=finding)
    advice = "raise the hard limit (ulimit -Hn), or let fewer run at once with --concurrency"
    return Check(about="open files", state=State.PROBLEM, finding=finding, advice=advice)


def check_agent(settings: Settings, variables: Mapping[str, str]) -> Iterator[Check]:
    """Check the agent that was asked for, and what its own searches need. `variables` are those of
    the user."""
    subject = f"agent {settings.agent}"
    try:
        agent = find_agent(settings.agent)
        program = agent.program(settings.model)
    except SwarmBenchError as error:
        yield Check(about=subject, state=State.PROBLEM, finding=str(error))
        return
    abilities = _find_abilities(agent)
    if abilities is None:
        yield Check(about=subject, state=State.OK, finding=_describe_program(program))
        return
    yield _check_program(subject, program, abilities, settings, variables)
    if needed := abilities.searches_with:
        yield _check_needed(settings.agent, needed)


def _check_needed(agent: str, program: str) -> Check:
    if path := shutil.which(program):
        return Check(about=program, state=State.OK, finding=path)
    return Check(
        about=program,
        state=State.WARNING,
        finding=f"{program} is not on the PATH",
        advice=f"install it: searches of {agent} itself fail without it",
    )


def find_agent_memory(settings: Settings) -> int | None:
    """Return the megabytes that one agent of the kind asked for takes, as measured."""
    try:
        abilities = _find_abilities(find_agent(settings.agent))
    except SwarmBenchError:
        return None
    return abilities.memory_mb if abilities else None


def _check_program(
    subject: str,
    program: Program,
    abilities: Abilities,
    settings: Settings,
    variables: Mapping[str, str],
) -> Check:
    """Check its version, and its key or login."""
    version, advice = _describe_version(program, abilities)
    entry = find_authentication(abilities, settings, variables)
    finding = f"{version}; {entry or 'no key and no login'}"
    if settings.model == REHEARSAL:
        finding = f"{version}; a rehearsal needs no key"
    elif entry is None:
        state = State.WARNING if abilities.keyless else State.PROBLEM
        advice = suggest_credentials(abilities)
        return Check(about=subject, state=state, finding=finding, advice=advice)
    return Check(
        about=subject, state=State.WARNING if advice else State.OK, finding=finding, advice=advice
    )


def _describe_version(program: Program, abilities: Abilities) -> tuple[str, str | None]:
    """Say what is installed, and what to do if our adapter was not verified with the like of it."""
    label, tested = _describe_program(program), abilities.tested_version
    if program.version == tested:
        return f"{label}, which its adapter was verified with", None
    if abilities.supported is None or _fits(program.version, abilities.supported):
        return f"{label}; its adapter was verified with {tested}", None
    return (
        f"{label} is outside of {abilities.supported}; its adapter was verified with {tested}",
        f"rehearse first and look whether tokens and calls are plausible, or install {tested}",
    )


def _fits(version: str | None, supported: str) -> bool:
    try:
        return Version(version or "") in SpecifierSet(supported)
    except InvalidVersion:
        return False


def _find_abilities(agent: Agent) -> Abilities | None:
    return agent.abilities if isinstance(agent, Described) else None


def _describe_program(program: Program) -> str:
    return (
        f"{program.version or 'version unknown'} at {program.path}"
        if program.path
        else (program.version or "version unknown")
    )
