"""Greets the servers of modes before anything is spent, each mode in a clone and a home of its own,
prepared where they do not start otherwise."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import anyio

from swarm_bench.core.errors import IndexFailed, UsageError
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.exercise import FILES, make_repository
from swarm_bench.retrieval.handshake import TAG_BEGIN, Handshake, greet
from swarm_bench.retrieval.modes.mode import check_filling, render_servers
from swarm_bench.retrieval.opened_mode import MOST_PATHS, OpenedMode
from swarm_bench.retrieval.preparing import prepare, read_version
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.files import remove
from swarm_bench.runtime.redaction.cleaning import clean_value
from swarm_bench.runtime.workspaces.workspace import Snapshot, clone


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
