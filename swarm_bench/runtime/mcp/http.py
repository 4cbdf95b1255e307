"""MCP over HTTP, beneath the SDK's transport, which does not report the status of an answer, and
leaves ended sessions and servers that ask to wait to its user.

What is asked again: whatever a server says that it did not do (429, 503, and a session that is
gone), or that never reached it (no connection). What may have been done, as a connection that broke
or a gateway that heard nothing (502, 504), is asked again only where that changes nothing.
A 500 is not: what a server cannot do it mostly cannot do the next time either.
"""

import json
import math
import re
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectSendStream
from mcp.client._transport import ReadStream, TransportStreams
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client
from mcp.shared.message import SessionMessage

from swarm_bench.runtime.mcp.bodies import (
    JSON,
    PendingCall,
    Unanswered,
    build_failure,
    kind_of_body,
    make_readable,
)
from swarm_bench.runtime.mcp.lines import is_passed_over, replace_unknown_blocks
from swarm_bench.runtime.mcp.stdio import LONGEST_MESSAGE
from swarm_bench.runtime.retry_after import seconds_until

_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NOT_DONE, _UNKNOWN = (425, 429, 503, 529), (408, 502, 504, *range(520, 531))
_TURNED_AWAY = (401, 402, 403, 407, 408, 425, 429)
"""Statuses that concern the caller, as do all from 500 on, and not the call."""
_MOST_TRIES = 6
_FIRST_PAUSE = 0.5
"""Seconds before a request is sent again, where the server names none; they double."""
_LONGEST_WAIT = 120.0
"""Seconds that a server can ask for."""
_LONGEST_WORDS = 1000
"""Bytes of what is said of trouble."""
_Item = SessionMessage | Exception
_ENDED_SESSION = (404, 410)
_OF_SESSIONS = (400, 403, 422, 500)
ENDED_SESSION = re.compile(
    r"session\b.{0,60}\b(?:not found|terminated|expired|invalid|unknown|closed|ended|not exist|"
    r"not valid|no longer|timed out|deleted|destroyed|gone|lost)\b|"
    r"(?:no valid|no active|no such|not find|invalid|unknown|expired|missing|bad) "
    r"(?:mcp[- ])?session\b|session[ _]not[ _]found|session[ _-]?id (?:is )?(?:required|missing)|"
    r"\bno session(?: id)?(?:[.:,]|$| (?:found|exists|given|provided))|"
    r"no transport (?:was )?found for session|server (?:is )?not (?:yet )?initiali[sz]ed|"
    r"before initiali[sz]ation|expect(?:ed|s|ing)? (?:an? )?initiali[sz]e request",
    re.IGNORECASE,
)
"""Messages of servers about a session that is gone, in the words of several SDKs."""
_SESSION = re.compile(r"session|initiali[sz]", re.IGNORECASE)
"""Words that are enough beside a status that servers have for a session that is gone."""


class HttpServer(httpx2.AsyncClient):
    """A client of one server, which asks again where it may."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None,
        secrets: Collection[str] | None = None,
    ) -> None:
        self.url, self._secrets = url, secrets
        super().__init__(
            headers=headers,
            timeout=_TIMEOUT,
            follow_redirects=True,
            trust_env=urlsplit(url).hostname not in _LOOPBACK,  # no proxy can reach those
        )
        self._refusal: str | None = None
        """Reason why the last request was refused."""
        self.turns_away = False
        """Whether that concerns the caller, or all that it does, and not the call."""
        self.waiting_seconds = 0.0
        """Seconds since a call began that were not the server's: until it may be asked again, and
        for another session."""
        self._deadline = math.inf
        self._may_repeat = True
        self._greeting: httpx2.Request | None = None
        self._session: str | None = None

    def begin(self, deadline: float, *, may_repeat: bool) -> None:
        """Note that a call is made which ends by then, and whether it may be made twice."""
        self._refusal, self.turns_away, self.waiting_seconds = None, False, 0.0
        self._deadline, self._may_repeat = deadline, may_repeat

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[TransportStreams, None]:
        """Exchange messages for the block."""
        async with (
            self,
            streamable_http_client(
                self.url, http_client=self, max_sse_event_size=LONGEST_MESSAGE
            ) as (incoming, outgoing),
        ):
            replies, relayed = anyio.create_memory_object_stream[_Item](0)
            async with anyio.create_task_group() as group:
                group.start_soon(_relay, incoming, replies)
                try:
                    yield relayed, outgoing
                finally:
                    group.cancel_scope.cancel()

    def other_output(self) -> str | None:
        """Return the status and the words with which the last request was refused, as a clause."""
        return self._refusal

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request, and again where it was not done. Raises what httpx2 raises."""
        await request.aread()  # one that follows a redirect has not been read
        message = _read_message(request)
        if message.get("method") == "initialize":
            self._greeting = request
        if "method" not in message or "id" not in message:
            return await self._notify(request, options)
        call = PendingCall(id=message["id"], secrets=self._secrets)
        response = await self._send_until_done(request, call, options)
        if request is self._greeting and response.is_success:
            self._session = response.headers.get(MCP_SESSION_ID)
        return response

    async def _notify(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        """Send what has no answer. Where that fails, the next call will say so: the SDK would end
        with all that waits for it."""
        try:
            return await super().send(self._set_session(request), **options)
        except httpx2.HTTPError:
            if request.method != "POST":
                raise
            return httpx2.Response(202, request=request)

    async def _send_until_done(
        self, request: httpx2.Request, call: PendingCall, options: dict[str, Any]
    ) -> httpx2.Response:
        """Send a request until it is done, refused for good, or the connection broke twice."""
        pause, has_broken, has_renewed = _FIRST_PAUSE, False, False
        for tries in range(1, _MOST_TRIES + 1):
            try:
                response = await super().send(self._set_session(request), **options)
                response = await make_readable(response, call)
                self._refusal = await _describe_refusal(response)
                self.turns_away = response.status_code in _TURNED_AWAY or response.is_server_error
                if not has_renewed and await self._has_ended(request, response):
                    has_renewed = True
                    await response.aclose()
                    await self._renew(request)
                    continue
            except httpx2.HTTPError as error:
                if has_broken or not self._may_send_again(error):
                    self._refusal = " ".join(str(error).split()) or type(error).__name__
                    self.turns_away = not isinstance(error, Unanswered)
                    return build_failure(self._refusal, call, request)
                has_broken = True
                await self._wait(pause)
                continue
            wait = self._find_pause(response, pause)
            if wait is None or tries == _MOST_TRIES:
                break
            await response.aclose()
            await self._wait(wait)
            pause *= 2
        return response

    def _may_send_again(self, error: httpx2.HTTPError) -> bool:
        """Tell whether a request may be sent again whose connection broke: it was not reached, or
        changes nothing."""
        if isinstance(error, httpx2.ConnectError):
            return True
        broke = isinstance(error, httpx2.NetworkError | httpx2.RemoteProtocolError)
        return broke and self._may_repeat

    def _set_session(self, request: httpx2.Request) -> httpx2.Request:
        """Put a request into the session that there is now; the SDK knows the first one."""
        if MCP_SESSION_ID in request.headers and request is not self._greeting:
            if self._session is None:
                del request.headers[MCP_SESSION_ID]
            else:
                request.headers[MCP_SESSION_ID] = self._session
        return request

    async def _has_ended(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """Tell whether the session of a request is gone, or may be. Servers say so by 404, as they
        should, or by another status and in words."""
        if MCP_SESSION_ID not in request.headers or self._greeting is None:
            return False
        status, explanation = response.status_code, _find_explanation(response)
        if status in _ENDED_SESSION or ENDED_SESSION.search(explanation):
            return True
        is_refused = status in _OF_SESSIONS and (status < 500 or self._may_repeat)
        return is_refused and _SESSION.search(explanation) is not None

    async def _renew(self, request: httpx2.Request) -> None:
        """Open another session, as the first one was opened."""
        assert self._greeting is not None
        begin = anyio.current_time()
        response = await super().send(self._greeting, stream=True, follow_redirects=False)
        try:
            async for line in response.aiter_lines():
                if '"result"' in line or '"error"' in line:
                    break  # a stream may stay open
        finally:
            await response.aclose()
        if response.is_success:
            self._session = response.headers.get(MCP_SESSION_ID)
            thanks = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            headers = httpx2.Headers(request.headers)
            del headers["content-length"]
            notice = self.build_request("POST", request.url, json=thanks, headers=headers)
            await super().send(self._set_session(notice))
        self.waiting_seconds += anyio.current_time() - begin

    def _find_pause(self, response: httpx2.Response, seconds: float) -> float | None:
        """Return after how many seconds a request may be sent again; `None` for one that was done,
        or where the call would be too late then."""
        status = response.status_code
        if status not in _NOT_DONE and not (status in _UNKNOWN and self._may_repeat):
            return None
        requested = seconds_until(response.headers.get("retry-after", ""))
        wait = seconds if requested is None else requested
        in_time = wait <= _LONGEST_WAIT and anyio.current_time() + wait < self._deadline
        return wait if in_time else None

    async def _wait(self, seconds: float) -> None:
        begin = anyio.current_time()
        try:
            await anyio.sleep(seconds)
        finally:
            self.waiting_seconds += anyio.current_time() - begin


async def _relay(incoming: ReadStream[_Item], replies: MemoryObjectSendStream[_Item]) -> None:
    with replies:
        async for item in incoming:
            if isinstance(item, SessionMessage):
                replace_unknown_blocks(item.message)
                if is_passed_over(item.message):
                    continue
            await replies.send(item)


def _read_message(request: httpx2.Request) -> Mapping[str, Any]:
    """Return the message that a request sends; an empty one for any other."""
    if request.method != "POST":
        return {}
    value = json.loads(request.content)
    return value if isinstance(value, dict) else {}


async def _describe_refusal(response: httpx2.Response) -> str | None:
    """Say that a request was refused, with what is said of it; `None` for one that was not."""
    if kind_of_body(response) in (JSON, "text/plain"):
        await response.aread()
    if response.status_code < 400:
        return None
    status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
    requested = response.headers.get("retry-after")
    wait = f" (Retry-After: {requested})" if requested else ""
    explanation = _find_explanation(response)
    return f"{status}{wait}{f': {explanation}' if explanation else ''}"


def _find_explanation(response: httpx2.Response) -> str:
    """Return what an answer says of its trouble, in one line; empty for a page, or one that is too
    long: what cuts it could cut a secret."""
    if not response.is_stream_consumed or len(response.content) > _LONGEST_WORDS:
        return ""
    value: Any = response.text
    if kind_of_body(response) == JSON:
        value = _inside(value, "error", "message", "detail", "code") or ""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _inside(text: str, *keys: str) -> object:
    """Return the text that the innermost of the keys has in JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    while isinstance(value, dict):
        value = next((value[key] for key in keys if value.get(key)), None)
    return value
