"""A model behind an API for chats (`/v1/chat/completions`), as OpenAI and many others speak it."""

import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
from pydantic import BaseModel, Field, ValidationError

from swarm_bench.config.addresses import without_logins
from swarm_bench.core.errors import ModelFailed, NotAuthorized, UsageError
from swarm_bench.core.language_model import Reply
from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message
from swarm_bench.runtime.sink import clean_text

if TYPE_CHECKING:
    import httpx2

ATTEMPTS = 3
LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is asked again in a later call."""
MOST_BYTES = 8 * 1024 * 1024
"""Of an answer."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""States of a server that can be others a moment later."""
_MOST_TOKENS = 2**53
_LONGEST_REASON = 200
"""Characters of what a server says of its own trouble."""


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message


class _Details(BaseModel):
    cached_tokens: int | None = Field(default=None, ge=0, le=_MOST_TOKENS)


class _Usage(BaseModel):
    prompt_tokens: int = Field(ge=0, le=_MOST_TOKENS)
    completion_tokens: int = Field(ge=0, le=_MOST_TOKENS)
    prompt_tokens_details: _Details | None = None


class _Answer(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


@dataclass(frozen=True, kw_only=True)
class ChatServer:
    """A model, and how its server is asked."""

    name: str
    url: str
    """The part of all its addresses, as `http://127.0.0.1:8080/v1`."""
    timeout: float
    """Seconds for a request."""
    key: str = field(repr=False)
    """Empty where it needs none."""
    client: "httpx2.AsyncClient" = field(repr=False)

    async def complete(self, messages: Sequence[Message]) -> Reply:
        """Ask it once; again when it is busy, and after a time that it may name."""
        for number in range(1, ATTEMPTS + 1):
            try:
                answer = await self._asked(messages)
                return reply_in(answer, number)
            except _Busy as busy:
                if number == ATTEMPTS or busy.seconds > LONGEST_WAIT:
                    raise self._failed(busy.reason) from busy
                await anyio.sleep(max(busy.seconds, random.uniform(0.5, 1.0) * 2 ** (number - 1)))
            except ValidationError as error:
                raise self._failed("answers with what is no chat completion") from error
        raise AssertionError("the last attempt returns or raises")

    async def _asked(self, messages: Sequence[Message]) -> bytes:
        """Make one request. Raises `_Busy` where another one may do."""
        import httpx2

        body = {
            "model": self.name,
            "messages": [{"role": message.role, "content": message.text} for message in messages],
        }
        try:
            with anyio.fail_after(self.timeout):
                async with self.client.stream(
                    "POST", f"{self.url}/chat/completions", json=body
                ) as response:
                    content = bytearray()
                    async for piece in response.aiter_bytes():
                        content += piece
                        if len(content) > MOST_BYTES:
                            raise self._failed("sends an answer without end")
        except TimeoutError as error:
            raise self._failed(f"did not answer within {self.timeout:g} s") from error
        except httpx2.HTTPError as error:
            raise _Busy(f"cannot be asked ({type(error).__name__}: {error})", 0) from error
        self._check(response, bytes(content))
        return bytes(content)

    def _check(self, response: "httpx2.Response", content: bytes) -> None:
        """Raise for any state but that of an answer."""
        state = response.status_code
        if state == 200:
            return
        reason = f"answers with HTTP {state}{_explanation(content)}"
        if state in _BUSY:
            raise _Busy(reason, _seconds(response.headers.get("retry-after", "")))
        if state in (401, 403):
            raise NotAuthorized(f"{self._sentence(reason)}; check the key, and ask again")
        if state == 404:
            raise UsageError(f"{self._sentence(reason)}; check the address and the model's name")
        raise self._failed(reason)

    def _failed(self, reason: str) -> ModelFailed:
        return ModelFailed(self._sentence(reason))

    def _sentence(self, reason: str) -> str:
        """Say what the server did; it may quote the key."""
        return clean_text(f"{self.name} at {without_logins(self.url)} {reason}", (self.key,))


class _Busy(Exception):
    """A request that another one may do better."""

    def __init__(self, reason: str, seconds: float) -> None:
        """`seconds`: how long the server asks to wait."""
        super().__init__(reason)
        self.reason, self.seconds = reason, seconds


@asynccontextmanager
async def chat_server(
    name: str, url: str, *, key: str = "", timeout: float = 120
) -> AsyncIterator[ChatServer]:
    """Open the connections to a server for the block. No redirection is followed: a key is for one
    server. Raises `UsageError` for an address that is none, and for one where anybody on the way
    could read the key."""
    import httpx2  # 35 ms, and most calls ask no model

    address = urlsplit(url)
    loopback = address.hostname in _LOOPBACK
    more = address.username or address.query or address.fragment
    if address.scheme not in ("http", "https") or not address.hostname or more:
        raise UsageError(
            f"{without_logins(url)} is no address of a server; write it as "
            "http://127.0.0.1:8080/v1, with nothing behind it"
        )
    if key and address.scheme == "http" and not loopback:
        raise UsageError(
            f"The key would go to {without_logins(url)} unencrypted; use https, or omit the key"
        )
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(
        headers=headers,
        timeout=timeout,
        trust_env=not loopback,  # no proxy can reach those
    ) as client:
        base = url.rstrip("/") if address.path.strip("/") else f"{url.rstrip('/')}/v1"
        yield ChatServer(name=name, url=base, timeout=timeout, key=key, client=client)


def reply_in(content: bytes, requests: int) -> Reply:
    """Read an answer. Raises `ValidationError`."""
    answer = _Answer.model_validate_json(content)
    return Reply(
        text=answer.choices[0].message.content or "",
        usage=_usage(answer.usage),
        requests=requests,
    )


def _usage(stated: Any) -> Usage:
    """Read what an answer says that it took; a server that names no cached tokens bills all
    alike."""
    try:
        usage = _Usage.model_validate(stated)
    except ValidationError:
        return Usage()
    cached = (usage.prompt_tokens_details or _Details()).cached_tokens or 0
    sent = max(0, usage.prompt_tokens - cached)
    return Usage(input=sent, cache_read=cached, cache_create=0, output=usage.completion_tokens)


def _explanation(content: bytes) -> str:
    """Quote the server, if it gives a reason."""
    try:
        error = json.loads(content)["error"]
        reason = error["message"] if isinstance(error, dict) else error
    except (ValueError, RecursionError, TypeError, KeyError):
        return ""
    return f' ("{str(reason)[:_LONGEST_REASON]}")'


def _seconds(wait: str) -> float:
    """Read a `Retry-After` in seconds; 0 for a date, which few servers send."""
    return float(wait) if wait.isascii() and wait.isdecimal() and len(wait) < 9 else 0
