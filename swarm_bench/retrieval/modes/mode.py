"""Modes: a mode is a file, an ordinary `mcpServers` file with one key of ours."""

import os
import re
import shutil
import sys
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
from swarm_bench.retrieval.modes.secret_parts import names_variable, redact_secret_parts
from swarm_bench.retrieval.modes.variables import (
    KEYWORDS,
    MODE_FOLDER,
    PLACEHOLDERS,
    PYTHON,
    QUERY,
    Filling,
    Values,
    find_placeholders,
)
from swarm_bench.runtime.homes import add_home_variables
from swarm_bench.text.terms import keywords_of

T = TypeVar("T")
_SECRET_FIELDS = {"servers", "prepare", "teardown", "version"}
"""Fields of a mode that can hold keys."""


def list_modes() -> list[Listing]:
    """List every mode file in the shipped folder and in `mcp_configs/` of the working folder."""
    return [_make_listing(path) for path in MODES.files()]


def find_modes(names: list[str]) -> tuple[Mode, ...]:
    """Find the modes by their names, or by the paths of mode files.

    Raises `UnknownName` for a name without a file and `ConfigError` for a file that is wrong; a
    group for several.
    """
    problems, modes = Problems(), list[Mode]()
    for name in names:
        with problems.collected():
            modes.append(read_mode(MODES.find(name)))
    problems.check()
    by_name: dict[str, Mode] = {}
    for mode in modes:
        first = by_name.setdefault(mode.name, mode)
        if first is not mode and first.source == mode.source:
            raise ConfigError(f"The mode {mode.name!r} is named twice; name it once")
        if first is not mode:
            has_shipped = any(
                MODES.is_shipped(Path(same_named.source)) for same_named in (first, mode)
            )
            which = "yours" if has_shipped else "one of the two files"
            sources = f"{first.source} and {mode.source}"
            raise ConfigError(f"Two modes are called {mode.name!r} ({sources}); rename {which}")
    return tuple(modes)


def _make_listing(path: Path) -> Listing:
    try:
        mode = read_mode(path)
    except ConfigError as error:
        return Listing(name=path.stem, about="", source=str(path), problem=str(error))
    return Listing(name=path.stem, about=mode.description, source=mode.source)


def read_mode(path: Path) -> Mode:
    """Read the mode that a file defines. Raises `ConfigError` naming the file and the line."""
    content = mode_file.parse(path, partial(_find_json_problems, path.parent))
    name = make_mode_name(path)
    if not MODE_NAME.fullmatch(name):
        raise ConfigError(
            f"{path}: a mode takes its name from its file, and {name!r} is taken or cannot name "
            "a folder; rename the file"
        )
    mode = content.convert(name, path)
    check_filling(mode, None)
    _check_commands(mode)
    return mode


def fill_search_calls(
    mode: Mode, query: str, values: Mapping[str, str], environment: Mapping[str, str] | None
) -> list[dict[str, Any]]:
    """Fill in the arguments of a mode's own search for `query`: of one call, or of one for each of
    its words. Raises `ConfigError` for what cannot be filled in."""
    if mode.search is None:
        raise ValueError(f"{mode.name} does not say how it is searched")
    return [
        render(mode, mode.search.arguments, {**values, QUERY: query, KEYWORDS: form}, environment)
        for form in mode.search.forms(keywords_of(query))
    ]


def render(mode: Mode, template: T, values: Values, environment: Mapping[str, str] | None) -> T:
    """Fill in placeholders and variables in a piece of the mode's file, as `render_servers` does
    in servers. Raises `ConfigError`."""
    result: T = _make_filling(mode, values, environment).fill(template)
    return result


def _make_filling(mode: Mode, values: Values, environment: Mapping[str, str] | None) -> Filling:
    always = {MODE_FOLDER: str(Path(mode.source).parent), PYTHON: sys.executable}
    return Filling(file=mode.source, placeholders={**values, **always}, variables=environment)


def render_command(
    mode: Mode,
    template: Sequence[str],
    values: Mapping[str, str],
    environment: Mapping[str, str] | None,
) -> tuple[str, ...]:
    """Fill in a command of the mode's file; its program is found from wherever it is started.
    Raises `ConfigError`."""
    program, *arguments = render(mode, list(template), values, environment)
    folder = Path(mode.source).parent
    return (str(folder / program) if _is_relative(template[0]) else program, *arguments)


def make_mode_name(path: Path) -> str:
    """Name the mode that a file defines: by the file's name, made fit for a folder."""
    stem = path.expanduser().name.removesuffix(MODES.suffix).removeprefix(".")
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.")


def check_filling(mode: Mode, environment: Mapping[str, str] | None) -> None:
    """Check that all can be filled in; without an `environment` placeholders only. Raises
    `ConfigError`."""
    empty = dict.fromkeys(PLACEHOLDERS, "")
    render_servers(mode, empty, environment)
    for template in find_templates(mode):
        render(mode, template, empty, environment)
    if mode.search is not None:
        fill_search_calls(mode, "", empty, environment)


def find_templates(mode: Mode) -> Iterator[Any]:
    """Yield what may have placeholders and variables, except its servers and search."""
    if mode.prepare is not None:
        yield [*mode.prepare.command]
        yield mode.prepare.arguments
    if mode.warm_up is not None:
        yield mode.warm_up.arguments
    yield [*mode.teardown]
    yield [*mode.version]


def _check_commands(mode: Mode) -> None:
    clauses = list(_find_wrong_commands(mode))
    if clauses:
        raise ConfigError(f"The mode file {mode.source} {'; it '.join(clauses)}")


def _find_wrong_commands(mode: Mode) -> Iterator[str]:
    """Yield a clause for each command that cannot be started, with what to do."""
    prepare = mode.prepare.command if mode.prepare else ()
    for verb, command in (
        *(
            (f"starts its server {key!r} with", server.get("command"))
            for key, server in mode.servers.items()
        ),
        ("prepares a clone with", next(iter(prepare), None)),
        ("tears down with", next(iter(mode.teardown), None)),
        ("asks for the version with", next(iter(mode.version), None)),
    ):
        if command is not None and (fault := _find_fault(Path(mode.source).parent, command)):
            yield f"{verb} {command!r}, which is {fault}"


def _find_json_problems(folder: Path, content: object) -> Iterator[Problem]:
    """Yield what cannot be started, in a file that is wrong otherwise too."""
    servers = content.get("mcpServers") if isinstance(content, dict) else None
    for key, server in servers.items() if isinstance(servers, dict) else ():
        command = server.get("command") if isinstance(server, dict) else None
        if isinstance(command, str) and (fault := _find_fault(folder, command)):
            yield 0, f"it starts its server {key!r} with {command!r}, which is {fault}"


def _find_fault(folder: Path, command: str) -> str | None:
    is_filled_in = "{{" in command or "${" in command
    return None if is_filled_in or not command else _explain_not_runnable(folder, command)


def _explain_not_runnable(folder: Path, command: str) -> str | None:
    """Say why a command of a file in `folder` cannot be started, and what to do, if so."""
    if shutil.which(str(folder / command) if "/" in command else command) is not None:
        return None
    parts = command.split()
    if len(parts) > 1 and shutil.which(parts[0]) is not None:
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
    """Fill in placeholders and variables in the `mcpServers`; without an `environment` variables
    stay as they are written. `home` are variables for each server that is started, under its own.
    Raises `ConfigError` for what cannot be filled in."""
    folder = Path(mode.source).parent
    filling = _make_filling(mode, values, environment)
    servers = {name: filling.fill_server(server) for name, server in mode.servers.items()}
    return {name: _make_plain(server, folder, home or {}) for name, server in servers.items()}


def _make_plain(server: dict[str, Any], folder: Path, home: Mapping[str, str]) -> dict[str, Any]:
    """Write a server with the keys that every agent reads, its command from wherever it is started,
    and the way to its home: an agent that starts it has another."""
    if "url" in server:
        return {**server, "type": "http"}
    if home:
        server = {**server, "env": add_home_variables(home, server.get("env", {}))}
    command = server.get("command", "")  # of a recorded server there is only the name
    return {**server, "command": str(folder / command)} if _is_relative(command) else server


def _is_relative(command: str) -> bool:
    return "/" in command and not command.startswith(("/", "{{", "${"))


def has_placeholder(mode: Mode, placeholder: str) -> bool:
    """Tell whether a server of the mode has that placeholder."""
    return placeholder in find_placeholders(mode.servers)


def drop_secrets(mode: Mode) -> Mode:
    """Make the mode fit to be stored: `env` and `headers` of a server hold keys, so their values
    are omitted unless they only name a variable, and so are the secret parts of its commands."""
    servers = {name: _redact_server(server) for name, server in mode.servers.items()}
    step = mode.prepare
    redacted = {
        "servers": servers,
        "prepare": step and step.model_copy(update={"command": _redact_command(step.command)}),
        "teardown": _redact_command(mode.teardown),
        "version": _redact_command(mode.version),
    }
    return mode.model_copy(update=redacted)


def _redact_command(command: Sequence[str]) -> tuple[str, ...]:
    return tuple(redact_secret_parts(command))


def _redact_server(server: Mapping[str, Any]) -> dict[str, Any]:
    redacted = dict(server)
    for key in ("env", "headers"):
        if isinstance(server.get(key), dict):
            redacted[key] = _redact_values(server[key])
    if isinstance(server.get("args"), list):
        redacted["args"] = redact_secret_parts([str(word) for word in server["args"]])
    if isinstance(server.get("url"), str):
        (redacted["url"],) = redact_secret_parts([server["url"]])
    return redacted


def _redact_values(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) and names_variable(value) else NOT_STORED
        for name, value in values.items()
    }


def has_changed(stored_mode: Mode) -> bool:
    """Tell whether the file of a stored mode has changed. Raises `ConfigError` when it cannot be
    read."""
    return drop_secrets(read_mode(Path(stored_mode.source))) != drop_secrets(stored_mode)


def add_secrets(stored_mode: Mode) -> Mode:
    """Add the keys of its file to a stored mode. Raises `ConfigError` when its servers have changed
    since."""
    if NOT_STORED not in stored_mode.model_dump_json(include=_SECRET_FIELDS):
        return stored_mode
    try:
        mode = read_mode(Path(stored_mode.source))
    except ConfigError as error:
        raise ConfigError(f"{error}; its keys are not stored, so restore the file") from error
    redacted = drop_secrets(stored_mode)  # an older session has the keys in its commands
    if drop_secrets(mode).model_dump(include=_SECRET_FIELDS) != redacted.model_dump(
        include=_SECRET_FIELDS
    ):
        raise ConfigError(
            f"The servers of the mode file {stored_mode.source} have changed since the session "
            "began; restore it, or start a new session"
        )
    return stored_mode.model_copy(update={name: getattr(mode, name) for name in _SECRET_FIELDS})
