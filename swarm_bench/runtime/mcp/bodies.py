"""Makes what servers answer over HTTP such as the SDK can read: it refuses bytes that are no UTF-8,
marks, halves of characters, batches, events that break and answers that name no call, which other
clients read; and it waits for an answer that is not one."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass

import anyio
import httpx2
from mcp.client.streamable_http import MCP_SESSION_ID
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCResponse

from swarm_bench.runtime.mcp.lines import quote_output, read_messages
from swarm_bench.runtime.mcp.stdio import LONGEST_MESSAGE, dump_message

JSON = "application/json"
_EVENTS = "text/event-stream"
_Answer = JSONRPCResponse | JSONRPCError


class Unanswered(httpx2.RemoteProtocolError):
    """A stream of events ended before the answer was in it."""


@dataclass(frozen=True, kw_only=True)
class PendingCall:
    """The call that is to be answered."""

    id: int | str
    secrets: Collection[str] | None
    """Secrets to remove from what is quoted; `None` if none are known."""

    def find_answer(self, messages: list[JSONRPCMessage]) -> _Answer | None:
        """Return the answer to the call: one by its id, or an error, as servers give it that do not
        know of whose."""
        answers = [
            message for message in messages if isinstance(message, JSONRPCResponse | JSONRPCError)
        ]
        by_id = (message for message in answers if str(message.id) == str(self.id))
        answer = next(
            by_id, next((message for message in answers if isinstance(message, JSONRPCError)), None)
        )
        return answer and answer.model_copy(update={"id": self.id})

    def build_unread_error(self, content: bytes, problem: str) -> JSONRPCError:
        """Make an error of what is no answer."""
        clause = f"it answered {quote_output(content, self.secrets)}, which is not MCP"
        return self.build_error(f"{clause}: {problem}" if problem else clause)

    def build_error(self, clause: str) -> JSONRPCError:
        """Make an error of the call."""
        error = ErrorData(code=PARSE_ERROR, message=clause)
        return JSONRPCError(jsonrpc="2.0", id=self.id, error=error)


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """An event, as it is written anew."""

    content: bytes
    speaks: bool
    """Whether it has a message."""
    answer: _Answer | None = None


class _Events(httpx2.AsyncByteStream):
    """Events that are written anew, as they come."""

    def __init__(
        self, response: httpx2.Response, earlier: list[bytes], pieces: AsyncIterator[_Piece]
    ) -> None:
        self._response, self._before, self._pieces = response, earlier, pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for content in self._before:
            yield content
        async for piece in self._pieces:
            yield piece.content

    async def aclose(self) -> None:
        await self._response.aclose()


async def make_readable(response: httpx2.Response, call: PendingCall) -> httpx2.Response:
    """Return an answer as the SDK can read it, and as JSON where nothing comes before it. A refusal
    stays as it is."""
    if not response.is_success:
        return response
    if kind_of_body(response) == _EVENTS:
        return await _read_events(response, call)
    await response.aread()
    messages, problem = read_messages(response.content)
    answer = call.find_answer(messages)
    if answer is None and not response.content.strip():
        status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        answer = call.build_error(f"{status} without an answer")
    elif answer is None:
        answer = call.build_unread_error(response.content, problem or _describe_other(messages))
    return _build_response(answer, response)


def kind_of_body(response: httpx2.Response) -> str:
    """Return the type of what is answered; empty where none is named."""
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


async def _read_events(response: httpx2.Response, call: PendingCall) -> httpx2.Response:
    """Wait for the first message. One that is no answer, as a question of the server, is handed on
    with all that follow; so are events without one, after which the SDK may ask for the rest."""
    response.encoding = "utf-8-sig"  # whatever is named: events have no other
    pieces, earlier = _read_pieces(response, call), list[bytes]()
    try:
        async for piece in pieces:
            if piece.answer is not None:
                await response.aclose()
                return _build_response(piece.answer, response)
            earlier.append(piece.content)
            if piece.speaks:
                break
        else:
            raise Unanswered("its stream of events ended without an answer")
    except httpx2.SSEError as error:
        await response.aclose()
        return _build_response(call.build_error(str(error)), response)
    except (httpx2.ReadError, httpx2.RemoteProtocolError):
        if not any(content.startswith(b"id: ") for content in earlier):
            await response.aclose()
            raise  # else the SDK asks for the rest
    except BaseException:
        with anyio.CancelScope(shield=True):
            await response.aclose()
        raise
    return httpx2.Response(
        200,
        headers=_build_headers(response, _EVENTS),
        stream=_Events(response, earlier, pieces),
        request=response.request,
    )


async def _read_pieces(response: httpx2.Response, call: PendingCall) -> AsyncIterator[_Piece]:
    """Read events up to the answer; an error where one of them broke, and none followed."""
    broken: JSONRPCError | None = None
    source = aiter(httpx2.EventSource(response, max_event_size=LONGEST_MESSAGE))
    async for event in source:
        head = f"id: {event.id}\n" if event.id else ""
        head += f"retry: {event.retry}\n" if event.retry is not None else ""
        data = event.data.encode() if event.event == "message" else b""
        messages, problem = read_messages(data)
        answer = call.find_answer(messages)
        if answer is None and (problem is not None or _describe_other(messages)):
            broken = broken or call.build_unread_error(data, problem or _describe_other(messages))
            messages = [message for message in messages if not isinstance(message, JSONRPCResponse)]
        texts = [dump_message(message) for message in ([answer] if answer else messages)] or [""]
        content = "".join(f"{head}data: {text}\n\n" for text in texts).encode()
        yield _Piece(content=content, speaks=bool(messages), answer=answer)
        if answer is not None:
            return
    if broken is not None:
        yield _Piece(
            content=f"data: {dump_message(broken)}\n\n".encode(), speaks=True, answer=broken
        )


def build_failure(clause: str, call: PendingCall, request: httpx2.Request) -> httpx2.Response:
    """Make an answer of what came instead of one."""
    return _build_response(call.build_error(clause), httpx2.Response(200, request=request))


def _describe_other(messages: list[JSONRPCMessage]) -> str:
    is_answer = any(isinstance(message, JSONRPCResponse) for message in messages)
    return "it is the answer to another call" if is_answer else ""


def _build_response(answer: _Answer, response: httpx2.Response) -> httpx2.Response:
    headers = _build_headers(response, JSON)
    return httpx2.Response(
        200, headers=headers, content=dump_message(answer).encode(), request=response.request
    )


def _build_headers(response: httpx2.Response, kind: str) -> dict[str, str]:
    session = response.headers.get(MCP_SESSION_ID)
    return {"content-type": kind, **({MCP_SESSION_ID: session} if session else {})}
