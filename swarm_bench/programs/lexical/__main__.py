"""`python -m swarm_bench.programs.lexical bm25|grep --root FOLDER`: an MCP server with one tool,
`search_code`. With `--build` it makes the index of bm25, and ends."""

import argparse
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.registry import own_version
from swarm_bench.programs.lexical.searches import SEARCHES, Bm25Search, Search
from swarm_bench.programs.stdio_server import Answer, Server

DEFAULT_LIMIT, MAX_LIMIT = 10, 50
_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for, in words"},
        "limit": {
            "type": "integer",
            "description": f"The most files to return, {DEFAULT_LIMIT} if left out",
        },
    },
    "required": ["query"],
}


def main() -> None:
    """Serve until the input ends, or build an index."""
    parser = argparse.ArgumentParser(prog="swarm_bench.programs.lexical", allow_abbrev=False)
    parser.add_argument("search", choices=[*SEARCHES])
    parser.add_argument("--root", type=Path, required=True, help="repository to search")
    parser.add_argument("--build", action="store_true", help="make the index, and end")
    options = parser.parse_args()
    search = SEARCHES[options.search](options.root.resolve())
    if not options.build:
        signal.signal(signal.SIGTERM, _end)
        with suppress(KeyboardInterrupt, BrokenPipeError):
            server_of(options.search, search).serve(sys.stdin.buffer, sys.stdout.buffer)
    elif isinstance(search, Bm25Search):
        search.build()


def server_of(name: str, search: Search) -> Server:
    """Make the server of a search."""

    def call(_tool: str, arguments: Mapping[str, Any]) -> Answer:
        query, limit = arguments.get("query"), arguments.get("limit", DEFAULT_LIMIT)
        if not isinstance(query, str) or not isinstance(limit, int):
            return Answer(text="Give query, a text, and perhaps limit, a number.", is_error=True)
        lines = search.lines(query, max(1, min(limit, MAX_LIMIT)))
        return Answer(text="\n".join(lines) or "No file has any of these words.")

    return Server(
        info={"name": f"swarm-bench {name}", "version": own_version()},
        tools=[ToolSpec(name="search_code", description=search.description, schema=_SCHEMA)],
        call=call,
    )


def _end(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


if __name__ == "__main__":
    main()
