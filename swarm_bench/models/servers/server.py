"""A server that has models: one request, and another one where that may do."""

import random
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar
from urllib.parse import urljoin, urlsplit

import anyio

from swarm_bench.config.addresses import remove_logins
from swarm_bench.core import refusal_patterns
from swarm_bench.core.errors import (
    ModelFailed,
    NoCredit,
    NotAuthorized,
    UsageError,
    WrongAddress,
)
from swarm_bench.core.refusal import Refusal
from swarm_bench.core.roles.language_model import Around, Completion
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.status import Cause
from swarm_bench.models.servers.explanations import refusal_of
from swarm_bench.models.servers.forms import Body, NoAnswer, body_of, build_refusal
from swarm_bench.runtime.sink import clean_text

if TYPE_CHECKING:
    import httpx2

MODEL_KEY = "MODEL_API_KEY"
"""Variable with the key of a server that the user names."""
ATTEMPTS = 5
LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is asked again in a later call."""
_OTHERWISE = {"max_tokens": "max_completion_tokens"}
"""Other name of a part of a request, where a server refuses the first and names the other."""
MOST_BYTES = 8 * 1024 * 1024
"""Most bytes of an answer."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LONGEST_REASON = 200
"""Characters of what a server says of its own trouble."""
_LONGEST_QUOTED = 1_000
"""Bytes of what is no answer in which a key is looked for before it is cut."""

_Parsed = TypeVar("_Parsed")


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[_Parsed]):
    """What a server answered, and what that took."""

    content: _Parsed
    requests: int
    seconds: float
    """Seconds of the last request."""
    omitted: tuple[str, ...] = ()
    """Parts of the request that the server refuses by name."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """Server that one model is asked on."""

    name: str
    """Name of the model."""
    url: str
    """The part of all its addresses, as `http://127.0.0.1:8080/v1`."""
    timeout: float
    """Seconds for a request."""
    key: str = field(repr=False)
    """Key; empty where the server needs none."""
    client: "httpx2.AsyncClient" = field(repr=False)
    attempts: int = ATTEMPTS
    """Requests until it is busy no more."""
    _refused: set[str] = field(default_factory=set, repr=False)
    """Parts of a request that it refused by name, and gets no more."""

    async def post(
        self,
        path: str,
        body: Mapping[str, Any],
        parse: Callable[[Body], _Parsed],
        optional: Collection[str] = (),
    ) -> Answer[_Parsed]:
        """Make a request, without the `optional` parts of it that the server refuses by name.
        `read` makes something of the answer; it raises `ValueError` for what is none, and
        `NoAnswer`. Raises `ModelFailed`; `NotAuthorized` and `UsageError` for what would fail every
        time."""
        while True:
            new_names = {
                name: _OTHERWISE.get(name) if name in self._refused else name for name in body
            }
            sent = {new: body[name] for name, new in new_names.items() if new}
            omitted = tuple(name for name, new in new_names.items() if not new)
            try:
                return replace(await self._request(path, sent, parse), omitted=omitted)
            except ModelFailed as error:
                refused = _find_refused(
                    error, [name for name in (*optional, *_OTHERWISE) if name in sent]
                )
                if refused is None:
                    raise
                self._refused.add(refused)

    async def complete(
        self,
        path: str,
        body: Mapping[str, Any],
        parse: Callable[[Body], Completion],
        optional: Collection[str] = (),
    ) -> Completion:
        """Make a request as `post` does, and return the answer with what that took."""
        answer = await self.post(path, body, parse, optional)
        return replace(
            answer.content,
            requests=answer.requests,
            seconds=answer.seconds,
            omitted=answer.omitted,
        )

    async def _request(
        self, path: str, body: Mapping[str, Any], parse: Callable[[Body], _Parsed]
    ) -> Answer[_Parsed]:
        """Make a request; again when another one may do, and after a time that it may name."""
        for number in range(1, self.attempts + 1):
            start = anyio.current_time()
            try:
                content = await self._fetch(path, body, parse)
                seconds = anyio.current_time() - start
                return Answer(content=content, requests=number, seconds=seconds)
            except ModelFailed as error:
                error.requests = number
                raise
            except _Refused as refused:
                refusal = refused.refusal
                waits = refusal.passes and refusal.wait <= LONGEST_WAIT
                if number == self.attempts or not waits:
                    raise self._error(refused, number) from refused
                await anyio.sleep(max(refusal.wait, random.uniform(0.5, 1.0) * 2 ** (number - 1)))
        raise AssertionError("the last attempt returns or raises")

    async def _fetch(
        self, path: str, body: Mapping[str, Any], parse: Callable[[Body], _Parsed]
    ) -> _Parsed:
        """Make one request. Raises `_Refused` where it is not answered."""
        import httpx2

        try:
            with anyio.fail_after(self.timeout):
                async with self.client.stream("POST", f"{self.url}{path}", json=body) as response:
                    content = bytearray()
                    async for piece in response.aiter_bytes():
                        content += piece
                        if len(content) > MOST_BYTES:
                            raise self.build_failure("sends an answer without end")
        except TimeoutError as error:
            reason = f"did not answer within {self.timeout:g} s"
            raise self.build_failure(reason, Cause.TIMEOUT) from error
        except httpx2.HTTPError as error:
            reason = f"cannot be asked ({type(error).__name__}: {error})"
            raise _Refused(build_refusal(""), reason) from error
        if response.is_success:
            return self._parse_answer(bytes(content), response.headers, parse)
        state = response.status_code
        refusal = refusal_of(bytes(content), state, response.headers)
        reason = f"answers with HTTP {state}{self._quote(refusal)}"
        raise _Refused(refusal, reason, self._find_redirection(path, response))

    def _parse_answer(
        self, content: bytes, headers: Mapping[str, str], parse: Callable[[Body], _Parsed]
    ) -> _Parsed:
        """Read an answer. Raises `_Refused` where it is none."""
        try:
            return parse(body_of(content, headers.get("content-type", "")))
        except NoAnswer as error:
            refusal = error.refusal
            reason = f"answers 200 without an answer{self._quote(refusal)}"
        except ValueError:  # what it says may be of the model, and so means nothing
            refusal, own_refusal = Refusal(), refusal_of(content, headers=headers)
            if not own_refusal.text:
                own_refusal = Refusal(
                    text=" ".join(content[:_LONGEST_QUOTED].decode("latin-1").split())
                )
            reason = f"answers with what is no completion{self._quote(own_refusal)}"
        raise _Refused(refusal, reason)

    def _find_redirection(self, path: str, response: "httpx2.Response") -> str:
        """Return where a redirection leads, as a model's address, without a login or a key."""
        location = response.headers.get("location", "")
        if not (location and response.is_redirect):
            return ""
        try:
            parts = urlsplit(urljoin(f"{self.url}{path}", location))
            host = parts.netloc.rpartition("@")[2]
        except ValueError:
            return ""
        return f"{parts.scheme}://{host}{parts.path.removesuffix(path)}"

    def _error(self, refused: "_Refused", requests: int) -> Exception:
        """Make the error that a request ends with, by what the refusal means."""
        refusal, sentence = refused.refusal, self._build_sentence(refused.reason)
        match refusal.cause:
            case Cause.WRONG_ADDRESS:
                advice = "check the address: it takes no such requests"
                if refused.elsewhere:
                    advice = f"give the address to which it leads: {refused.elsewhere}"
                return WrongAddress(clean_text(f"{sentence}; {advice}", (self.key,)))
            case Cause.NO_CREDIT:
                return NoCredit(f"{sentence}; add credit to the account, or raise its quota")
            case Cause.NOT_AUTHORIZED:
                return NotAuthorized(f"{sentence}; check the key, and ask again")
            case Cause.UNKNOWN_MODEL if refusal.state == 501 or refusal.says(
                refusal_patterns.UNABLE
            ):
                advice = "start a new session in another way (--property way=chat, or way=text)"
                return UsageError(f"{sentence}; {advice}, or of another model")
            case Cause.UNKNOWN_MODEL:
                return UsageError(f"{sentence}; check the address and the model's name")
        return _Unanswered(sentence, refusal, requests)

    def build_failure(
        self, reason: str, cause: Cause = Cause.PROVIDER_FAILED, requests: int = 1
    ) -> ModelFailed:
        """Make the error of a request, from a clause."""
        return ModelFailed(self._build_sentence(reason), cause, requests)

    def _quote(self, refusal: Refusal) -> str:
        """Quote the server, if it gives a reason, without the key: a cut would leave half of it."""
        text = clean_text(refusal.text, (self.key,))[:_LONGEST_REASON]
        return f' ("{text}")' if text else ""

    def _build_sentence(self, reason: str) -> str:
        """Say what the server did; it may quote the key."""
        return clean_text(f"{self.name} at {remove_logins(self.url)} {reason}", (self.key,))


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """A model, and how its server is asked."""

    server: Server

    @property
    def name(self) -> str:
        return self.server.name


@dataclass(frozen=True)
class ProviderSource:
    """A model on the server of those who made it, which takes a key of its own."""

    argument: str
    word: ClassVar[str]
    url: ClassVar[str]
    keys: ClassVar[tuple[str]]
    address: ClassVar[None] = None
    free: ClassVar = False
    sampled: ClassVar = True
    repeats: ClassVar = False

    def program(self, around: Around) -> Program:
        """Check that there are a name and a key."""
        check_named(self.word, self.argument)
        (key,) = self.keys
        if around.is_asked and not around.variables.get(key):
            raise UsageError(
                f"{self.word}:{self.argument} needs a key; set {key} in the environment or .env"
            )
        return Program(name=self.argument, path=self.url)


class _Refused(Exception):
    """A request that was not answered."""

    def __init__(self, refusal: Refusal, reason: str, elsewhere: str = "") -> None:
        """`reason`: what the server did, in a clause; `elsewhere`: where it says that it is."""
        super().__init__(reason)
        self.refusal, self.reason, self.elsewhere = refusal, reason, elsewhere


class _Unanswered(ModelFailed):
    """A request that the server will not answer."""

    def __init__(self, sentence: str, refusal: Refusal, requests: int) -> None:
        super().__init__(sentence, refusal.cause, requests)
        self.refusal = refusal


def _find_refused(error: ModelFailed, names: Collection[str]) -> str | None:
    """Return the part of a request that a server refuses by name; `None` where it names none."""
    if not isinstance(error, _Unanswered) or error.refusal.state not in (400, 422):
        return None
    if error.cause is Cause.CONTEXT_OVERFLOW or error.refusal.passes:
        return None
    refusal = error.refusal
    text = f"{refusal.text} {' '.join(sorted(refusal.fields))}"
    mentioned = [name for name in names if _OTHERWISE.get(name, name) in text]
    places = {name: re.search(rf"\b{name}\b", text) for name in mentioned}
    positions = {name: match.start() for name, match in places.items() if match}
    return min(positions, key=lambda name: positions[name], default=None)


@asynccontextmanager
async def open_server(
    name: str, url: str, *, key: str, timeout: float, headers: Mapping[str, str]
) -> AsyncIterator[Server]:
    """Open the connections to a server for the block. No redirection is followed: a key is for one
    server. Raises `UsageError` for an invalid address, and for one where others on the way could
    read the key."""
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
    extra = address.username or address.query or address.fragment
    if address.scheme not in ("http", "https") or not address.hostname or extra:
        raise _no_address(url)
    if key and address.scheme == "http" and not loopback:
        raise UsageError(
            f"The key would go to {remove_logins(url)} unencrypted; use https, or omit the key"
        )
    return loopback


def check_named(word: str, model: str) -> None:
    """Raise `UsageError` where a word names no model."""
    if not model:
        raise UsageError(f"{word}: names no model; write it behind the colon: {word}:MODEL")


def _no_address(url: str) -> UsageError:
    return UsageError(
        f"{remove_logins(url) or 'The empty text'} is no address of a server; write it as "
        "http://127.0.0.1:8080/v1, with nothing behind it"
    )
