"""A model behind Ollama's own API, which fills gaps too: `ollama:MODEL[@URL]`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, Field, ValidationError

from swarm_bench.config.addresses import without_logins
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

URL = "http://127.0.0.1:11434"
_FINISH: dict[str, Finish] = {"stop": "stop", "length": "length"}
_Count = int | None


class _Message(BaseModel):
    content: str = ""


class _Answer(BaseModel):
    response: str | None = None
    message: _Message | None = None
    model: str | None = None
    done_reason: str | None = None
    prompt_eval_count: _Count = Field(default=None, ge=0)
    eval_count: _Count = Field(default=None, ge=0)


@dataclass(frozen=True, kw_only=True)
class Ollama:
    """A model, and how its server is asked."""

    server: Server

    @property
    def name(self) -> str:
        return self.server.name

    async def complete(self, ask: Ask) -> Completion:
        """Ask it once, in the way of the prompt."""
        path = "/api/chat" if isinstance(ask.prompt, tuple) else "/api/generate"
        answer = await self.server.post(path, self._body(ask))
        try:
            read = _Answer.model_validate_json(answer.content)
        except ValidationError as error:
            raise self.server.failed("answers with what Ollama does not") from error
        text = read.message.content if read.message else read.response
        if text is None:
            raise self.server.failed("answers with what Ollama does not")
        counted = read.prompt_eval_count is not None
        return Completion(
            text=text,
            finish=_FINISH.get(read.done_reason or ""),
            usage=Usage(
                input=read.prompt_eval_count,
                cache_read=0 if counted else None,
                cache_create=0 if counted else None,
                output=read.eval_count,
            ),
            requests=answer.requests,
            seconds=answer.seconds,
            model=read.model,
        )

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
            **_prompt(ask.prompt),
        }


@dataclass(frozen=True)
class OllamaSource:
    """What `ollama:MODEL[@URL]` stands for."""

    argument: str
    about: ClassVar = f"ollama:MODEL[@URL]: an Ollama model, at {URL} unless told otherwise."
    ways: ClassVar[frozenset[Way]] = frozenset({"chat", "text", "gap"})
    keys: ClassVar = (MODEL_KEY,)

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
        return Program(name=self._model, path=without_logins(self.address))

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator[Ollama]:
        """Open the connections to it."""
        model, url = self._model, self.address
        key = around.variables.get(MODEL_KEY, "")
        async with connected(
            model, url, key=key, timeout=around.timeout, headers=bearer(key)
        ) as server:
            yield Ollama(server=server)

    @property
    def _model(self) -> str:
        return self.argument.partition("@")[0]


def _prompt(prompt: Any) -> dict[str, Any]:
    """Say what is asked. A text is sent raw: the model's template would be put around it."""
    if isinstance(prompt, Gap):
        return {"prompt": prompt.prefix, "suffix": prompt.suffix}
    if isinstance(prompt, str):
        return {"prompt": prompt, "raw": True}
    return {"messages": [{"role": it.role, "content": it.text} for it in prompt]}
