"""A model behind the API of OpenAI, as many others speak it: chats (`/chat/completions`) and texts
(`/completions`)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from swarm_bench.config.addresses import without_logins
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Finish, Gap, Way
from swarm_bench.core.session.experiment import Program
from swarm_bench.models.servers.server import (
    MODEL_KEY,
    Server,
    bearer,
    check_address,
    check_named,
    connected,
)

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
"""It goes to OpenAI only, unless it is named."""
_OPTIONAL = ("temperature", "top_p", "seed", "stop")
_MOST_STOPS = 4
"""That OpenAI takes."""
_MOST_TOKENS = 2**53
_FINISH: dict[str, Finish] = {"stop": "stop", "length": "length", "content_filter": "refused"}


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message | None = None
    text: str | None = None
    finish_reason: str | None = None


class _Details(BaseModel):
    cached_tokens: int | None = Field(default=None, ge=0, le=_MOST_TOKENS)


class _Usage(BaseModel):
    prompt_tokens: int = Field(ge=0, le=_MOST_TOKENS)
    completion_tokens: int = Field(ge=0, le=_MOST_TOKENS)
    prompt_tokens_details: _Details | None = None


class _Answer(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: Any = None


@dataclass(frozen=True, kw_only=True)
class Compatible:
    """A model, and how its server is asked."""

    server: Server
    strict: bool = False
    """OpenAI's own server: it takes few stop strings, and has another name for the limit."""

    @property
    def name(self) -> str:
        return self.server.name

    async def complete(self, ask: Ask) -> Completion:
        """Ask it once, in the way of the prompt."""
        if isinstance(ask.prompt, Gap):
            raise UsageError(f"{self.name} cannot be asked to fill a gap; use another model")
        path = "/completions" if isinstance(ask.prompt, str) else "/chat/completions"
        answer = await self.server.post(path, self._body(ask), _OPTIONAL)
        try:
            completion = completion_in(answer.content)
        except ValidationError as error:
            raise self.server.failed("answers with what is no completion") from error
        return replace(
            completion,
            requests=answer.requests,
            seconds=answer.seconds,
            omitted=answer.omitted,
        )

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
            body["messages"] = [{"role": it.role, "content": it.text} for it in ask.prompt]
        return {name: value for name, value in body.items() if value is not None}


@dataclass(frozen=True)
class CompatibleSource:
    """A server of one's own, or of a provider: `URL#MODEL`."""

    argument: str
    about: ClassVar = "http://127.0.0.1:8080/v1#MODEL: any server with OpenAI's API."
    ways: ClassVar[frozenset[Way]] = frozenset({"chat", "text"})
    keys: ClassVar = (MODEL_KEY,)
    free: ClassVar = False

    @property
    def address(self) -> str:
        return self.argument.partition("#")[0]

    def program(self, around: Around) -> Program:
        """Check the address."""
        url, model = self._parts()
        check_address(url, around.variables.get(MODEL_KEY, ""))
        return Program(name=model, path=without_logins(url))

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
                f"{without_logins(self.argument)} names no model; write it behind the address: "
                f"{without_logins(url)}#MODEL"
            )
        return url, model


@dataclass(frozen=True)
class OpenAiSource:
    """A model of OpenAI's own: `openai:MODEL`."""

    argument: str
    about: ClassVar = "openai:MODEL: an OpenAI model."
    keys: ClassVar = (OPENAI_KEY,)
    address: ClassVar[None] = None
    free: ClassVar = False

    @property
    def ways(self) -> frozenset[Way]:
        """Texts are continued by the models for that alone."""
        return frozenset({"text"} if self.argument.endswith("-instruct") else {"chat"})

    def program(self, around: Around) -> Program:
        """Check that there are a name and a key."""
        check_named("openai", self.argument)
        if not around.variables.get(OPENAI_KEY):
            raise UsageError(
                f"openai:{self.argument} needs a key; set {OPENAI_KEY} in the environment or .env"
            )
        return Program(name=self.argument, path=OPENAI)

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
    async with connected(name, base, key=key, timeout=timeout, headers=bearer(key)) as server:
        yield Compatible(server=server, strict=strict)


def completion_in(content: bytes) -> Completion:
    """Read an answer. Raises `ValidationError`."""
    answer = _Answer.model_validate_json(content)
    choice = answer.choices[0]
    text = choice.message.content if choice.message else choice.text
    return Completion(
        text=text or "",
        finish=_FINISH.get(choice.finish_reason or ""),
        usage=_usage(answer.usage),
        model=answer.model,
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
