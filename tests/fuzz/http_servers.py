"""What MCP servers answer over HTTP: whole answers, from a real socket, and their bodies alone."""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import httpx2
from mcp.types.jsonrpc import jsonrpc_message_adapter

from swarm_bench.runtime.mcp.bodies import PendingCall, Unanswered, kind_of_body, make_readable
from tests.fuzz.parts import joined, parts
from tests.fuzz.servers import RESULTS, refusal

_METHODS = ("initialize", "tools/list", "tools/call")
_OK = "200 OK"
_JSON = "content-type: application/json"
_EVENTS = "content-type: text/event-stream; charset=latin-1"
_GREETING, _TOOLS, _FOUND = (
    json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
    for number, result in enumerate(RESULTS, 1)
)
_BODIES = (
    (_OK, _JSON, _FOUND),
    (_OK, _EVENTS, f": x\nid: 7\nretry: 1\ndata:\n\nevent: message\ndata: {_FOUND}\n\n"),
    (_OK, _EVENTS, "id: 7\r\ndata: [\r\ndata: {\r\n\r\n" + _FOUND),
    (_OK, _JSON, "[" + _TOOLS + "," + _FOUND + "]"),
    (_OK, "content-type: text/html", "<html>sesame</html>"),
    ("202 Accepted", "", ""),
    ("404 Not Found", _JSON, '{"error": {"code": -32001, "message": "Session not found"}}'),
    ("400 Bad Request", "mcp-session-id: t", "Server not initialized"),
    ("401 Unauthorized", 'www-authenticate: Bearer realm="a"', "no key"),
    ("429 Too Many Requests", "retry-after: 86400\r\n" + _JSON, '{"detail": "used up"}'),
    ("503 Service Unavailable", "retry-after: Fri, 31 Dec 1999 23:59:59 GMT", ""),
    ("307 Temporary Redirect", "location: /other/", ""),
    (_OK, "content-encoding: gzip", "no gzip"),
    (_OK, "transfer-encoding: chunked\r\n" + _JSON, '5\r\n{"a":\r\n0\r\n\r\n'),
    (_OK, "content-length: 999\r\n" + _JSON, "{"),
)


def _raw(state: str, header: str, body: str) -> bytes:
    return f"HTTP/1.1 {state}\r\n{header}\r\n\r\n{body}".encode()


def answers() -> list[bytes]:
    """An honest greeting with a session and a list, and then one answer of each kind."""
    before = _raw(_OK, f"mcp-session-id: s\r\n{_JSON}", _GREETING), _raw(_OK, _JSON, _TOOLS)
    return [joined(*before, _raw(*each)) for each in _BODIES] + [
        joined(_raw(*each)) for each in _BODIES[-9:]
    ]


def answer(data: bytes, folder: Path) -> None:
    """The server is connected and answers, or one line says why not."""
    with _serving(parts(data, len(_METHODS))) as url:
        clause = refusal({"url": url}, folder)
    assert clause.split()
    assert "\n" not in clause


@contextmanager
def _serving(said: list[bytes]) -> Iterator[str]:
    """Answer the requests with raw bytes, whatever they are, for the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            method = message.get("method")
            raw = said[_METHODS.index(method)] if method in _METHODS else _raw("202 A", "", "")
            with suppress(OSError):
                self.wfile.write(raw)

        def do_GET(self) -> None:
            self.send_error(405)

        do_DELETE = do_GET

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()


def bodies() -> list[bytes]:
    pieces = (each for each in _BODIES if each[0] == _OK and "-en" not in each[1])
    return [joined(header.encode(), body.encode()) for _, header, body in pieces]


def body(data: bytes, _folder: Path) -> None:
    """Every body is an answer to the call, an error that can be shown, or events of messages."""
    kind, content = parts(data, 2)
    anyio.run(_read, kind.decode("latin-1").partition(":")[2].strip(), content)


async def _read(kind: str, content: bytes) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(content), 1000):
            yield content[at : at + 1000]

    headers = [(b"content-type", kind.encode("latin-1", "replace"))]
    request = httpx2.Request("POST", "http://127.0.0.1/mcp")
    response = httpx2.Response(200, headers=headers, content=pieces(), request=request)
    with suppress(Unanswered, httpx2.SSEError):
        response = await make_readable(response, PendingCall(id=1, secrets=("sesame",)))
        content = await response.aread()
        if kind_of_body(response) == "application/json":
            message = jsonrpc_message_adapter.validate_python(json.loads(content))
            assert getattr(message, "id", None) == 1
