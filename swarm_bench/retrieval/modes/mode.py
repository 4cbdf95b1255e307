"""Modes: a mode is a file, an ordinary `mcpServers` file with one key of ours."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from swarm_bench.config.shipped import MODES
from swarm_bench.core.errors import ConfigError, Problems
from swarm_bench.core.listing import Listing
from swarm_bench.core.session.experiment import MODE_NAME, NOT_STORED, Mode
from swarm_bench.core.validation import Problem
from swarm_bench.retrieval.modes import mode_file
from swarm_bench.retrieval.modes.secret_parts import names_one, without_secret_parts
from swarm_bench.retrieval.modes.variables import (
    MODE_FOLDER,
    PLACEHOLDERS,
    QUERY,
    Filling,
    placeholders,
)
from swarm_bench.runtime.homes import leading

T = TypeVar("T")
_HELD = {"servers", "prepare", "teardown", "version"}
"""Fields of a mode that can hold keys."""


def list_modes() -> list[Listing]:
    """Every mode file in the shipped folder and in `mcp_configs/` of the working folder."""
    return [_listing(path) for path in MODES.files()]


def find_modes(names: list[str]) -> tuple[Mode, ...]:
    """The modes that the words stand for: a name, or a path to a mode file.

    Raises `UnknownName` for a name without a file and `ConfigError` for a file that is wrong; a
    group for several.
    """
    problems, modes = Problems(), list[Mode]()
    for name in names:
        with problems.collected():
            modes.append(read_mode(MODES.find(name)))
    problems.check()
    seen: dict[str, Mode] = {}
    for mode in modes:
        other = seen.setdefault(mode.name, mode)
        if other is not mode and other.source == mode.source:
            raise ConfigError(f"The mode {mode.name!r} is named twice; name it once")
        if other is not mode:
            raise ConfigError(
                f"Two modes are called {mode.name!r} ({other.source} and {mode.source}); "
                "rename one of the two files"
            )
    return tuple(modes)


def _listing(path: Path) -> Listing:
    try:
        mode = read_mode(path)
    except ConfigError as error:
        return Listing(name=path.stem, about="", source=str(path), problem=str(error))
    return Listing(name=path.stem, about=mode.description, source=mode.source)


def read_mode(path: Path) -> Mode:
    """The mode that a file defines. Raises `ConfigError` naming the file and the place."""
    content = mode_file.parse(path, partial(_commands_besides, path.parent))
    name = mode_name(path)
    if not MODE_NAME.fullmatch(name):
        raise ConfigError(
            f"{path}: a mode takes its name from its file, and {name!r} is taken or cannot name "
            "a folder; rename the file"
        )
    mode = content.stored(name, path)
    check_filling(mode, None)
    _check_commands(mode)
    return mode


def search_arguments(
    mode: Mode, query: str, values: Mapping[str, str], environment: Mapping[str, str] | None
) -> dict[str, Any]:
    """The arguments of a mode's own search for `query`. Raises `ConfigError` for what cannot be
    filled in."""
    if mode.search is None:
        raise ValueError(f"{mode.name} does not say how it is searched")
    return render(mode, mode.search.arguments, {**values, QUERY: query}, environment)


def render(
    mode: Mode, written: T, values: Mapping[str, str], environment: Mapping[str, str] | None
) -> T:
    """A piece of the mode's file with placeholders and variables filled in, as `render_servers`
    fills in servers. Raises `ConfigError`."""
    folder = str(Path(mode.source).parent)
    filling = Filling(
        file=mode.source, placeholders={**values, MODE_FOLDER: folder}, variables=environment
    )
    filled: T = filling.value(written)
    return filled


def render_command(
    mode: Mode,
    written: Sequence[str],
    values: Mapping[str, str],
    environment: Mapping[str, str] | None,
) -> tuple[str, ...]:
    """A command of the mode's file, filled in, and its program from wherever it is started. Raises
    `ConfigError`."""
    program, *words = render(mode, list(written), values, environment)
    folder = Path(mode.source).parent
    return (str(folder / program) if _is_relative(written[0]) else program, *words)


def mode_name(path: Path) -> str:
    """The name of the mode that a file defines: the file's, made fit for a folder."""
    stem = path.expanduser().name.removesuffix(MODES.suffix).removeprefix(".")
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.")


def check_filling(mode: Mode, environment: Mapping[str, str] | None) -> None:
    """Refuses what cannot be filled in; without an `environment` placeholders only. Raises
    `ConfigError`."""
    empty = dict.fromkeys(PLACEHOLDERS, "")
    render_servers(mode, empty, environment)
    for written in written_in(mode):
        render(mode, written, empty, environment)
    if mode.search is not None:
        search_arguments(mode, "", empty, environment)


def written_in(mode: Mode) -> Iterator[Any]:
    """Whatever of the mode may have placeholders and variables, but for its servers and search."""
    if mode.prepare is not None:
        yield [*mode.prepare.command]
        yield mode.prepare.arguments
    if mode.warm_up is not None:
        yield mode.warm_up.arguments
    yield [*mode.teardown]
    yield [*mode.version]


def _check_commands(mode: Mode) -> None:
    clauses = list(_wrong_commands(mode))
    if clauses:
        raise ConfigError(f"The mode file {mode.source} {'; it '.join(clauses)}")


def _wrong_commands(mode: Mode) -> Iterator[str]:
    """What cannot be started, each in a clause with what to do."""
    prepare = mode.prepare.command if mode.prepare else ()
    for verb, command in (
        *(
            (f"starts its server {key!r} with", one.get("command"))
            for key, one in mode.servers.items()
        ),
        ("prepares a clone with", next(iter(prepare), None)),
        ("tears down with", next(iter(mode.teardown), None)),
        ("asks for the version with", next(iter(mode.version), None)),
    ):
        if command is not None and (fault := _fault(Path(mode.source).parent, command)):
            yield f"{verb} {command!r}, which is {fault}"


def _commands_besides(folder: Path, content: object) -> Iterator[Problem]:
    """What cannot be started, in a file that is wrong otherwise too."""
    servers = content.get("mcpServers") if isinstance(content, dict) else None
    for key, one in servers.items() if isinstance(servers, dict) else ():
        command = one.get("command") if isinstance(one, dict) else None
        if isinstance(command, str) and (fault := _fault(folder, command)):
            yield 0, f"it starts its server {key!r} with {command!r}, which is {fault}"


def _fault(folder: Path, command: str) -> str | None:
    filled = "{{" in command or "${" in command
    return None if filled or not command else _not_runnable(folder, command)


def _not_runnable(folder: Path, command: str) -> str | None:
    """Why a command of a file in `folder` cannot be started, and what to do; `None` if it can."""
    if shutil.which(str(folder / command) if "/" in command else command) is not None:
        return None
    words = command.split()
    if len(words) > 1 and shutil.which(words[0]) is not None:
        return "no program; put all but the first word into 'args', or into words of the list"
    if command.startswith("~"):
        return "no program, since ~ is not filled in here; write ${HOME}"
    if "/" not in command:
        return "not on the PATH; install it, or give its path"
    if shutil.which(str(folder / command), os.F_OK) is not None:
        return f"not executable at {folder / command}; make it so with chmod +x"
    return f"no program at {folder / command}; install it, or fix the path"


def render_servers(
    mode: Mode,
    values: Mapping[str, str],
    environment: Mapping[str, str] | None,
    home: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The `mcpServers` content with placeholders and variables filled in; without an `environment`
    variables stay as they are written. `home` are variables for each server that is started, under
    its own. Raises `ConfigError` for what cannot be filled."""
    folder = Path(mode.source).parent
    filling = Filling(
        file=mode.source,
        placeholders={**values, MODE_FOLDER: str(folder)},
        variables=environment,
    )
    filled = {name: filling.server(server) for name, server in mode.servers.items()}
    return {name: _plain(server, folder, home or {}) for name, server in filled.items()}


def _plain(server: dict[str, Any], folder: Path, home: Mapping[str, str]) -> dict[str, Any]:
    """A server in the words that every agent knows, its command from wherever it is started, and
    the way to its home: an agent that starts it has another."""
    if "url" in server:
        return {**server, "type": "http"}
    if home:
        server = {**server, "env": leading(home, server.get("env", {}))}
    command = server.get("command", "")  # of a recorded server there is only the name
    return {**server, "command": str(folder / command)} if _is_relative(command) else server


def _is_relative(command: str) -> bool:
    return "/" in command and not command.startswith(("/", "{{", "${"))


def uses(mode: Mode, placeholder: str) -> bool:
    """Whether a server of the mode has that placeholder."""
    return placeholder in placeholders(mode.servers)


def without_secrets(mode: Mode) -> Mode:
    """The mode as it may be stored: `env` and `headers` of a server hold keys, so their values are
    left out unless they only name a variable, and so are the secret parts of its commands."""
    servers = {name: _without_keys(server) for name, server in mode.servers.items()}
    step = mode.prepare
    shown = {
        "servers": servers,
        "prepare": step and step.model_copy(update={"command": _shown(step.command)}),
        "teardown": _shown(mode.teardown),
        "version": _shown(mode.version),
    }
    return mode.model_copy(update=shown)


def _shown(command: Sequence[str]) -> tuple[str, ...]:
    return tuple(without_secret_parts(command))


def _without_keys(server: Mapping[str, Any]) -> dict[str, Any]:
    shown = dict(server)
    for key in ("env", "headers"):
        if isinstance(server.get(key), dict):
            shown[key] = _hidden(server[key])
    if isinstance(server.get("args"), list):
        shown["args"] = without_secret_parts([str(word) for word in server["args"]])
    if isinstance(server.get("url"), str):
        (shown["url"],) = without_secret_parts([server["url"]])
    return shown


def _hidden(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) and names_one(value) else NOT_STORED
        for name, value in values.items()
    }


def has_changed(stored: Mode) -> bool:
    """Whether the file of a stored mode says something else by now. Raises `ConfigError` when it
    cannot be read."""
    return without_secrets(read_mode(Path(stored.source))) != without_secrets(stored)


def with_secrets(stored: Mode) -> Mode:
    """A stored mode with the keys of its file. Raises `ConfigError` when its servers are others by
    now."""
    if NOT_STORED not in stored.model_dump_json(include=_HELD):
        return stored
    try:
        mode = read_mode(Path(stored.source))
    except ConfigError as error:
        raise ConfigError(f"{error}; its keys are not stored, so restore the file") from error
    shown = without_secrets(stored)  # an older session has the keys in its commands
    if without_secrets(mode).model_dump(include=_HELD) != shown.model_dump(include=_HELD):
        raise ConfigError(
            f"The servers of the mode file {stored.source} have changed since the session began; "
            "restore it, or begin a new session"
        )
    return stored.model_copy(update={name: getattr(mode, name) for name in _HELD})
