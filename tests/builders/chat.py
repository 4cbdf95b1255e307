"""A server of chat completions on the loopback interface, that answers as a test says."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from swarm_bench.app.running.models import TEXT

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
    greetings: list[dict[str, Any]] = field(default_factory=list)
    """Requests before a session, which ask whether the model answers."""

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.bodies]


def _first(body: Mapping[str, Any]) -> Any:
    messages = body.get("messages") or [{}]
    return messages[0].get("content")


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


_WELCOME = {
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "2"}, "text": "2",
         "finish_reason": "stop"}
    ],
    "usage": dict.fromkeys(
        ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"), 0
    ),
    "content": [{"type": "text", "text": "2"}],
    "type": "message", "role": "assistant", "stop_reason": "end_turn",
}  # fmt: skip
"""An answer in the forms of several providers, which takes nothing of a limit."""


def welcomes(chat: Chat) -> State:
    """Answer a request before the session."""
    return 200, {}, json.dumps(_WELCOME).encode()


@contextmanager
def chatting(
    answer: Callable[[Chat], State], greet: Callable[[Chat], State] = welcomes
) -> Iterator[Chat]:
    """Serve for the block; `answer` gets what was asked, the last request too, and `greet` answers
    what is asked before a session, which is kept apart."""
    chat, asking = Chat(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            greets = TEXT in (body.get("prompt"), _first(body))
            with asking:
                if greets:
                    chat.greetings.append({**body, "path": self.path})
                    number, headers, content = greet(chat)
            if not greets:
                number, headers, content = self._answer(body)
            self._send(number, headers, content)

        def _answer(self, body: dict[str, Any]) -> State:
            with asking:
                chat.bodies.append({**body, "path": self.path})
                chat.headers.append({name.lower(): value for name, value in self.headers.items()})
                return answer(chat)

        def _send(self, number: int, headers: Mapping[str, str], content: bytes) -> None:
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
