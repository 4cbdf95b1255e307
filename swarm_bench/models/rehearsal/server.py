"""The rehearsal server: every API, answered by one set of fixed rules.

Below `/trial/<id>` each agent has an address of its own, and what it asked is counted under it.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, Protocol

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from swarm_bench.core.ports import Message
from swarm_bench.models import tokens
from swarm_bench.models.rehearsal.api import Api, Asked, Reply, Stop
from swarm_bench.models.rehearsal.chat import Chat
from swarm_bench.models.rehearsal.delivery import EVENTS, Delivery
from swarm_bench.models.rehearsal.faults import FAILURES, SLOW_SECONDS, Fault
from swarm_bench.models.rehearsal.gemini import Gemini
from swarm_bench.models.rehearsal.messages import OVERLOADED, Messages
from swarm_bench.models.rehearsal.responses import Responses
from swarm_bench.models.rehearsal.thinking import think
from swarm_bench.models.rehearsal.trials import Trial

NAME = "swarm-bench rehearsal"
BODY_BYTES = 64 * 1024 * 1024
THREADS = 2
"""Requests that are thought about at once: the machine is there for the agents."""
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

Endpoint = Callable[[Request], Awaitable[Delivery]]

_log = logging.getLogger(__name__)


class _Counting(Api, Protocol):
    """An API that can be asked for the size of a prompt."""

    def counted(self, tokens: int) -> dict[str, Any]: ...


class Server:
    """What is behind the routes."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = faults
        self._trials: defaultdict[str, Trial] = defaultdict(Trial)
        self._thinkers = CapacityLimiter(THREADS)
        self._ids = count(1)

    async def answer(
        self, request: Request, api: Api, in_path: Mapping[str, Any] | None = None
    ) -> Delivery:
        """One request for an answer. `in_path` is what the address says beside the body."""
        trial = self._trials[request.path_params["trial"]]
        try:
            asked = await self._read(request, api, in_path or {})
        except ValueError as error:
            return failure(api, 400, "bad_request", str(error))
        fault = trial.begin(asked, self._faults)
        if fault is not None:
            _log.warning("plays %s for %s", fault, request.url.path)
        if fault in FAILURES:
            return _failed(api, fault)
        async with trial.lock:
            reply = await self._reply(trial, asked, fault)
        return _delivered(api, reply, fault, is_stream=asked.stream)

    async def count(
        self, request: Request, api: _Counting, in_path: Mapping[str, Any] | None = None
    ) -> Delivery:
        """One request for the size of a prompt."""
        try:
            asked = await self._read(request, api, in_path or {})
        except ValueError as error:
            return failure(api, 400, "bad_request", str(error))
        return as_json(api.counted(sum(tokens.count(part) for part in asked.parts)))

    async def gemini(self, request: Request) -> Delivery:
        """Everything about a model of Gemini's: its path ends in `:<what to do>`."""
        model, _, verb = request.path_params["model"].rpartition(":")
        in_path = {"model": model, "stream": verb == "streamGenerateContent"}
        match verb:
            case "countTokens":
                return await self.count(request, Gemini(), in_path)
            case "generateContent" | "streamGenerateContent":
                return await self.answer(request, Gemini(), in_path)
        return await self.unknown(request)

    async def seen(self, request: Request) -> Delivery:
        """As `start.Seen` has it."""
        trial = self._trials.get(request.path_params["trial"])
        if trial is None:
            return as_json({"error": "This trial never asked"}, status=404)
        return as_json(trial.seen())

    async def unknown(self, request: Request) -> Delivery:
        """Programs look for this and that; what they looked for is in the log."""
        path = request.url.path
        _log.warning("not played here: %s %s", request.method, path)
        api: Api = Messages()
        if "/v1beta/" in path:
            api = Gemini()
        elif "/chat/" in path or "/responses" in path:
            api = Chat()
        sentence = f"The rehearsal server has nothing at {request.method} {path}"
        return failure(api, 404, "bad_request", sentence)

    async def _read(self, request: Request, api: Api, in_path: Mapping[str, Any]) -> Asked:
        """Raises `ValueError` with a sentence."""
        raw = bytearray()
        async for piece in request.stream():
            raw += piece
            if len(raw) > BODY_BYTES:
                raise ValueError(f"The body is larger than {BODY_BYTES} bytes")
        return await to_thread.run_sync(
            _understood, bytes(raw), api, in_path, limiter=self._thinkers
        )

    async def _reply(self, trial: Trial, asked: Asked, fault: str | None) -> Reply:
        stop: Stop = "refusal" if fault == "refusal" else "end"
        message = Message(role="assistant")
        if fault not in ("refusal", "empty-answer"):
            message = await to_thread.run_sync(think, asked, trial.memory, limiter=self._thinkers)
            stop = "tools" if message.calls else "end"
        return Reply(
            id=f"rehearsal{next(self._ids):06}",
            model=asked.model,
            message=message,
            usage=replace(trial.sent(asked), output=tokens.produced(message)),
            stop=stop,
            wire=asked.wire,
        )


def application(faults: Sequence[Fault]) -> Starlette:
    """The server as an ASGI application."""
    server = Server(faults)

    def answering(api: Api) -> Endpoint:
        return partial(server.answer, api=api)

    trial, post = "/trial/{trial}", ["POST"]
    routes = [
        Route("/", _hello),
        Route(trial, _hello),
        Route(f"{trial}/", _hello),
        Route(f"{trial}/seen", server.seen),
        Route(f"{trial}/v1/models", _models),
        Route(f"{trial}/v1/messages", answering(Messages()), methods=post),
        Route(
            f"{trial}/v1/messages/count_tokens",
            partial(server.count, api=Messages()),
            methods=post,
        ),
        Route(f"{trial}/v1/responses", answering(Responses()), methods=post),
        Route(f"{trial}/v1/chat/completions", answering(Chat()), methods=post),
        Route(f"{trial}/v1beta/models/{{model}}", server.gemini, methods=post),
        Route("/{path:path}", _hello, methods=["HEAD"]),
        Route("/{path:path}", server.unknown, methods=METHODS),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return app


async def _hello(_request: Request) -> Delivery:
    """Programs look whether somebody is there."""
    return as_json({"service": NAME})


async def _models(_request: Request) -> Delivery:
    """A list in the shape of all providers, and empty: any name will do."""
    return as_json({"object": "list", "data": [], "has_more": False})


def as_json(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Delivery:
    body = json.dumps(content, separators=(",", ":")).encode()
    return Delivery(body=body, status=status, headers=headers or {})


def failure(api: Api, status: int, kind: str, sentence: str) -> Delivery:
    return as_json(api.error(status, kind, sentence), status)


def _failed(api: Api, fault: str) -> Delivery:
    played = FAILURES[fault]
    status = played.status
    if played.kind == "overloaded" and isinstance(api, Messages):
        status = OVERLOADED
    sentence = f"(The rehearsal server plays the fault {fault}.)"
    return as_json(api.error(status, played.kind, sentence), status, played.headers)


def _delivered(api: Api, reply: Reply, fault: str | None, *, is_stream: bool) -> Delivery:
    whole = (
        Delivery(body="".join(api.events(reply)).encode(), media_type=EVENTS)
        if is_stream
        else as_json(api.answer(reply))
    )
    return replace(
        whole,
        silence=SLOW_SECONDS if fault == "slow-first-token" else 0,
        is_broken=fault == "broken-stream",
    )


def _understood(raw: bytes, api: Api, in_path: Mapping[str, Any]) -> Asked:
    """Raises `ValueError` with a sentence."""
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise ValueError(f"The body is not JSON: {error}") from error
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(body, dict):
        raise ValueError("The body is not a JSON object")
    try:
        return api.read({**body, **in_path})
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> ValueError:
    return ValueError("The body is nested too deeply")
