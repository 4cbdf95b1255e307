"""Asks the tools of the modes before anything is spent: every server is greeted in a clone of the
repository, and a service is started once. What would fail in every trial is refused here."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import anyio

from swarm_bench.core.errors import ConfigError, IndexFailed, Problems, ServiceFailed, UsageError
from swarm_bench.core.events import Emit, Preparing, WarningRaised
from swarm_bench.core.session.experiment import Mode, Program
from swarm_bench.retrieval.canopy.backends import SERVICE, embedded_label, is_embedded
from swarm_bench.retrieval.canopy.exercise import FILES, make_repository
from swarm_bench.retrieval.canopy.service import hide_log
from swarm_bench.retrieval.handshake import TAG_BEGIN, Handshake, Handshakes, greet
from swarm_bench.retrieval.modes.mode import check_filling, has_placeholder, render_servers
from swarm_bench.retrieval.opened_mode import MOST_PATHS, OpenedMode, open_service
from swarm_bench.retrieval.preparing import prepare, read_version
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.files import remove
from swarm_bench.runtime.sink import clean_value
from swarm_bench.runtime.workspaces.workspace import Snapshot, clone

OMIT = "omit the mode from --modes"


async def check_mode_tools(
    tools: Tools, modes: Sequence[Mode], snapshot: Snapshot, emit: Emit
) -> Handshakes:
    """Greet all servers of the modes.

    Raises `UsageError` for a mode that cannot be used, with what it said; a group for several.
    """
    with_tool = [mode for mode in modes if mode.servers or mode.services]
    if not with_tool:
        return {}
    unset = Problems()
    for mode in with_tool:
        with unset.collected():
            check_filling(mode, tools.variables)
    unset.check()
    emit(Preparing(step=f"asking the servers of {', '.join(mode.name for mode in with_tool)}"))
    failures: list[ServiceFailed] = []
    try:
        async with anyio.create_task_group() as group:
            if tools.service_url is None and any(mode.services for mode in with_tool):
                group.start_soon(_try_service, tools, failures)
            handshakes = await greet_all(tools, with_tool, snapshot)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    problems = [
        problem
        for mode in with_tool
        for problem in _find_problems(tools, mode, handshakes, failures)
    ]
    if len(problems) > 1:
        raise ExceptionGroup("several modes cannot be used", problems)
    if problems:
        raise problems[0]
    for mode in with_tool:
        for answer in handshakes[mode.name].values():
            if answer.warning is not None:
                emit(WarningRaised(message=f"{mode.name}: of {answer.server}, {answer.warning}"))
    return handshakes


def _find_problems(
    tools: Tools, mode: Mode, handshakes: Handshakes, failures: Sequence[ServiceFailed]
) -> Iterator[UsageError]:
    """Yield why the mode cannot be used; the names of tools only where every server answered."""
    if failures and mode.services:
        yield UsageError(
            f"The mode {mode.name} cannot run: {failures[0]}; fix the service, or {OMIT}"
        )
    answers = handshakes[mode.name]
    broken = (handshake for handshake in answers.values() if handshake.problem is not None)
    failed = [_build_start_error(tools, mode, handshake) for handshake in broken]
    yield from failed
    if mode.servers and not failed and not any(handshake.tools for handshake in answers.values()):
        yield ConfigError(
            f"The mode {mode.name} offers no tool: its servers answered, and have none; "
            f"fix {mode.source}, or {OMIT}"
        )
    elif not failed:
        yield from _find_unknown_tools(mode, answers, tools.collect_secrets(mode))


async def _try_service(tools: Tools, failures: list[ServiceFailed]) -> None:
    log = tools.work / "service.log"
    try:
        async with open_service(tools, log):
            pass
    except ServiceFailed as error:
        failures.append(ServiceFailed(hide_log(error, log)))


def _build_start_error(tools: Tools, mode: Mode, handshake: Handshake) -> ConfigError:
    return ConfigError(
        f"The MCP server {handshake.server!r} of the mode {mode.name} does not start: "
        f"{handshake.problem}; fix {tools.name_fix(mode)}, or {OMIT}"
    )


def _find_unknown_tools(
    mode: Mode, handshakes: Mapping[str, Handshake], secrets: Collection[str]
) -> Iterator[ConfigError]:
    """Yield calls that none of the mode's servers offers, before they fail in every swarm."""
    named_tools = {
        "prepare": mode.prepare.tool if mode.prepare else "",
        "warm_up": mode.warm_up.tool if mode.warm_up else "",
        "search": mode.search.tool if mode.search else "",
    }
    offered_tools = sorted(
        {tool.name for handshake in handshakes.values() for tool in handshake.tools}
    )
    for key, tool in clean_value(named_tools, secrets).items():  # as those that are offered
        if tool and tool not in offered_tools:
            yield ConfigError(
                f"The mode {mode.name} names the tool {tool!r} under {key!r}, and its servers "
                f"offer {', '.join(offered_tools)}; fix {mode.source}"
            )


def name_back_ends(
    tools: Tools, modes: Sequence[Mode], handshakes: Handshakes
) -> dict[str, Program]:
    """Name who answers in each mode whose servers were greeted."""
    back_ends = {}
    for mode in modes:
        greeted = handshakes.get(mode.name, {}).values()
        programs = [handshake.program for handshake in greeted]
        if programs:
            label = ", ".join(program.label for program in programs)
            program = programs[0] if len(programs) == 1 else Program(name=label)
            notes = [
                f"of {handshake.server}, {handshake.warning}"
                for handshake in greeted
                if handshake.warning is not None
            ]
            update = {"note": "; ".join(notes) or None}
            back_ends[mode.name] = _add_service(program, mode, tools).model_copy(update=update)
    return back_ends


def _add_service(client: Program, mode: Mode, tools: Tools) -> Program:
    """Name the back end of a mode: the MCP server, and the service it asks unless both are ours."""
    if not (mode.services and has_placeholder(mode, "canopy_mcp")):
        return client
    if tools.service_url is not None:
        return Program(name=f"{client.label} with the service at --service-url", path=client.path)
    service = tools.programs[SERVICE]
    if is_embedded(service) and is_embedded(tools.programs["canopy-mcp"]):
        return client
    name = embedded_label() if is_embedded(service) else str(service)
    return Program(name=f"{client.label} with {name}", path=client.path)


async def greet_all(
    tools: Tools, modes: Sequence[Mode], snapshot: Snapshot
) -> dict[str, dict[str, Handshake]]:
    """Greet the servers of all modes at the same time. Each mode has a clone of the repository, so
    that what appears there is its own; those that may not start without what prepares them have a
    small repository, where that takes no time. Raises `UsageError` for what cannot be prepared."""
    handshakes: dict[str, dict[str, Handshake]] = {}
    modes_by_key: dict[str, list[Mode]] = {}
    for mode in modes:
        modes_by_key.setdefault(_build_key(mode), []).append(mode)

    async def ask(number: int, group_: list[Mode]) -> None:
        folder = tools.work / TAG_BEGIN / str(number)
        if needs_preparation(group_[0]):
            handshakes.update(await _greet_prepared(tools, group_, folder / "repository"))
        else:
            name = Path(snapshot.repository.path).name or "repository"
            async with clone(snapshot, folder / name, keep=None) as workspace:
                handshakes.update(await greet_modes(tools, group_, workspace))

    try:
        async with anyio.create_task_group() as group:
            for number, same in enumerate(modes_by_key.values(), start=1):
                group.start_soon(ask, number, same)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return handshakes


def _build_key(mode: Mode) -> str:
    """Return what is the same for modes that are greeted together."""
    name = mode.name if mode.keep else ""
    keys = {"servers", "services", "prepare", "start_seconds", "teardown", "version", "may_create"}
    return json.dumps([name, mode.model_dump(include=keys)], sort_keys=True)


async def _greet_prepared(
    tools: Tools, modes: Sequence[Mode], folder: Path
) -> dict[str, dict[str, Handshake]]:
    first, *_ = modes
    try:
        handshakes = await greet_alone(tools, first, folder)
    except IndexFailed as error:
        raise UsageError(
            f"The mode {first.name} cannot be prepared, tried in {FILES} files: {error}"
        ) from error
    return {mode.name: handshakes for mode in modes}


def needs_preparation(mode: Mode) -> bool:
    """Tell whether its servers may not start in a repository as it is."""
    step = mode.prepare
    return step is not None and step.when == "always" and not mode.services


async def greet_alone(tools: Tools, mode: Mode, folder: Path) -> dict[str, Handshake]:
    """Greet its servers in a repository of ten files that is made in `folder` for a moment.
    Raises `IndexFailed`."""
    folder.mkdir(parents=True)
    try:
        await make_repository(folder)
        return (await greet_modes(tools, [mode], folder))[mode.name]
    finally:
        remove(folder)


async def greet_modes(
    tools: Tools, modes: Sequence[Mode], workspace: Path
) -> dict[str, dict[str, Handshake]]:
    """Greet the servers of modes that are alike in `workspace`, which is prepared first if they
    need it; one that fails says so in its handshake. What they say is without secrets. Raises
    `IndexFailed` and `ConfigError`."""
    mode, *_ = modes
    for member in modes:
        check_filling(member, tools.variables)
    secrets = set(tools.collect_secrets(*modes))
    home, tag = f"home-{uuid4().hex[:8]}", f"{TAG_BEGIN}-prepare-{uuid4().hex}"
    async with OpenedMode(tools, mode, workspace, home=home, tag=tag) as opened_mode:
        await opened_mode.record_files()
        site = opened_mode.site
        if needs_preparation(mode):
            await prepare(site)
        handshakes = await greet(
            {mode.name: site.servers},
            templates={mode.name: render_servers(mode, site.values, None)},
            cwd=workspace,
            env=tools.env,
            secrets=secrets,
            seconds=mode.start_seconds,
        )
        answers = handshakes[mode.name]
        if mode.version and answers:
            answers = _add_version(answers, await read_version(site))
        change = await opened_mode.find_changes()
    unexpected = clean_value(change.list_unexpected(mode.may_create)[:MOST_PATHS], secrets)
    answers = {
        name: replace(handshake, unexpected=unexpected) for name, handshake in answers.items()
    }
    return {member.name: answers for member in modes}


def _add_version(handshakes: Mapping[str, Handshake], number: str | None) -> dict[str, Handshake]:
    """Add the version of the mode's tool, which is the first of its servers."""
    (name, first), *remaining = handshakes.items()
    program = first.program.model_copy(update={"version": number})
    return {name: replace(first, program=program), **dict(remaining)}
