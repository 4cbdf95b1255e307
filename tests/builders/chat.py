"""A server of chat completions on the loopback interface, that answers as a test says."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

State = tuple[int, Mapping[str, str], bytes]
"""Of an answer: its number, its headers and its body."""
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "prompt_tokens_details": {"cached_tokens": 40},
}


@dataclass
class Chat:
    """What was asked so far."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.bodies]


def says(text: str | None, **changes: Any) -> State:
    """An answer with this text."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    body = {"object": "chat.completion", "choices": [choice], "usage": USAGE} | changes
    return 200, {}, json.dumps(body).encode()


def fails(number: int, reason: str = "", **headers: str) -> State:
    """An error with this reason."""
    error = json.dumps({"error": {"message": reason}}).encode() if reason else b"<html>"
    return number, headers, error


@contextmanager
def chatting(answer: Callable[[Chat], State]) -> Iterator[Chat]:
    """Serve for the block; `answer` gets what was asked, the last request too."""
    chat, asking = Chat(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with asking:
                chat.bodies.append({**body, "path": self.path})
                chat.headers.append({name.lower(): value for name, value in self.headers.items()})
                number, headers, content = answer(chat)
            self.send_response(number)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        def handle_error(self, *arguments: Any) -> None:
            """Who waited is gone."""

    with Server(("127.0.0.1", 0), Handler) as server:
        chat.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield chat
        finally:
            server.shutdown()
            thread.join()
