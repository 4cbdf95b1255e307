"""Asks the tools of the modes before anything is spent: every server is greeted in a clone of the
repository, and a service is started once. What would fail in every trial is refused here."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import anyio

from swarm_bench.core.errors import ConfigError, IndexFailed, ServiceFailed, UsageError
from swarm_bench.core.events import Emit, Preparing
from swarm_bench.core.experiment import START_SECONDS, Mode, Program
from swarm_bench.engine.preparing import Site, prepare, tear_down, version
from swarm_bench.engine.secrets import secrets
from swarm_bench.retrieval.backends import is_embedded
from swarm_bench.retrieval.canopy_service import started_service
from swarm_bench.retrieval.embedded.settings import title
from swarm_bench.retrieval.greeting import TAG_BEGIN, Greeting, Greetings, greet
from swarm_bench.retrieval.modes import check_filling, render_servers, uses
from swarm_bench.retrieval.service_exercise import FILES, make_repository
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.files import remove
from swarm_bench.runtime.homes import Homes
from swarm_bench.runtime.process import Command
from swarm_bench.runtime.workspace import Snapshot, clone

NOBODY = "http://127.0.0.1:9"
"""Where no service is: a server is to say what it offers without asking for one."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What it takes to ask."""

    programs: Mapping[str, Path]
    user_environment: Mapping[str, str]
    agent_env: Mapping[str, str]
    """Variables that the user gives the agents, and an agent hands on to its servers."""
    service_url: str | None
    """Of a service that somebody else runs; it is not started then."""
    homes: Homes
    """Of the servers, while they are asked."""
    index_timeout: float = 600.0
    """Seconds that a preparation may take."""

    @property
    def env(self) -> dict[str, str]:
        """The environment of the servers."""
        return {**small_environment(self.user_environment), **self.agent_env}

    @property
    def variables(self) -> dict[str, str]:
        """What mode files may name."""
        return {**self.user_environment, **self.agent_env}

    def secrets(self, mode: Mode) -> tuple[str, ...]:
        """What nobody may read of what the mode's servers say."""
        return secrets({}, self.agent_env, mode, self.variables)

    def values(self, workspace: Path) -> dict[str, str]:
        """Of the placeholders."""
        return {
            "workspace": str(workspace),
            "service_url": self.service_url or NOBODY,
            "canopy_mcp": str(self.programs["canopy-mcp"]),
        }

    def site(self, mode: Mode, workspace: Path, home: Mapping[str, str]) -> Site:
        """Where the mode's tool is made ready before it is greeted."""
        return Site(
            mode=mode,
            workspace=workspace,
            env=self.env,
            home=home,
            values=self.values(workspace),
            variables=self.variables,
            secrets=self.secrets(mode),
            tag=f"{TAG_BEGIN}-prepare-{uuid4().hex}",
            timeout=self.index_timeout,
        )

    def service_command(self, cwd: Path, home: Mapping[str, str]) -> Command:
        """Starts a service that no agent will ask; `home` are variables that lead into its own."""
        return Command(
            argv=(str(self.programs["canopy-service"]),),
            cwd=cwd,
            env={**small_environment(self.user_environment), **home},
            tag=f"{TAG_BEGIN}-service-{uuid4().hex}",
        )


async def ask_tools(
    asking: Asking, modes: Sequence[Mode], snapshot: Snapshot, emit: Emit
) -> Greetings:
    """The greetings of all servers of the modes. Raises `UsageError` for the first tool that cannot
    be used, with what it said."""
    with_tool = [mode for mode in modes if mode.servers or mode.services]
    if not with_tool:
        return {}
    emit(Preparing(step=f"asking the servers of {', '.join(mode.name for mode in with_tool)}"))
    trouble: list[ServiceFailed] = []
    try:
        async with anyio.create_task_group() as group:
            if asking.service_url is None and any(mode.services for mode in with_tool):
                group.start_soon(_try_service, asking, trouble)
            greetings = await _greet_all(asking, with_tool, snapshot)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    for mode in with_tool:
        if trouble and mode.services:
            raise UsageError(
                f"The mode {mode.name} cannot run: {trouble[0]}; mend the service, or leave the "
                "mode away with --modes"
            ) from trouble[0]
        for greeting in greetings[mode.name].values():
            _check(mode, greeting)
        if mode.servers and not any(one.tools for one in greetings[mode.name].values()):
            raise ConfigError(
                f"The mode {mode.name} offers no tool: its servers answered, and have none; "
                f"mend {mode.source}, or leave the mode away with --modes"
            )
    return greetings


async def _greet_all(
    asking: Asking, modes: Sequence[Mode], snapshot: Snapshot
) -> dict[str, dict[str, Greeting]]:
    """In a clone of the repository; those that may not start without what prepares them, in a small
    one where that takes no time. Raises `UsageError` for what cannot be prepared."""
    work = asking.homes.work / TAG_BEGIN
    plain = [mode for mode in modes if not needs_preparation(mode)]
    found: dict[str, dict[str, Greeting]] = {}
    if plain:
        place = work / (Path(snapshot.repository.path).name or "repository")
        async with clone(snapshot, place, keep=None) as workspace:
            found = await greet_modes(asking, plain, workspace)
    for mode in filter(needs_preparation, modes):
        try:
            found[mode.name] = await greet_alone(asking, mode, work / "small")
        except IndexFailed as error:
            raise UsageError(
                f"The mode {mode.name} cannot be prepared, tried in {FILES} files: {error}"
            ) from error
    return found


def needs_preparation(mode: Mode) -> bool:
    """Whether its servers may not start in a repository as it is."""
    step = mode.prepare
    return step is not None and step.when == "always" and not mode.services


async def greet_alone(asking: Asking, mode: Mode, place: Path) -> dict[str, Greeting]:
    """Its servers, greeted in a repository of ten files that is made at `place` for a moment.
    Raises `IndexFailed`."""
    place.mkdir(parents=True)
    try:
        await make_repository(place)
        return (await greet_modes(asking, [mode], place))[mode.name]
    finally:
        remove(place)


async def greet_modes(
    asking: Asking, modes: Sequence[Mode], workspace: Path
) -> dict[str, dict[str, Greeting]]:
    """All servers of the modes, greeted in `workspace`, which is prepared first for those that need
    it; one that fails says so in its greeting. Their problems and programs are without secrets.
    Raises `IndexFailed` and `ConfigError`."""
    values = asking.values(workspace)
    written = {mode.name: render_servers(mode, values, None) for mode in modes}
    hidden = {one for mode in modes for one in asking.secrets(mode)}
    seconds = max((mode.start_seconds for mode in modes), default=START_SECONDS)
    async with AsyncExitStack() as stack:
        homes: dict[str, Mapping[str, str]] = {}
        sites: dict[str, Site] = {}
        for mode in modes:
            check_filling(mode, asking.variables)
            # Modes with the same servers have them greeted once, in one home.
            key = json.dumps([written[mode.name], mode.name if mode.keep else ""], sort_keys=True)
            if key not in homes:
                home = asking.homes.opened(f"home-{len(homes)}", keep=mode.keep, of=mode.name)
                homes[key] = await stack.enter_async_context(home)
            sites[mode.name] = site = asking.site(mode, workspace, homes[key])
            if needs_preparation(mode):
                stack.push_async_callback(tear_down, site)
                await prepare(site)
        servers = {name: site.servers for name, site in sites.items()}
        found = await greet(
            servers, written=written, cwd=workspace, env=asking.env, secrets=hidden, seconds=seconds
        )
        for name, site in sites.items():
            if site.mode.version and found[name]:
                found[name] = _with_version(found[name], await version(site))
        return found


def _with_version(greetings: Mapping[str, Greeting], number: str | None) -> dict[str, Greeting]:
    """Of several servers the first is the mode's tool."""
    (name, first), *others = greetings.items()
    program = first.program.model_copy(update={"version": number})
    return {name: replace(first, program=program), **dict(others)}


async def _try_service(asking: Asking, trouble: list[ServiceFailed]) -> None:
    work = asking.homes.work
    log = work / "service.log"
    try:
        async with (
            asking.homes.opened("home-service") as home,
            started_service(asking.service_command(work, home), log=log),
        ):
            pass
    except ServiceFailed as error:
        # The log goes away with the folder.
        trouble.append(ServiceFailed(str(error).replace(f"its log {log}", "its log")))


def _check(mode: Mode, greeting: Greeting) -> None:
    if greeting.problem is None:
        return
    raise ConfigError(
        f"The MCP server {greeting.server!r} of the mode {mode.name} does not start: "
        f"{greeting.problem}; mend {mode.source}, or leave the mode away with --modes"
    )


def back_ends(asking: Asking, modes: Sequence[Mode], greetings: Greetings) -> dict[str, Program]:
    """Who answers in each mode whose servers were greeted."""
    found = {}
    for mode in modes:
        programs = [greeting.program for greeting in greetings.get(mode.name, {}).values()]
        if programs:
            label = ", ".join(program.label for program in programs)
            program = programs[0] if len(programs) == 1 else Program(name=label)
            found[mode.name] = _with_service(program, mode, asking)
    return found


def _with_service(client: Program, mode: Mode, asking: Asking) -> Program:
    """The back end of a mode: the MCP server, and the service it asks unless both are ours."""
    if not (mode.services and uses(mode, "canopy_mcp")):
        return client
    if asking.service_url is not None:
        return Program(name=f"{client.label} with the service given", path=client.path)
    service = asking.programs["canopy-service"]
    if is_embedded(service) and is_embedded(asking.programs["canopy-mcp"]):
        return client
    name = title() if is_embedded(service) else str(service)
    return Program(name=f"{client.label} with {name}", path=client.path)
