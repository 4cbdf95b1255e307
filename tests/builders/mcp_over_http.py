"""A server of MCP over HTTP that answers calls as a test says."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream"}
TEXT = {"content-type": "text/plain; charset=utf-8"}
FOUND: dict[str, Any] = {"content": [{"type": "text", "text": "src/oar.py"}]}
Reply = tuple[int, Mapping[str, str], bytes]
Answering = Callable[["Served"], Reply | None]
"""Answers a call; `None` for a connection that is closed without a word."""


class Served:
    """What a server over HTTP was asked, and how it answers."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.methods: list[str] = []
        self.session: str | None = None
        """Of the last request."""
        self.sessions = 0
        """Those that were opened."""
        self.redirected = 0
        self.request: dict[str, Any] = {}

    @property
    def calls(self) -> int:
        return self.methods.count("tools/call")

    def found(self, result: Mapping[str, Any] = FOUND) -> Reply:
        message = {"jsonrpc": "2.0", "id": self.request["id"], "result": result}
        return 200, JSON, json.dumps(message).encode()

    def refused(self, words: str, code: int = -32000) -> bytes:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}}
        return json.dumps(error).encode()

    def answer(self, session: str | None, body: bytes) -> Reply | None:
        self.session, self.request = session, json.loads(body)
        self.methods.append(self.request["method"])
        match self.request["method"]:
            case "initialize":
                self.sessions += 1
                about = {
                    "protocolVersion": self.request["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "served", "version": "1"},
                }
                status, headers, content = self.found(about)
                return status, {**headers, "mcp-session-id": f"s{self.sessions}"}, content
            case "tools/list":
                return self.found({"tools": [{"name": "find", "inputSchema": {"type": "object"}}]})
            case "tools/call":
                return self.answering(self)
        return 202, {}, b""


@contextmanager
def serving(answering: Answering, *, redirect: int | None = None) -> Iterator[tuple[str, Served]]:
    """Serve for the block; with a status to `redirect` by, at another address than is named."""
    served = Served(answering)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if redirect and not self.path.endswith("/"):
                served.redirected += 1
                self.reply(redirect, {"location": f"{self.path}/"}, b"")
                return
            reply = served.answer(self.headers.get("mcp-session-id"), body)
            if reply is None:
                self.close_connection = True
                return
            self.reply(*reply)

        def reply(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self.send_error(405)

        do_DELETE = do_GET

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp", served
        finally:
            server.shutdown()
