"""A model behind the API of OpenAI, as many others speak it: chats (`/chat/completions`) and texts
(`/completions`)."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Gap, Way
from swarm_bench.core.session.experiment import Program
from swarm_bench.models.servers.explanations import refusal_in
from swarm_bench.models.servers.forms import (
    OR_MISSING,
    Body,
    Count,
    NoAnswer,
    check_empty,
    check_told,
    finish_of,
    is_trouble,
    says,
    text_of,
    types_of,
)
from swarm_bench.models.servers.server import (
    MODEL_KEY,
    ProviderSource,
    ServedModel,
    bearer,
    check_address,
    open_server,
)

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
"""Variable with the key that is sent to OpenAI only, unless it is named."""
_OPTIONAL = ("temperature", "top_p", "seed", "stop")
_MOST_STOPS = 4
"""Most stop words that OpenAI takes."""
_NO_TEXT = ("content", "role", "name", "id")
"""Fields of a message that say nothing besides its text."""
_Value = TypeVar("_Value")


class _Message(BaseModel):
    model_config = ConfigDict(extra="allow")
    content: Any = None

    def elsewhere(self) -> Iterator[str]:
        """Yield where something stands that is no part of the answer, as `reasoning_content`."""
        yield from (name for name, value in self if name not in _NO_TEXT and says(value))
        yield from types_of(self.content)


class _Choice(BaseModel):
    index: Any = 0
    message: _Message | None = None
    delta: _Message | None = None
    text: str | None = None
    finish_reason: Annotated[str | None, OR_MISSING] = None
    native_finish_reason: Any = None
    error: Any = None
    usage: Any = None


class _Piece(BaseModel):
    """An answer, or a piece of one that comes as a stream."""

    choices: list[_Choice] | None = None
    model: str | None = None
    usage: Any = None


def _alias(*names: str) -> Any:
    return Field(default=None, validation_alias=AliasChoices(*names))


class _Details(BaseModel):
    cached_tokens: Count = None
    reasoning_tokens: Count = None


class _Usage(BaseModel):
    """Usage; some servers have the names of another API, or none of the details."""

    prompt_tokens: Count = _alias("prompt_tokens", "input_tokens")
    completion_tokens: Count = _alias("completion_tokens", "output_tokens")
    total_tokens: Count = None
    cached_tokens: Count = _alias("cached_tokens", "prompt_cache_hit_tokens")
    reasoning_tokens: Count = None
    prompt_tokens_details: Annotated[_Details | None, OR_MISSING] = None
    completion_tokens_details: Annotated[_Details | None, OR_MISSING] = None


@dataclass(frozen=True, kw_only=True)
class Compatible(ServedModel):
    """A model that is asked for a chat or a text."""

    strict: bool = False
    """OpenAI's own server: it takes few stop strings, and has another name for the limit."""

    async def complete(self, ask: Ask) -> Completion:
        """Ask it once, in the way of the prompt."""
        if isinstance(ask.prompt, Gap):
            raise UsageError(f"{self.name} cannot be asked to fill a gap; use another model")
        path = "/completions" if isinstance(ask.prompt, str) else "/chat/completions"
        return await self.server.complete(path, self._body(ask), completion_in, _OPTIONAL)

    def _body(self, ask: Ask) -> dict[str, Any]:
        sampling, stop = ask.sampling, list(ask.sampling.stop)
        limit = "max_completion_tokens" if self.strict else "max_tokens"
        body: dict[str, Any] = {
            "model": self.name,
            limit: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": ask.seed,
            "stop": (stop[:_MOST_STOPS] if self.strict else stop) or None,
        }
        if isinstance(ask.prompt, str):
            body["prompt"] = ask.prompt
        elif not isinstance(ask.prompt, Gap):
            body["messages"] = [{"role": turn.role, "content": turn.text} for turn in ask.prompt]
        return {name: value for name, value in body.items() if value is not None}


@dataclass(frozen=True)
class CompatibleSource:
    """A server of one's own, or of a provider: `URL#MODEL`."""

    argument: str
    about: ClassVar = "http://127.0.0.1:8080/v1#MODEL: any server with OpenAI's API."
    ways: ClassVar[frozenset[Way]] = frozenset({"chat", "text"})
    keys: ClassVar = (MODEL_KEY,)
    free: ClassVar = False
    sampled: ClassVar = True
    repeats: ClassVar = False

    @property
    def address(self) -> str:
        return self.argument.partition("#")[0]

    def program(self, around: Around) -> Program:
        """Check the address."""
        url, model = self._parts()
        check_address(url, around.variables.get(MODEL_KEY, ""))
        return Program(name=model, path=remove_logins(url))

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator[Compatible]:
        """Open the connections to it."""
        url, model = self._parts()
        key = around.variables.get(MODEL_KEY, "")
        async with compatible_server(model, url, key=key, timeout=around.timeout) as server:
            yield server

    def _parts(self) -> tuple[str, str]:
        url, _, model = self.argument.partition("#")
        if not model:
            raise UsageError(
                f"{remove_logins(self.argument)} names no model; write it behind the address: "
                f"{remove_logins(url)}#MODEL"
            )
        return url, model


class OpenAiSource(ProviderSource):
    """A model of OpenAI's own: `openai:MODEL`."""

    word: ClassVar = "openai"
    url: ClassVar = OPENAI
    about: ClassVar = "openai:MODEL: an OpenAI model."
    keys: ClassVar = (OPENAI_KEY,)

    @property
    def ways(self) -> frozenset[Way]:
        """Texts are continued by the models for that alone."""
        return frozenset({"text"} if self.argument.endswith("-instruct") else {"chat"})

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator[Compatible]:
        """Open the connections to it."""
        key = around.variables.get(OPENAI_KEY, "")
        async with compatible_server(
            self.argument, OPENAI, key=key, timeout=around.timeout, strict=True
        ) as server:
            yield server


@asynccontextmanager
async def compatible_server(
    name: str, url: str, *, key: str = "", timeout: float = 120, strict: bool = False
) -> AsyncIterator[Compatible]:
    """Open the connections to a server for the block. Raises `UsageError` as `connected` does."""
    base = url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/v1"
    async with open_server(name, base, key=key, timeout=timeout, headers=bearer(key)) as server:
        yield Compatible(server=server, strict=strict)


def completion_in(body: Body) -> Completion:
    """Read an answer. Raises `ValueError`, and `NoAnswer` where it says that there is none."""
    pieces = [_Piece.model_validate(document) for document in body.documents]
    all_choices = [choice for piece in pieces for choice in piece.choices or ()]
    choices = [choice for choice in all_choices if choice.index == all_choices[0].index]
    deltas, wholes = [choice.delta for choice in choices], [choice.message for choice in choices]
    messages, texts = (
        [message for message in (*deltas, *wholes) if message],
        [choice.text or "" for choice in choices],
    )
    # Some servers send the same text in more than one place.
    forms = (
        *([text_of(message.content) for message in group if message] for group in (deltas, wholes)),
        texts,
    )
    text = next(filter(None, map("".join, forms)), "")
    reason = _find_last(choice.finish_reason for choice in choices)
    for choice in choices:
        _check(choice, text)
    finish, names = (
        finish_of(reason),
        {name for message in messages for name in message.elsewhere()},
    )
    final = messages or finish in ("refused", "length")
    if not (final or any(choice.text is not None for choice in choices)):
        check_empty(body)
        raise ValueError("there is no answer in it")
    body.check_whole(has_end=reason is not None)
    completion = Completion(
        text=text,
        finish="refused" if "refusal" in names and not text else finish,
        usage=_read_usage(
            _find_last([*(choice.usage for choice in choices), *(piece.usage for piece in pieces)])
        ),
        model=_find_last(piece.model for piece in pieces),
        elsewhere=None if text.strip() else ", ".join(sorted(names)) or None,
    )
    return check_told(completion)


def _check(choice: _Choice, text: str) -> None:
    """Raise `NoAnswer` where a router says that whom it asked has failed."""
    if choice.error:
        raise NoAnswer(refusal_in({"error": choice.error}))
    native = choice.native_finish_reason
    if isinstance(native, str) and (is_trouble(native) or (choice.finish_reason and not text)):
        finish_of(native)


def _find_last(values: Iterable[_Value | None]) -> _Value | None:
    """Return the last one that is there."""
    return next((value for value in reversed([*values]) if value is not None), None)


def _read_usage(stated: Any) -> Usage:
    """Read what an answer says that it took. A server that names no cached tokens bills all alike;
    what only the total has was written by the model: some count its thoughts so."""
    try:
        usage = _Usage.model_validate(stated)
    except ValidationError:
        return Usage()
    cached = (usage.prompt_tokens_details or usage).cached_tokens or 0
    sent, total, details = usage.prompt_tokens, usage.total_tokens, usage.completion_tokens_details
    if sent is None and total is not None and usage.completion_tokens is not None:
        sent = max(0, total - usage.completion_tokens)
    # Where more was cached than sent, the tokens that were sent are those beside it.
    full_input = None if sent is None else sent if cached <= sent else sent + cached
    return Usage(
        input=None if full_input is None else full_input - cached,
        cache_read=None if full_input is None else cached,
        cache_create=None if full_input is None else 0,
        output=_count_output(usage, (details or usage).reasoning_tokens or 0, full_input),
    )


def _count_output(usage: _Usage, reasoning: int, sent: int | None) -> int | None:
    """Count the tokens that were written."""
    stated, total = usage.completion_tokens, usage.total_tokens
    in_total = total - sent if total is not None and sent is not None else 0
    if stated is None:
        return in_total if in_total > 0 else None
    return max(stated, in_total, stated + reasoning if reasoning > stated else 0)
