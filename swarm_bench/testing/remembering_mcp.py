"""A stdio MCP server that remembers its starts, so that tests see what outlives a swarm.

    python -I -m swarm_bench.testing.remembering_mcp LOG

At its start it counts up a file in each place where servers keep things: the home, the cache, the
temporary folder, and `.remembering` of the home, which a mode may keep. What it read there goes as
a line of JSON into LOG, with the variables that lead to those places; its tool answers with the
same. It has a second tool that has nothing to do, for a mode that builds an index.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from swarm_bench.runtime.ownership import TAG
from swarm_bench.testing.mcp_loop import serve, write_text

NAMES = ("HOME", "XDG_CACHE_HOME", "TMPDIR", "npm_config_cache")
"""Variables whose values it logs."""
FILE = "remembered-starts"
KEPT = ".remembering"
"""Folder below the home; only a mode that names it has it kept."""
_QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
_TOOLS = [
    {
        "name": "search_code",
        "description": "Search the code for words; says which earlier starts it remembers.",
        "inputSchema": _QUERY,
    },
    {
        "name": "build_index",
        "description": "Does nothing.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]


def main() -> None:
    """Serve until the input ends."""
    memory = remember()
    with Path(sys.argv[1]).open("a", encoding="utf-8") as log:
        log.write(json.dumps(memory) + "\n")
    serve("remembering", _TOOLS, lambda _name, _arguments: write_text(json.dumps(memory["seen"])))


def remember() -> dict[str, Any]:
    """Count the earlier starts in each folder, and this one; tell who started it."""
    home = Path.home()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    folders = {
        "home": home,
        "cache": cache,
        "temporary": Path(tempfile.gettempdir()),
        "kept": home / KEPT,
    }
    return {
        "tag": os.environ.get(TAG, ""),
        "seen": {name: _count_up(folder) for name, folder in folders.items()},
        "variables": {name: os.environ.get(name) for name in NAMES},
    }


def _count_up(folder: Path) -> int:
    """Return the number of earlier starts; each is a byte, as several servers may start at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE).open("ab") as file:
        position = file.tell()
        file.write(b".")
    return position


if __name__ == "__main__":
    main()
