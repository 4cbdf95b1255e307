"""Greets the servers of modes before anything is spent, each mode in a clone and a home of its own,
prepared where they do not start otherwise."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import anyio

from swarm_bench.benchmarks.swarm.clone.groundwork import MOST_PATHS
from swarm_bench.benchmarks.swarm.clone.preparing import Site, prepare, tear_down, version
from swarm_bench.config.dotenv_file import DotEnv
from swarm_bench.core.errors import IndexFailed, UsageError
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.backends import SERVICE, is_embedded
from swarm_bench.retrieval.canopy.exercise import FILES, make_repository
from swarm_bench.retrieval.canopy.own_service import new_key, sends_key, service_command
from swarm_bench.retrieval.handshake import TAG_BEGIN, Handshake, greet
from swarm_bench.retrieval.modes.mode import check_filling, render_servers, uses
from swarm_bench.retrieval.modes.secrets import secrets_of
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.files import remove
from swarm_bench.runtime.homes import Homes
from swarm_bench.runtime.process import Command
from swarm_bench.runtime.redaction.cleaning import cleaned
from swarm_bench.runtime.workspaces.inventory import changes, inventory
from swarm_bench.runtime.workspaces.workspace import Snapshot, clone

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
    dotenv: DotEnv = field(default_factory=DotEnv)
    """Variables of `.env`, which every server can read."""
    service_key: str = field(default_factory=new_key, repr=False)
    """What a service that we start asks for."""

    @property
    def env(self) -> dict[str, str]:
        """The environment of the servers."""
        return {**small_environment(self.user_environment), **self.agent_env}

    @property
    def variables(self) -> dict[str, str]:
        """What mode files may name."""
        return {**self.user_environment, **self.agent_env}

    def secrets(self, *modes: Mode) -> tuple[str, ...]:
        """List what nobody may read of what the modes' servers say, and a service."""
        return secrets_of(self, modes, [self.service_url or ""])

    def to_fix(self, mode: Mode) -> str:
        """Name what to fix when a server of the mode does not start: its file, or the program that
        was named in the place of ours."""
        program = self.programs["canopy-mcp"]
        named = uses(mode, "canopy_mcp") and not is_embedded(program)
        return f"{program}, which is named as canopy-mcp" if named else mode.source

    def values(self, workspace: Path) -> dict[str, str]:
        """Return the values of the placeholders."""
        return {
            "workspace": str(workspace),
            "service_url": self.service_url or NOBODY,
            "canopy_mcp": str(self.programs["canopy-mcp"]),
        }

    def site(self, mode: Mode, workspace: Path, home: Mapping[str, str]) -> Site:
        """Return where the mode's tool is made ready before it is greeted."""
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

    def service_command(self, home: Mapping[str, str], mode: Mode | None = None) -> Command:
        """Build the command of a service that no agent will ask, and only the servers of `mode`
        beside us; `home` are variables that lead into its own."""
        return service_command(
            self.programs[SERVICE],
            work=self.homes.work,
            env={**small_environment(self.user_environment), **home},
            tag=f"{TAG_BEGIN}-service-{uuid4().hex}",
            key=self.service_key if mode is None or sends_key(mode, self.programs) else None,
        )


async def greet_all(
    asking: Asking, modes: Sequence[Mode], snapshot: Snapshot
) -> dict[str, dict[str, Handshake]]:
    """Greet the servers of all modes at the same time. Each mode has a clone of the repository, so
    that what appears there is its own; those that may not start without what prepares them have a
    small repository, where that takes no time. Raises `UsageError` for what cannot be prepared."""
    handshakes: dict[str, dict[str, Handshake]] = {}
    alike: dict[str, list[Mode]] = {}
    for mode in modes:
        alike.setdefault(_likeness(mode), []).append(mode)

    async def ask(number: int, group_: list[Mode]) -> None:
        folder = asking.homes.work / TAG_BEGIN / str(number)
        if needs_preparation(group_[0]):
            handshakes.update(await _greet_prepared(asking, group_, folder / "repository"))
        else:
            name = Path(snapshot.repository.path).name or "repository"
            async with clone(snapshot, folder / name, keep=None) as workspace:
                handshakes.update(await greet_modes(asking, group_, workspace))

    try:
        async with anyio.create_task_group() as group:
            for number, same in enumerate(alike.values(), start=1):
                group.start_soon(ask, number, same)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return handshakes


def _likeness(mode: Mode) -> str:
    """Return what is the same for modes that are greeted together."""
    own = mode.name if mode.keep else ""
    keys = {"servers", "services", "prepare", "start_seconds", "teardown", "version", "may_create"}
    return json.dumps([own, mode.model_dump(include=keys)], sort_keys=True)


async def _greet_prepared(
    asking: Asking, modes: Sequence[Mode], folder: Path
) -> dict[str, dict[str, Handshake]]:
    first, *_ = modes
    try:
        handshakes = await greet_alone(asking, first, folder)
    except IndexFailed as error:
        raise UsageError(
            f"The mode {first.name} cannot be prepared, tried in {FILES} files: {error}"
        ) from error
    return {mode.name: handshakes for mode in modes}


def needs_preparation(mode: Mode) -> bool:
    """Tell whether its servers may not start in a repository as it is."""
    step = mode.prepare
    return step is not None and step.when == "always" and not mode.services


async def greet_alone(asking: Asking, mode: Mode, folder: Path) -> dict[str, Handshake]:
    """Greet its servers in a repository of ten files that is made in `folder` for a moment.
    Raises `IndexFailed`."""
    folder.mkdir(parents=True)
    try:
        await make_repository(folder)
        return (await greet_modes(asking, [mode], folder))[mode.name]
    finally:
        remove(folder)


async def greet_modes(
    asking: Asking, modes: Sequence[Mode], workspace: Path
) -> dict[str, dict[str, Handshake]]:
    """Greet the servers of modes that are alike in `workspace`, which is prepared first if they
    need it; one that fails says so in its handshake. What they say is without secrets. Raises
    `IndexFailed` and `ConfigError`."""
    mode, *_ = modes
    for alike in modes:
        check_filling(alike, asking.variables)
    hidden = set(asking.secrets(*modes))
    before = await anyio.to_thread.run_sync(inventory, workspace)
    opened = asking.homes.opened(f"home-{uuid4().hex[:8]}", keep=mode.keep, of=mode.name)
    async with opened as home:
        site = asking.site(mode, workspace, home)
        try:
            if needs_preparation(mode):
                await prepare(site)
            handshakes = await greet(
                {mode.name: site.servers},
                written={mode.name: render_servers(mode, site.values, None)},
                cwd=workspace,
                env=site.env,
                secrets=hidden,
                seconds=mode.start_seconds,
            )
            answers = handshakes[mode.name]
            if mode.version and answers:
                answers = _with_version(answers, await version(site))
            change = changes(before, await anyio.to_thread.run_sync(inventory, workspace))
        finally:
            await tear_down(site)
    unexpected = cleaned(change.without(mode.may_create)[:MOST_PATHS], hidden)
    answers = {name: replace(own, unexpected=unexpected) for name, own in answers.items()}
    return {alike.name: answers for alike in modes}


def _with_version(handshakes: Mapping[str, Handshake], number: str | None) -> dict[str, Handshake]:
    """Add the version of the mode's tool, which is the first of its servers."""
    (name, first), *others = handshakes.items()
    program = first.program.model_copy(update={"version": number})
    return {name: replace(first, program=program), **dict(others)}
