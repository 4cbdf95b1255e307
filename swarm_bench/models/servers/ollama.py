"""A model behind Ollama's own API, which fills gaps too: `ollama:MODEL[@URL]`."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel

from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Gap, Way
from swarm_bench.core.session.experiment import Program
from swarm_bench.models.servers.forms import (
    Body,
    Count,
    NoAnswer,
    build_refusal,
    check_told,
    finish_of,
)
from swarm_bench.models.servers.server import (
    MODEL_KEY,
    ServedModel,
    bearer,
    check_address,
    check_named,
    open_server,
)

URL = "http://127.0.0.1:11434"


class _Message(BaseModel):
    content: str | None = None
    thinking: str | None = None
    tool_calls: Any = None


class _Piece(BaseModel):
    """An answer, or a piece of one: a server in front of it may stream whatever is asked."""

    response: str | None = None
    thinking: str | None = None
    message: _Message | None = None
    model: str | None = None
    done: bool | None = None
    done_reason: str | None = None
    prompt_eval_count: Count = None
    eval_count: Count = None

    @property
    def text(self) -> str | None:
        return (self.message.content or "") if self.message else self.response

    def elsewhere(self) -> Iterator[str]:
        """Yield where something stands that is no part of the answer."""
        if self.thinking or (self.message and self.message.thinking):
            yield "thinking"
        if self.message and self.message.tool_calls:
            yield "tool_calls"


class Ollama(ServedModel):
    """A model that is asked for a chat, a text or a gap."""

    async def complete(self, ask: Ask) -> Completion:
        """Ask it once, in the way of the prompt."""
        path = "/api/chat" if isinstance(ask.prompt, tuple) else "/api/generate"
        return await self.server.complete(path, self._body(ask), answer_in)

    def _body(self, ask: Ask) -> dict[str, Any]:
        sampling = ask.sampling
        options: dict[str, Any] = {
            "num_predict": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": ask.seed,
            "stop": list(sampling.stop) or None,
        }
        return {
            "model": self.name,
            "stream": False,
            # Without it, the beginning of what is too long is taken away without a word.
            "truncate": False,
            "options": {name: value for name, value in options.items() if value is not None},
            **_build_prompt(ask.prompt),
        }


@dataclass(frozen=True)
class OllamaSource:
    """What `ollama:MODEL[@URL]` stands for."""

    argument: str
    about: ClassVar = f"ollama:MODEL[@URL]: an Ollama model, at {URL} unless told otherwise."
    ways: ClassVar[frozenset[Way]] = frozenset({"chat", "text", "gap"})
    keys: ClassVar = (MODEL_KEY,)
    sampled: ClassVar = True
    repeats: ClassVar = False

    @property
    def address(self) -> str:
        return self.argument.partition("@")[2] or URL

    @property
    def free(self) -> bool:
        """Models of the cloud are asked under names like `gpt-oss:120b-cloud`."""
        return not self.argument.partition("@")[0].endswith("cloud")

    def program(self, around: Around) -> Program:
        """Check the address."""
        check_named("ollama", self._model)
        check_address(self.address, around.variables.get(MODEL_KEY, ""))
        return Program(name=self._model, path=remove_logins(self.address))

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator[Ollama]:
        """Open the connections to it."""
        model, url = self._model, self.address
        key = around.variables.get(MODEL_KEY, "")
        async with open_server(
            model, url, key=key, timeout=around.timeout, headers=bearer(key)
        ) as server:
            yield Ollama(server=server)

    @property
    def _model(self) -> str:
        return self.argument.partition("@")[0]


def answer_in(body: Body) -> Completion:
    """Read an answer. Raises `ValueError`, and `NoAnswer` where it says that there is none."""
    pieces = [_Piece.model_validate(document) for document in body.documents]
    texts = [piece.text for piece in pieces if piece.text is not None]
    if not texts:
        raise ValueError("there is no answer in it")
    text, last = "".join(texts), pieces[-1]
    if last.done is False:
        raise NoAnswer(build_refusal("its answer ends before it is done"))
    body.check_whole(has_end=bool(last.done))
    elsewhere = sorted({name for piece in pieces for name in piece.elsewhere()})
    is_counted = last.prompt_eval_count is not None
    completion = Completion(
        text=text,
        finish=finish_of(last.done_reason),
        usage=Usage(
            input=last.prompt_eval_count,
            cache_read=0 if is_counted else None,
            cache_create=0 if is_counted else None,
            output=last.eval_count,
        ),
        model=last.model,
        elsewhere=None if text.strip() else ", ".join(elsewhere) or None,
    )
    return check_told(completion)


def _build_prompt(prompt: Any) -> dict[str, Any]:
    """Say what is asked. A text is sent raw: the model's template would be put around it."""
    if isinstance(prompt, Gap):
        return {"prompt": prompt.prefix, "suffix": prompt.suffix}
    if isinstance(prompt, str):
        return {"prompt": prompt, "raw": True}
    return {"messages": [{"role": turn.role, "content": turn.text} for turn in prompt]}
