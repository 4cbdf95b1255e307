"""Takes out of answers what says in which mode they were given."""

import re
from collections.abc import Iterable

from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.runtime.ownership import PREFIX

_NEUTRAL = "search"
"""Stands where a name was: agents of every mode search."""
_SHORTEST = 3
_FOLDER = re.compile(
    rf"(?<![\w.+-])(?:/[\w.+-]+)*/{re.escape(PREFIX)}[\w.-]+(?:/[\w.+-]+){{0,2}}/?"
)
"""The clone of a swarm, or a home: as long as its name is, it can tell the mode."""
COMPOUND = re.compile(r"[_-]|[a-z][A-Z]|\d")


def blind(text: str, names: Iterable[str], neutral: str = _NEUTRAL) -> str:
    """Replace the names, also where they begin a longer one, and the folders that agents worked in.
    Words of paths and of files stay: they are the repository's."""
    longest = sorted({name for name in names if len(name) >= _SHORTEST}, key=len, reverse=True)
    text = _FOLDER.sub("", text)
    if not longest:
        return text
    any_name = "|".join(map(re.escape, longest))
    spelt = rf"(?<![\w/.\\-])(?:mcp__)?(?:{any_name})(?:[_-][\w-]*)?(?![\w/\\-]|\.\w)"
    return re.sub(spelt, neutral, text, flags=re.IGNORECASE)


def find_names(experiment: Experiment, trials: Iterable[TrialRecord]) -> frozenset[str]:
    """Name the servers, tools and retrieval programs of a session. A tool whose name is a plain
    word, as `search`, gives nothing away and stays."""
    servers = {server for mode in experiment.modes for server in mode.servers}
    called_tools = {name for trial in trials for name in trial.tool_calls or ()}
    offered_tools = {name for tools in experiment.tool_purposes.values() for name in tools}
    tools = {name for name in called_tools | offered_tools if _names_server(name, servers)}
    bare_names = {name.removeprefix("mcp__").partition("__")[2] for name in tools}
    programs = {program.name for program in experiment.retrieval.values()}
    return frozenset(servers | tools | programs | set(filter(COMPOUND.search, bare_names)))


def _names_server(tool: str, servers: Iterable[str]) -> bool:
    return any(server and server in tool for server in servers)
