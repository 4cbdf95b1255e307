"""A server that has models: one request, and another one where that may do."""

import json
import random
import re
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from swarm_bench.config.addresses import without_logins
from swarm_bench.core.errors import ModelFailed, NotAuthorized, UsageError
from swarm_bench.core.status import Cause
from swarm_bench.runtime.sink import clean_text

if TYPE_CHECKING:
    import httpx2

MODEL_KEY = "MODEL_API_KEY"
"""Variable with the key of a server that the user names."""
ATTEMPTS = 5
LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is asked again in a later call."""
MOST_BYTES = 8 * 1024 * 1024
"""Of an answer."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""States of a server that can be others a moment later."""
_LONGEST_REASON = 200
"""Characters of what a server says of its own trouble."""
_TOO_LONG = ("context length", "context_length", "context window", "too long", "context size")
"""What servers say of a prompt that does not fit."""
_UNABLE = ("does not support insert", "does not support chat", "does not support generate")
"""What Ollama says of a model that cannot be asked in a way."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a server answered, and what that took."""

    content: bytes
    requests: int
    seconds: float
    """Of the last request."""
    omitted: tuple[str, ...] = ()
    """Parts of the request that the server refuses by name."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """Where one model is asked."""

    name: str
    """Of the model."""
    url: str
    """The part of all its addresses, as `http://127.0.0.1:8080/v1`."""
    timeout: float
    """Seconds for a request."""
    key: str = field(repr=False)
    """Empty where it needs none."""
    client: "httpx2.AsyncClient" = field(repr=False)
    attempts: int = ATTEMPTS
    """Requests until it is busy no more."""
    _refused: set[str] = field(default_factory=set, repr=False)
    """Parts of a request that it refused by name, and gets no more."""

    async def post(
        self, path: str, body: Mapping[str, Any], optional: Collection[str] = ()
    ) -> Answer:
        """Make a request, without the `optional` parts of it that the server refuses by name.
        Raises `ModelFailed`; `NotAuthorized` and `UsageError` for what would fail every time."""
        while True:
            omitted = tuple(name for name in body if name in self._refused)
            rest = {name: value for name, value in body.items() if name not in omitted}
            try:
                return replace(await self._answered(path, rest), omitted=omitted)
            except ModelFailed as error:
                refused = _refused_in(error, [name for name in optional if name in rest])
                if refused is None:
                    raise
                self._refused.add(refused)

    async def _answered(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Make a request; again when the server is busy, and after a time that it may name."""
        for number in range(1, self.attempts + 1):
            began = anyio.current_time()
            try:
                content = await self._content(path, body)
                seconds = anyio.current_time() - began
                return Answer(content=content, requests=number, seconds=seconds)
            except ModelFailed as error:
                error.requests = number
                raise
            except _Busy as busy:
                if number == self.attempts or busy.seconds > LONGEST_WAIT:
                    raise self.failed(busy.reason, busy.cause, number) from busy
                await anyio.sleep(max(busy.seconds, random.uniform(0.5, 1.0) * 2 ** (number - 1)))
        raise AssertionError("the last attempt returns or raises")

    async def _content(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Make one request. Raises `_Busy` where another one may do."""
        import httpx2

        try:
            with anyio.fail_after(self.timeout):
                async with self.client.stream("POST", f"{self.url}{path}", json=body) as response:
                    content = bytearray()
                    async for piece in response.aiter_bytes():
                        content += piece
                        if len(content) > MOST_BYTES:
                            raise self.failed("sends an answer without end")
        except TimeoutError as error:
            reason = f"did not answer within {self.timeout:g} s"
            raise self.failed(reason, Cause.TIMEOUT) from error
        except httpx2.HTTPError as error:
            reason = f"cannot be asked ({type(error).__name__}: {error})"
            raise _Busy(reason, 0, Cause.PROVIDER_FAILED) from error
        self._check(response, bytes(content))
        return bytes(content)

    def _check(self, response: "httpx2.Response", content: bytes) -> None:
        """Raise for any state but that of an answer."""
        state = response.status_code
        if state == 200:
            return
        explanation = _explanation(content, self.key)
        reason = f"answers with HTTP {state}{explanation}"
        if state in _BUSY:
            cause = Cause.RATE_LIMITED if state == 429 else Cause.PROVIDER_FAILED
            raise _Busy(reason, _seconds(response.headers.get("retry-after", "")), cause)
        if state in (401, 403):
            raise NotAuthorized(f"{self._sentence(reason)}; check the key, and ask again")
        if state == 404:
            raise UsageError(f"{self._sentence(reason)}; check the address and the model's name")
        if state == 501 or any(clause in explanation for clause in _UNABLE):
            advice = "start a new session in another way (--property way=chat), or of another model"
            raise UsageError(f"{self._sentence(reason)}; {advice}")
        overflow = any(clause in explanation.lower() for clause in _TOO_LONG)
        if overflow:
            raise self.failed(reason, Cause.CONTEXT_OVERFLOW)
        raise _Refused(self._sentence(reason), explanation)

    def failed(
        self, reason: str, cause: Cause = Cause.PROVIDER_FAILED, requests: int = 1
    ) -> ModelFailed:
        """Make the error of a request, from a clause."""
        return ModelFailed(self._sentence(reason), cause, requests)

    def _sentence(self, reason: str) -> str:
        """Say what the server did; it may quote the key."""
        return clean_text(f"{self.name} at {without_logins(self.url)} {reason}", (self.key,))


class _Refused(ModelFailed):
    """A request that the server will not answer."""

    def __init__(self, sentence: str, explanation: str) -> None:
        """`explanation`: what the server says itself."""
        super().__init__(sentence, Cause.ERROR_RESULT)
        self.explanation = explanation


def _refused_in(error: ModelFailed, names: Collection[str]) -> str | None:
    """Return the part of a request that a server refuses by name; `None` where it names none."""
    text = error.explanation if isinstance(error, _Refused) else ""
    places = {name: re.search(rf"\b{name}\b", text) for name in names}
    named = {name: match.start() for name, match in places.items() if match}
    return min(named, key=lambda name: named[name], default=None)


class _Busy(Exception):
    """A request that another one may do better."""

    def __init__(self, reason: str, seconds: float, cause: Cause) -> None:
        """`seconds`: how long the server asks to wait."""
        super().__init__(reason)
        self.reason, self.seconds, self.cause = reason, seconds, cause


@asynccontextmanager
async def connected(
    name: str, url: str, *, key: str, timeout: float, headers: Mapping[str, str]
) -> AsyncIterator[Server]:
    """Open the connections to a server for the block. No redirection is followed: a key is for one
    server. Raises `UsageError` for an address that is none, and for one where anybody on the way
    could read the key."""
    import httpx2  # 35 ms, and most calls ask no model

    loopback = check_address(url, key)
    async with httpx2.AsyncClient(
        headers=headers,
        timeout=timeout,
        limits=httpx2.Limits(max_connections=None),  # who asks limits that, and nobody waits here
        trust_env=not loopback,  # no proxy can reach those
    ) as client:
        yield Server(name=name, url=url.rstrip("/"), timeout=timeout, key=key, client=client)


def bearer(key: str) -> dict[str, str]:
    """Return the header that lets a request in; none without a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def is_loopback(url: str) -> bool:
    """Tell whether an address is one of this machine. Raises `UsageError` for what is none."""
    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError as error:
        raise _no_address(url) from error


def check_address(url: str, key: str) -> bool:
    """Tell whether an address is one of this machine. Raises `UsageError` as `connected` does."""
    loopback, address = is_loopback(url), urlsplit(url)
    more = address.username or address.query or address.fragment
    if address.scheme not in ("http", "https") or not address.hostname or more:
        raise _no_address(url)
    if key and address.scheme == "http" and not loopback:
        raise UsageError(
            f"The key would go to {without_logins(url)} unencrypted; use https, or omit the key"
        )
    return loopback


def check_named(word: str, model: str) -> None:
    """Raise `UsageError` where a word names no model."""
    if not model:
        raise UsageError(f"{word}: names no model; write it behind the colon: {word}:MODEL")


def _no_address(url: str) -> UsageError:
    return UsageError(
        f"{without_logins(url) or 'The empty text'} is no address of a server; write it as "
        "http://127.0.0.1:8080/v1, with nothing behind it"
    )


def _explanation(content: bytes, key: str) -> str:
    """Quote the server, if it gives a reason, without the key: a cut would leave half of it."""
    try:
        error = json.loads(content)["error"]
        reason = error["message"] if isinstance(error, dict) else error
    except (ValueError, RecursionError, TypeError, KeyError):
        return ""
    return f' ("{clean_text(str(reason), (key,))[:_LONGEST_REASON]}")'


def _seconds(wait: str) -> float:
    """Read a `Retry-After` in seconds; 0 for a date, which few servers send."""
    return float(wait) if wait.isascii() and wait.isdecimal() and len(wait) < 9 else 0
