"""What each mode of a session gives that another one may not reach."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from swarm_bench.core.errors import ConfigError
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.retrieval.canopy.backends import FAMILY, SERVICE
from swarm_bench.retrieval.modes.mode import has_placeholder, render_servers
from swarm_bench.retrieval.probes.registered import find_counters
from swarm_bench.retrieval.reach.command_lines import expand_process
from swarm_bench.retrieval.reach.outside import ForeignTools
from swarm_bench.retrieval.reach.program_names import find_names
from swarm_bench.retrieval.reach.targets import Address, read_address
from swarm_bench.retrieval.witnesses.purposes import make_agent_name

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


def collect_foreign_tools(
    experiment: Experiment,
    mode: str,
    files: Collection[str],
    values: Mapping[str, str],
    variables: Mapping[str, str],
) -> ForeignTools:
    """Collect what `mode` does not give and another mode of the session does. `files` are those
    that the repository itself has, `values` fill the placeholders of mode files, and `variables`
    are those that they may name."""
    tops = {file.partition("/")[0] for file in files if "/" in file}
    provided = {
        candidate.name: _collect_provided(
            experiment, candidate, _render_servers(candidate, values, variables), values, tops
        )
        for candidate in experiment.modes
    }
    base = provided[mode]
    # Of several modes that give the same, the first one is named.
    pairs = [(name, item) for name, item in reversed(provided.items()) if name != mode]
    asks = SERVICE in experiment.mode(mode).services
    services = [
        candidate.name
        for candidate in experiment.modes
        if gives_canopy(candidate) and candidate.name != mode
    ]
    return ForeignTools(
        programs={key: name for name, item in pairs for key in item.programs - base.programs},
        addresses={key: name for name, item in pairs for key in item.addresses - base.addresses},
        folders={key: name for name, item in pairs for key in item.folders - base.folders},
        tools={key: name for name, item in pairs for key in item.tools - base.tools},
        canopy=None if asks or not services else services[0],
        workspace=values.get("workspace"),
    )


def _render_servers(mode: Mode, values: Mapping[str, str], variables: Mapping[str, str]) -> Servers:
    for environment in (variables, None):  # of a mode that has run, they may be set no more
        with suppress(ConfigError):
            return render_servers(mode, values, environment)
    return {}


def _collect_provided(
    experiment: Experiment,
    mode: Mode,
    servers: Servers,
    values: Mapping[str, str],
    tops: Collection[str],
) -> _Provided:
    addresses = {server["url"] for server in servers.values() if "url" in server}
    if mode.services and experiment.service_url is not None:
        addresses.add(experiment.service_url)
    parsed = (address for url in addresses if (address := read_address(url)) is not None)
    return _Provided(
        programs=frozenset(_find_programs(mode, servers, values.get("workspace"))),
        addresses=frozenset(parsed),
        folders=frozenset(_find_folders(experiment, mode)) - _EVERYBODYS - set(tops),
        tools=frozenset(_find_tools(experiment, mode)) - _ORDINARY,
    )


def gives_canopy(mode: Mode) -> bool:
    """Tell whether the tool of a mode is canopy, real or embedded."""
    return bool(mode.services) or has_placeholder(mode, "canopy_mcp")


def _find_programs(mode: Mode, servers: Servers, workspace: str | None) -> Iterator[str]:
    """Yield the programs of its servers, and of the commands that prepare its clones."""
    started = [server for server in servers.values() if server.get("command")]
    lines = [(server["command"], *server.get("args", ())) for server in started]
    lines += [mode.prepare.command if mode.prepare else (), mode.teardown]
    commands = (command for line in filter(None, lines) for command in expand_process(line))
    names = {name for command in commands for name in find_names(command, workspace)}
    yield from names
    if gives_canopy(mode) or names & FAMILY:
        yield from FAMILY


def _find_folders(experiment: Experiment, mode: Mode) -> Iterator[str]:
    """Yield where its tool keeps what it makes in a clone, by name: an index lies anywhere."""
    for pattern in mode.may_create:
        name = pattern.strip("/")
        if pattern.endswith("/") and not set(name) & set("/*?[!"):
            yield name
    for probe in mode.probes:
        counters = find_counters(experiment, probe)
        if counters is not None and counters.file is not None:
            yield from PurePosixPath(counters.file).parts[:-1][:1]


def _find_tools(experiment: Experiment, mode: Mode) -> Iterator[str]:
    """Yield the bare names of what its servers offer."""
    for tool in experiment.tool_purposes.get(mode.name, {}):
        for server in mode.servers:
            prefix = make_agent_name(server, "")
            if tool.startswith(prefix):
                yield tool.removeprefix(prefix)
