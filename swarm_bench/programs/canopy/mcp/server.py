"""`swarm-bench-canopy-mcp`: canopy's seven tools over stdin and stdout.

The loop is our own and not the official SDK's. Tried with mcp 2.3.0 (low-level server, stdio): it
answers a call before `initialize` with -32602, gives no reply at all to a line that is not JSON and
to an id that is null, a list or a fraction, adds `data` to errors, negotiates the protocol version
where canopy always says 2024-11-05, and takes 0.5 s of processor time to import in every server of
a swarm. canopy's behaviour, which its users' clients see, is 150 lines.
"""

import argparse
import json
import math
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from swarm_bench.programs.canopy.defaults import CANOPY_VERSION, REQUEST_BYTES
from swarm_bench.programs.canopy.errors import InvalidParameters, ToolError, start_diagnostics
from swarm_bench.programs.canopy.parameters import Arguments
from swarm_bench.programs.canopy.toolset import Answer, Tools
from swarm_bench.retrieval.canopy.backends import embedded_label

PROTOCOL_VERSION = "2024-11-05"
PARSE_ERROR = -32700
UNKNOWN_METHOD = -32601
INTERNAL = -32000

Json = dict[str, Any]


class RpcError(Exception):
    """An error reply."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """An MCP server that answers one request after the other."""

    def __init__(self, root: Path | None, open_tools: Callable[[], Tools]) -> None:
        self.root = root
        self._open_tools = open_tools

    @cached_property
    def tools(self) -> Tools:
        """Opened by the first call, so that a swarm of servers says hello at once."""
        return self._open_tools()

    def close(self) -> None:
        if "tools" in self.__dict__:
            self.tools.close()

    def serve(self, lines: BinaryIO, replies: BinaryIO) -> None:
        """Answer requests until the input ends."""
        while line := lines.readline(REQUEST_BYTES + 1):
            if len(line) > REQUEST_BYTES and not line.endswith(b"\n"):
                _skip_line(lines)
                line = b"too long"
            line = line.removesuffix(b"\n").removesuffix(b"\r")
            reply = self.reply(line) if line else None
            if reply is not None:
                text = json.dumps(reply, separators=(",", ":"))
                replies.write(text.encode() + b"\n")
                replies.flush()

    def reply(self, line: bytes) -> Json | None:
        """Answer one line; None when it needs no reply."""
        request = _request(line)
        if request is None:
            return _error(None, PARSE_ERROR, "Parse error: a line must be one JSON-RPC request")
        id_ = request.get("id")
        method = request["method"]
        # canopy leaves this one without a reply even when it comes with an id.
        if method == "notifications/initialized":
            return None
        if method.startswith("notifications/") and "id" not in request:
            return None
        try:
            result = self._handle(method, request.get("params"))
        except RpcError as error:
            return _error(id_, error.code, str(error))
        except ToolError as error:
            return _error(id_, error.rpc_code, str(error))
        except sqlite3.Error as error:
            return _error(id_, INTERNAL, f"Database error: {error}; call again")
        except OSError as error:
            return _error(id_, INTERNAL, f"Input or output failed: {error}; call again")
        return {"jsonrpc": "2.0", "id": id_, "result": result}

    def _handle(self, method: str, params: object) -> Json:
        match method:
            case "initialize":
                return {
                    "protocolVersion": PROTOCOL_VERSION,
                    "capabilities": {"tools": {}},
                    "serverInfo": {
                        "name": "canopy-mcp",
                        "version": CANOPY_VERSION,
                        "title": embedded_label(),
                    },
                }
            case "ping":
                return {}
            case "tools/list":
                return {"tools": TOOLS}
            case "tools/call":
                return self._call(params if isinstance(params, dict) else {})
            case _:
                raise RpcError(UNKNOWN_METHOD, f"There is no method called {method!r}")

    def _call(self, params: Mapping[str, Any]) -> Json:
        name = params.get("name")
        if not isinstance(name, str):
            raise InvalidParameters("A call needs name, the name of a tool")
        values = params.get("arguments")
        arguments = Arguments(values if isinstance(values, dict) else {})
        answer = self._answer(name, arguments)
        result: Json = {"content": [{"type": "text", "text": answer.text}]}
        if answer.failed_ids is not None:
            result["failed_ids"] = answer.failed_ids
        return result

    def _answer(self, name: str, arguments: Arguments) -> Answer:
        if name == "canopy_agent_readme":
            return Answer(text=readme())
        tools = {
            "canopy_index": self.tools.index,
            "canopy_query": self.tools.query,
            "canopy_evidence_pack": self.tools.evidence_pack,
            "canopy_expand": self.tools.expand,
            "canopy_status": self.tools.status,
            "canopy_invalidate": self.tools.invalidate,
        }
        if name not in tools:
            raise InvalidParameters(f"There is no tool called {name!r}; see tools/list")
        return tools[name](self._root(arguments.text("path")), arguments)

    def _root(self, path: str | None) -> Path:
        """Resolve the repository of a call. A path inside the server's own root means that root."""
        if path is None and self.root is None:
            raise InvalidParameters("Give path, or start the server with --root")
        if path and "\0" in path:
            raise InvalidParameters("A path cannot hold a null character")
        root = Path(os.path.realpath((self.root or Path()) / (path or "")))
        if self.root is not None:
            if not root.is_relative_to(self.root):
                raise InvalidParameters(f"{path} is outside of {self.root}; omit path")
            root = self.root
        if not root.is_dir():
            raise ToolError(f"{root} is not a folder; give the root of a repository")
        return root


def readme() -> str:
    """Read what `canopy_agent_readme` answers."""
    return Path(__file__).with_name("agent_readme.md").read_text("utf-8")


def _request(line: bytes) -> Json | None:
    """Parse the request on a line; None when it is none."""
    try:
        request = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, dict):
        return None
    texts = (request.get("jsonrpc"), request.get("method"))
    return request if all(isinstance(text, str) for text in texts) else None


def _finite(text: str) -> float:
    """Parse a number as JSON has it; Python would also take and write NaN and Infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no JSON number")
    return number


def _error(id_: object, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def _skip_line(lines: BinaryIO) -> None:
    while (piece := lines.readline(REQUEST_BYTES)) and not piece.endswith(b"\n"):
        pass


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="swarm-bench-canopy-mcp",
        description="Embedded stand-in for canopy-mcp: an MCP server on stdin and stdout.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=embedded_label())
    environment = os.environ.get
    for name, default, text in (
        ("--root", environment("CANOPY_ROOT"), "repository to serve when a call has no path"),
        ("--service-url", environment("CANOPY_SERVICE_URL"), "use this canopy service"),
        ("--api-key", environment("CANOPY_API_KEY"), "key of that service"),
    ):
        parser.add_argument(name, nargs="?", default=default, help=text)
    # canopy ignores what it does not know.
    return parser.parse_known_args()[0]


def _end(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


def main() -> None:
    options = _options()
    signal.signal(signal.SIGTERM, _end)
    start_diagnostics()
    root = Path(os.path.realpath(options.root)) if options.root else None
    server = Server(root, lambda: _open_tools(options.service_url, options.api_key))
    try:
        server.serve(sys.stdin.buffer, sys.stdout.buffer)
    except (KeyboardInterrupt, BrokenPipeError):
        # Nobody reads any more; without this, closing stdout would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        server.close()


def _open_tools(service_url: str | None, key: str | None) -> Tools:
    """Import only what is needed: parsers or an HTTP client, a tenth of a second each."""
    if service_url:
        from swarm_bench.programs.canopy.remote import RemoteTools

        return RemoteTools(service_url, key)
    from swarm_bench.programs.canopy.local import LocalTools

    return LocalTools()


_PATH = {"type": "string", "description": "Repository root; the server's own when left out"}
_SEARCH: dict[str, Any] = {
    "path": _PATH,
    "pattern": {"type": "string", "description": "Words that must all occur in a piece of a file"},
    "patterns": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Several patterns, joined as `match` says",
    },
    "symbol": {"type": "string", "description": "Name of a function, class, struct or method"},
    "section": {"type": "string", "description": "Part of a heading"},
    "parent": {"type": "string", "description": "Name of the class or type around the symbol"},
    "kind": {
        "type": "string",
        "enum": ["definition", "reference", "any"],
        "description": "What to find of the symbol: where it is defined, or where it is used",
    },
    "glob": {"type": "string", "description": "Only files whose path fits, such as src/**/*.py"},
    "match": {
        "type": "string",
        "enum": ["any", "all"],
        "description": "Whether any or all of the patterns must occur",
    },
    "query": {
        "type": "string",
        "description": 'An expression such as (in-file "src/**" (grep "x"))',
    },
}
_LIMIT = {"type": "integer", "default": 16, "description": "The most handles to return"}


def _tool(
    name: str, description: str, properties: dict[str, Any], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if properties:  # canopy says nothing at all of a tool without parameters
        schema["required"] = list(required)
    return {"name": name, "description": description, "inputSchema": schema}


TOOLS = [
    _tool(
        "canopy_index",
        "Index the files that fit a glob. Searching indexes by itself; this is rarely needed.",
        {"path": _PATH, "glob": {"type": "string", "description": "Which files"}},
        ("glob",),
    ),
    _tool(
        "canopy_query",
        "Find pieces of files and get handles with previews, without their text.",
        {**_SEARCH, "limit": _LIMIT},
    ),
    _tool(
        "canopy_evidence_pack",
        "Find the best pieces of files for a question: ranked handles, grouped by file, with"
        " advice on how many to expand. Start here.",
        {
            **_SEARCH,
            "max_handles": {"type": "integer", "default": 8, "description": "From 1 to 64"},
            "max_per_file": {"type": "integer", "default": 2, "description": "From 1 to 8"},
            "plan": {
                "type": "boolean",
                "description": "Search in several steps; only a service does that",
            },
        },
    ),
    _tool(
        "canopy_expand",
        "Get the text of handles.",
        {
            "path": _PATH,
            "handle_ids": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids from a query or an evidence pack",
            },
        },
        ("handle_ids",),
    ),
    _tool("canopy_status", "Tell what is indexed.", {"path": _PATH}),
    _tool(
        "canopy_invalidate",
        "Forget indexed files, so that they are read again.",
        {"path": _PATH, "glob": {"type": "string", "description": "Which files; all if left out"}},
    ),
    _tool("canopy_agent_readme", "How to use these tools.", {}),
]


if __name__ == "__main__":
    main()
