"""A small MCP server that scout was not made for, over stdio or streamable HTTP.

`--http` prints its address and asks for the header `Authorization: Bearer open-sesame`. It serves
the folder that it is started in, or that `--root` names; `--read-only` has no search.
"""

import argparse
import socket
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from starlette.types import ASGIApp, Receive, Scope, Send

parser = argparse.ArgumentParser()
parser.add_argument("--http", action="store_true")
parser.add_argument("--read-only", action="store_true")
parser.add_argument("--root", type=Path, default=Path.cwd())
options = parser.parse_args()
server = MCPServer("library")


def search_code(query: str) -> str:
    """Searches the code for words."""
    found = [
        f"{path}:{number}:{line}"
        for path in sorted(options.root.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if any(word[:4] in line.lower() for word in query.lower().split())
    ]
    return "\n".join(found) or "nothing"


if not options.read_only:
    server.tool()(search_code)


@server.tool()
def read_file(path: str) -> str:
    """The text of a file; the path must be absolute."""
    if not path.startswith(f"{options.root}/"):
        raise ToolError(f"{path} is outside of {options.root}")
    return Path(path).read_text()


@server.tool()
def delete_file(path: str) -> str:
    """Deletes a file."""
    Path(path).unlink()
    return "gone"


@server.tool()
def explain(tenant: str) -> str:
    """Explains."""
    return tenant


def guarded(app: ASGIApp) -> ASGIApp:
    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", []))
        if scope["type"] == "http" and headers.get(b"authorization") != b"Bearer open-sesame":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"no"})
            return
        await app(scope, receive, send)

    return check


if __name__ == "__main__":
    if options.http:
        listener = socket.create_server(("127.0.0.1", 0))
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)  # noqa: T201  # how the test learns it
        app = guarded(server.streamable_http_app())
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
    else:
        server.run("stdio")
