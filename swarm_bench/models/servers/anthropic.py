"""Models of Anthropic's own: `anthropic:MODEL`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from pydantic import BaseModel

from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Turn, Way
from swarm_bench.models.servers.forms import Body, Count, check_told, finish_of
from swarm_bench.models.servers.server import ProviderSource, ServedModel, open_server

ANTHROPIC = "https://api.anthropic.com/v1"
KEY = "ANTHROPIC_API_KEY"
_VERSION = "2023-06-01"
_OPTIONAL = ("top_p", "temperature", "stop_sequences")
_MOST_TOKENS = 4096
"""Most tokens of an answer, where the request has no limit: the API asks for a number."""


class _Block(BaseModel):
    type: str
    text: str | None = None


class _Usage(BaseModel):
    input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_read_input_tokens: Count = None
    output_tokens: Count = None


class _Answer(BaseModel):
    content: list[_Block] | None
    stop_reason: str | None = None
    model: str | None = None
    usage: Any = None


class Anthropic(ServedModel):
    """A model that is asked in turns."""

    async def complete(self, ask: Ask) -> Completion:
        """Ask it once, in turns."""
        if not isinstance(ask.prompt, tuple):
            raise UsageError(f"{self.name} can be asked in turns only; give --property way=chat")
        body = self._body(ask, ask.prompt)
        return await self.server.complete("/messages", body, message_in, _OPTIONAL)

    def _body(self, ask: Ask, turns: tuple[Turn, ...]) -> dict[str, Any]:
        sampling = ask.sampling
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": sampling.max_tokens or _MOST_TOKENS,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            # It refuses those that are blank.
            "stop_sequences": [stop for stop in sampling.stop if stop.strip()] or None,
            "system": "\n\n".join(turn.text for turn in turns if turn.role == "system") or None,
            "messages": [
                {"role": turn.role, "content": turn.text} for turn in turns if turn.role != "system"
            ],
        }
        return {name: value for name, value in body.items() if value is not None}


class AnthropicSource(ProviderSource):
    """What `anthropic:MODEL` stands for."""

    word: ClassVar = "anthropic"
    url: ClassVar = ANTHROPIC
    about: ClassVar = "anthropic:MODEL: an Anthropic model."
    ways: ClassVar[frozenset[Way]] = frozenset({"chat"})
    keys: ClassVar = (KEY,)

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator[Anthropic]:
        """Open the connections to it."""
        key = around.variables.get(KEY, "")
        async with anthropic_server(
            self.argument, ANTHROPIC, key=key, timeout=around.timeout
        ) as model:
            yield model


@asynccontextmanager
async def anthropic_server(
    name: str, url: str, *, key: str, timeout: float = 120
) -> AsyncIterator[Anthropic]:
    """Open the connections to a server for the block. Raises `UsageError` as `connected` does."""
    headers = {"x-api-key": key, "anthropic-version": _VERSION}
    async with open_server(name, url, key=key, timeout=timeout, headers=headers) as server:
        yield Anthropic(server=server)


def message_in(body: Body) -> Completion:
    """Read an answer. Raises `ValueError`, and `NoAnswer` where it says that there is none."""
    answer = _Answer.model_validate(_join_events(body))
    body.check_whole(has_end=answer.stop_reason is not None)
    blocks = answer.content or []
    text = "".join(block.text or "" for block in blocks if block.type == "text")
    other_types = {block.type for block in blocks if block.type != "text"}
    completion = Completion(
        text=text,
        finish=finish_of(answer.stop_reason),
        usage=_usage(answer.usage),
        model=answer.model,
        elsewhere=None if text.strip() else ", ".join(sorted(other_types)) or None,
    )
    return check_told(completion)


def _join_events(body: Body) -> Any:
    """Return the message, or the one that the events of a stream make."""
    first = next(iter(body.documents), None)
    if not body.streamed or not isinstance(first, dict) or first.get("type") == "message":
        return first
    message, blocks, usage = dict[str, Any](), list[Any](), dict[str, Any]()
    for event in map(_object, body.documents):
        opening, delta, block = (
            _object(event.get(key)) for key in ("message", "delta", "content_block")
        )
        message |= opening
        blocks += opening["content"] if isinstance(opening.get("content"), list) else []
        blocks += [block] if block else []
        if isinstance(text := delta.get("text"), str):
            blocks.append({"type": "text", "text": text})
        if delta.get("stop_reason"):
            message["stop_reason"] = delta["stop_reason"]
        usage |= _object(opening.get("usage")) | _object(event.get("usage"))
    return {**message, "content": blocks, "usage": usage} if message or blocks else {}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _usage(value: Any) -> Usage:
    stated = _Usage.model_validate(_object(value))
    return Usage(
        input=stated.input_tokens,
        cache_read=stated.cache_read_input_tokens,
        cache_create=stated.cache_creation_input_tokens,
        output=stated.output_tokens,
    )
