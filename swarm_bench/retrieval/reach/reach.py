"""What each mode of a session gives that another one may not reach."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from swarm_bench.core.errors import ConfigError
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.retrieval.canopy.backends import FAMILY, SERVICE
from swarm_bench.retrieval.modes.mode import render_servers, uses
from swarm_bench.retrieval.probes.registered import counters_of
from swarm_bench.retrieval.reach.command_lines import command_of
from swarm_bench.retrieval.reach.outside import Reach
from swarm_bench.retrieval.reach.program_names import names_of
from swarm_bench.retrieval.reach.targets import Address, address_of
from swarm_bench.retrieval.witnesses.purposes import agents_name

_EVERYBODYS = frozenset(
    {
        *(".agents", ".claude", ".codex", ".config", ".cursor", ".cache", ".gemini", ".git"),
        *(".github", ".idea", ".vscode", "build", "dist", "docs", "node_modules", "src", "target"),
    }
)
"""Folders that agents, editors and builds have too."""
_ORDINARY = frozenset(
    {
        *("bash", "create_file", "delete_file", "edit", "edit_file", "execute_command", "fetch"),
        *("fetch_url", "file_search", "find", "find_file", "find_files", "glob", "grep"),
        *("grep_search", "insert", "list_dir", "list_directory", "list_files", "ls", "move_file"),
        *("open_file", "read", "read_file", "read_files", "read_many_files", "replace", "run"),
        *("read_multiple_files", "read_text_file", "run_command", "run_shell_command", "search"),
        *("search_file_content", "search_files", "shell", "think", "tree", "view", "view_file"),
        *("directory_tree", "web_fetch", "web_search", "write", "write_file", "codebase_search"),
    }
)
"""Names of tools that agent programs have of their own."""

Servers = Mapping[str, Any]
"""Servers of one mode, filled in, by name."""


@dataclass(frozen=True, kw_only=True)
class _Provided:
    """What one mode gives."""

    programs: frozenset[str]
    addresses: frozenset[Address]
    folders: frozenset[str]
    tools: frozenset[str]


def reach_of(
    experiment: Experiment,
    mode: str,
    files: Collection[str],
    values: Mapping[str, str],
    variables: Mapping[str, str],
) -> Reach:
    """Collect what `mode` does not give and another mode of the session does. `files` are those
    that the repository itself has, `values` fill the placeholders of mode files, and `variables`
    are those that they may name."""
    tops = {file.partition("/")[0] for file in files if "/" in file}
    provided = {
        each.name: _provided(experiment, each, _servers(each, values, variables), values, tops)
        for each in experiment.modes
    }
    own = provided[mode]
    # Of several modes that give the same, the first one is named.
    others = [(name, other) for name, other in reversed(provided.items()) if name != mode]
    asks = SERVICE in experiment.mode(mode).services
    services = [each.name for each in experiment.modes if gives_canopy(each) and each.name != mode]
    return Reach(
        programs={key: name for name, other in others for key in other.programs - own.programs},
        addresses={key: name for name, other in others for key in other.addresses - own.addresses},
        folders={key: name for name, other in others for key in other.folders - own.folders},
        tools={key: name for name, other in others for key in other.tools - own.tools},
        canopy=None if asks or not services else services[0],
        workspace=values.get("workspace"),
    )


def _servers(mode: Mode, values: Mapping[str, str], variables: Mapping[str, str]) -> Servers:
    for environment in (variables, None):  # of a mode that has run, they may be set no more
        with suppress(ConfigError):
            return render_servers(mode, values, environment)
    return {}


def _provided(
    experiment: Experiment,
    mode: Mode,
    servers: Servers,
    values: Mapping[str, str],
    tops: Collection[str],
) -> _Provided:
    addresses = {server["url"] for server in servers.values() if "url" in server}
    if mode.services and experiment.service_url is not None:
        addresses.add(experiment.service_url)
    parsed = (address for url in addresses if (address := address_of(url)) is not None)
    return _Provided(
        programs=frozenset(_programs(mode, servers, values.get("workspace"))),
        addresses=frozenset(parsed),
        folders=frozenset(_folders(experiment, mode)) - _EVERYBODYS - set(tops),
        tools=frozenset(_tools(experiment, mode)) - _ORDINARY,
    )


def gives_canopy(mode: Mode) -> bool:
    """Tell whether the tool of a mode is canopy, real or embedded."""
    return bool(mode.services) or uses(mode, "canopy_mcp")


def _programs(mode: Mode, servers: Servers, workspace: str | None) -> Iterator[str]:
    """Yield the programs of its servers, and of the commands that prepare its clones."""
    started = [server for server in servers.values() if server.get("command")]
    lines = [(server["command"], *server.get("args", ())) for server in started]
    lines += [mode.prepare.command if mode.prepare else (), mode.teardown]
    commands = (command for line in filter(None, lines) for command in command_of(line))
    names = {name for command in commands for name in names_of(command, workspace)}
    yield from names
    if gives_canopy(mode) or names & FAMILY:
        yield from FAMILY


def _folders(experiment: Experiment, mode: Mode) -> Iterator[str]:
    """Yield where its tool keeps what it makes in a clone, by name: an index lies anywhere."""
    for pattern in mode.may_create:
        name = pattern.strip("/")
        if pattern.endswith("/") and not set(name) & set("/*?[!"):
            yield name
    for probe in mode.probes:
        about = counters_of(experiment, probe)
        if about is not None and about.file is not None:
            yield from PurePosixPath(about.file).parts[:-1][:1]


def _tools(experiment: Experiment, mode: Mode) -> Iterator[str]:
    """Yield the bare names of what its servers offer."""
    for tool in experiment.tool_purposes.get(mode.name, {}):
        for server in mode.servers:
            prefix = agents_name(server, "")
            if tool.startswith(prefix):
                yield tool.removeprefix(prefix)
