"""The rehearsal server: every API, answered by one set of fixed rules.

Below `/trial/<id>` each agent has an address of its own, and what it asked is counted under it.
An answer is sent whole, or in the way in which providers fail to send one.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, Protocol, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from swarm_bench.core.ports import Message
from swarm_bench.models.rehearsal.faults import FAULTS, Change, ErrorKind, Failure, Fault
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Api, Reply
from swarm_bench.programs.rehearsal.apis.chat import Chat
from swarm_bench.programs.rehearsal.apis.completions import Completions
from swarm_bench.programs.rehearsal.apis.gemini import Gemini
from swarm_bench.programs.rehearsal.apis.messages import Messages
from swarm_bench.programs.rehearsal.apis.responses import Responses
from swarm_bench.programs.rehearsal.thinking.policy import think
from swarm_bench.programs.rehearsal.trials import Sizes, Trial
from swarm_bench.text import tokens

JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A response, as an ASGI application."""

    body: bytes
    media_type: str = JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    silence: float = 0
    """Seconds between the head and the first byte of the body."""
    is_broken: bool = False
    """Whether the connection is closed in the middle of the body."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        headers = {"content-type": self.media_type, **self.headers}
        if self.media_type == JSON:  # a stream does not know its length
            headers["content-length"] = str(len(self.body))
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": raw})
        await anyio.sleep(self.silence)
        if self.is_broken:
            # uvicorn closes the connection of an application that ends before its response does.
            first_half = self.body[: len(self.body) // 2]
            await send({"type": "http.response.body", "body": first_half, "more_body": True})
        else:
            await send({"type": "http.response.body", "body": self.body})


NAME = "swarm-bench rehearsal"
NEVER_ASKED = "This trial never asked"
BODY_BYTES = 16 * 1024 * 1024
THREADS = 2
"""Requests that are thought about at once: the machine is there for the agents."""
DEFECT = "(This is a defect of the rehearsal server's own: {}. Its log has the place.)"
CUT = "To answer this, I will first look for"
"""The rest of a message with calls that is cut off."""
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

_T = TypeVar("_T")
Endpoint = Callable[[Request], Awaitable[Delivery]]

_log = logging.getLogger(__name__)


class _NotARequest(ValueError):
    """One sentence on why a body is no request of an API."""


class _Counting(Api, Protocol):
    """An API that can be asked for the size of a prompt."""

    def write_count(self, tokens: int) -> dict[str, Any]: ...


class Server:
    """The handlers behind the routes."""

    def __init__(self, faults: Sequence[Fault], instructions: Sequence[str] = ()) -> None:
        self._faults = faults
        self._instructions = instructions
        self._trials: defaultdict[str, Trial] = defaultdict(Trial)
        self._thinkers = CapacityLimiter(THREADS)
        self._ids = count(1)

    async def answer(
        self, request: Request, api: Api, in_path: Mapping[str, Any] | None = None
    ) -> Delivery:
        """Answer a request. `in_path` is what the address says beside the body."""

        async def work(raw: bytes) -> Delivery:
            agent_request, sizes = await self._in_thread(
                partial(_read_request, raw, api, in_path or {})
            )
            return await self._answer(request, api, agent_request, sizes)

        return await self._guard(request, api, work)

    async def count(
        self, request: Request, api: _Counting, in_path: Mapping[str, Any] | None = None
    ) -> Delivery:
        """Answer a request for the size of a prompt."""

        async def work(raw: bytes) -> Delivery:
            _, sizes = await self._in_thread(partial(_read_request, raw, api, in_path or {}))
            return json_delivery(api.write_count(sizes.tokens))

        return await self._guard(request, api, work)

    async def gemini(self, request: Request) -> Delivery:
        """Answer requests about a model of Gemini's: the path ends in `:<what to do>`."""
        model, _, verb = request.path_params["model"].rpartition(":")
        in_path = {
            "model": model,
            "stream": verb == "streamGenerateContent",
            "alt": request.query_params.get("alt"),
        }
        match verb:
            case "countTokens":
                return await self.count(request, Gemini(), in_path)
            case "generateContent" | "streamGenerateContent":
                return await self.answer(request, Gemini(), in_path)
        return await self.unknown(request)

    async def traffic(self, request: Request) -> Delivery:
        """Answer what the agent asked so far, as `Traffic` has it."""
        trial = self._trials.get(request.path_params["trial"])
        if trial is None:
            return json_delivery({"error": NEVER_ASKED}, status=404)
        return json_delivery(trial.traffic())

    async def unknown(self, request: Request) -> Delivery:
        """Refuse what no API here has, and log what the program looked for."""
        path = request.url.path
        _log.warning("not played here: %s %s", request.method, path)
        api: Api = Messages()
        if "/v1beta/" in path:
            api = Gemini()
        elif "completions" in path or "/responses" in path:
            api = Chat()
        sentence = f"The rehearsal server has nothing at {request.method} {path}"
        return failure(api, 404, "not_found", sentence)

    async def _guard(
        self, request: Request, api: Api, work: Callable[[bytes], Awaitable[Delivery]]
    ) -> Delivery:
        """Answer errors in the words of the API: programs do not show what a plain text says."""
        try:
            raw = await _body(request)
            if raw is None:
                sentence = f"The body is larger than {BODY_BYTES} bytes."
                return failure(api, 413, "too_large", sentence)
            return await work(raw)
        except _NotARequest as error:
            return failure(api, 400, "bad_request", str(error))
        except Exception as error:  # noqa: BLE001  # no defect of ours may look like a program's
            _log.exception("failed at %s", request.url.path)
            self._trials[request.path_params["trial"]].errors += 1
            return failure(api, 500, "server_error", DEFECT.format(type(error).__name__))

    async def _answer(
        self, request: Request, api: Api, agent_request: AgentRequest, sizes: Sizes
    ) -> Delivery:
        trial = self._trials[request.path_params["trial"]]
        fault = trial.begin(sizes, self._faults)
        if fault is not None:
            _log.warning("plays %s for %s", fault, request.url.path)
        change = FAULTS[fault].effect if fault is not None else Change()
        if isinstance(change, Failure):
            return _answer_failure(api, change, f"(The rehearsal server plays the fault {fault}.)")
        async with trial.lock:
            return await self._in_thread(
                partial(self._think, trial, api, agent_request, sizes, change)
            )

    def _think(
        self, trial: Trial, api: Api, agent_request: AgentRequest, sizes: Sizes, change: Change
    ) -> Delivery:
        """Write the answer. This runs in a thread, because it takes time with a long prompt."""
        message = Message(role="assistant")
        if not change.is_empty:
            message = think(agent_request, trial.memory, self._instructions)
        if change.stop == "length":
            message = _cut(message)
        reply = Reply(
            id=f"rehearsal{next(self._ids):06}",
            model=agent_request.model,
            message=message,
            usage=replace(
                trial.count_usage(agent_request.model, sizes), output=tokens.count_produced(message)
            ),
            stop=change.stop or ("tools" if message.calls else "end"),
            echo=agent_request.echo,
        )
        complete = (
            Delivery(
                body="".join(api.events(reply)).encode(),
                media_type=reply.echo.get("media_type", EVENTS),
            )
            if agent_request.stream
            else json_delivery(api.answer(reply))
        )
        return replace(complete, silence=change.silence, is_broken=change.is_broken)

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        return await to_thread.run_sync(work, limiter=self._thinkers)


def application(faults: Sequence[Fault], instructions: Sequence[str] = ()) -> Starlette:
    """Build the server as an ASGI application. `instructions` are what the modes put before a
    task."""
    server = Server(faults, instructions)

    def answering(api: Api) -> Endpoint:
        return partial(server.answer, api=api)

    trial, post = "/trial/{trial}", ["POST"]
    routes = [
        Route("/", _hello),
        Route(trial, _hello),
        Route(f"{trial}/", _hello),
        Route(f"{trial}/traffic", server.traffic),
        Route(f"{trial}/v1/models", _models),
        Route(f"{trial}/v1/messages", answering(Messages()), methods=post),
        Route(
            f"{trial}/v1/messages/count_tokens",
            partial(server.count, api=Messages()),
            methods=post,
        ),
        Route(f"{trial}/v1/responses", answering(Responses()), methods=post),
        Route(
            f"{trial}/v1/responses/input_tokens",
            partial(server.count, api=Responses()),
            methods=post,
        ),
        Route(f"{trial}/v1/chat/completions", answering(Chat()), methods=post),
        Route(f"{trial}/v1/completions", answering(Completions()), methods=post),
        Route(f"{trial}/v1beta/models/{{model}}", server.gemini, methods=post),
        Route("/{path:path}", _hello, methods=["HEAD"]),
        Route("/{path:path}", server.unknown, methods=METHODS),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return app


async def _hello(_request: Request) -> Delivery:
    """Answer programs that check whether a server listens."""
    return json_delivery({"service": NAME})


async def _models(_request: Request) -> Delivery:
    """Return an empty list in the shape of all providers: any name will do."""
    return json_delivery({"object": "list", "data": [], "has_more": False})


def json_delivery(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Delivery:
    body = json.dumps(content, separators=(",", ":")).encode()
    return Delivery(body=body, status=status, headers=headers or {})


def failure(api: Api, status: int, kind: ErrorKind, sentence: str) -> Delivery:
    return json_delivery(api.error(status, kind, sentence), status)


def _answer_failure(api: Api, failure_kind: Failure, sentence: str) -> Delivery:
    status = api.statuses.get(failure_kind.kind, failure_kind.status)
    body = api.error(status, failure_kind.kind, sentence, failure_kind.retry_seconds)
    seconds = failure_kind.retry_seconds
    is_in_body = isinstance(api, Gemini)
    headers = {} if seconds is None or is_in_body else {"retry-after": str(seconds)}
    return json_delivery(body, status, headers)


def _cut(message: Message) -> Message:
    """Keep what had been written of a message when the limit was reached; of calls it is nothing
    that can be called."""
    text = message.text[: len(message.text) // 2] if message.text else CUT
    return Message(role="assistant", text=text)


async def _body(request: Request) -> bytes | None:
    """Read the body; `None` when it is too large: then it was read and not kept, so that the client
    has sent it and listens. Raises `_NotARequest` when it ends in the middle."""
    raw, length = bytearray(), 0
    try:
        async for piece in request.stream():
            length += len(piece)
            if length <= BODY_BYTES:
                raw += piece
    except ClientDisconnect:
        raise _NotARequest("The body is not complete") from None
    return bytes(raw) if length <= BODY_BYTES else None


def _read_request(raw: bytes, api: Api, in_path: Mapping[str, Any]) -> tuple[AgentRequest, Sizes]:
    """Parse and measure a request. Raises `_NotARequest` with a sentence."""
    try:
        body = json.loads(raw)
        if not isinstance(body, dict):
            raise ValueError("The body is not a JSON object")
        agent_request = api.read({**body, **in_path})
        return agent_request, Sizes.measure(agent_request)
    except json.JSONDecodeError as error:
        raise _NotARequest(f"The body is not JSON: {error}") from error
    except ValueError as error:
        raise _NotARequest(str(error)) from error
    except RecursionError:
        raise _NotARequest("The body is nested too deeply") from None
