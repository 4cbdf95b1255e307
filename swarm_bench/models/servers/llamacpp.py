"""A model behind llama.cpp's own server, which fills gaps too: `llamacpp:URL`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import anyio
from pydantic import BaseModel, Field

from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.errors import ModelFailed
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Completion,
    Gap,
    Sampling,
    Way,
)
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.status import Cause
from swarm_bench.models.servers.compatible import Compatible
from swarm_bench.models.servers.forms import (
    Body,
    Count,
    NoAnswer,
    build_refusal,
    finish_of,
    text_of,
)
from swarm_bench.models.servers.server import (
    MODEL_KEY,
    ServedModel,
    bearer,
    check_address,
    open_server,
)

NAME = "llama.cpp"
"""Its server has one model, and takes any name for it."""
_MOST_TRIED = 20
"""Seconds in which a gap is tried before a session."""


class _Timings(BaseModel):
    cache_n: int = Field(default=0, ge=0)


class _Infill(BaseModel):
    """What fills a gap, or the last piece of it, where a server in front streams whatever is
    asked."""

    content: str
    stop: bool = True
    stop_type: str = ""
    model: str | None = None
    tokens_evaluated: int = Field(ge=0)
    tokens_predicted: Count = None
    timings: _Timings = _Timings()


class _Tokens(BaseModel):
    tokens: list[int]


class LlamaCpp(ServedModel):
    """The model of a server, and how it is asked."""

    async def complete(self, ask: Ask) -> Completion:
        """Ask it once, in the way of the prompt."""
        if isinstance(ask.prompt, Gap):
            return await self._fill(ask, ask.prompt)
        server = replace(self.server, url=f"{self.server.url}/v1")
        return await Compatible(server=server).complete(ask)

    async def _fill(self, ask: Ask, gap: Gap) -> Completion:
        sampling = ask.sampling
        body: dict[str, Any] = {
            "input_prefix": gap.prefix,
            "input_suffix": gap.suffix,
            "n_predict": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": ask.seed,
            "stop": list(sampling.stop) or None,
        }
        sent = {name: value for name, value in body.items() if value is not None}
        answer = await self.server.post("/infill", sent, read_infill)
        infill = answer.content
        await self._check_whole(gap, infill.tokens_evaluated)
        cached = min(infill.timings.cache_n, infill.tokens_evaluated)
        return Completion(
            text=infill.content,
            finish=finish_of(infill.stop_type),
            usage=Usage(
                input=infill.tokens_evaluated - cached,
                cache_read=cached,
                cache_create=0,
                output=infill.tokens_predicted,
            ),
            requests=answer.requests,
            seconds=answer.seconds,
            model=infill.model,
        )

    async def _check_whole(self, gap: Gap, evaluated: int) -> None:
        """Fail where the server read less than it was sent: it cuts what is longer than one of its
        batches, and does not say so. Raises `ModelFailed`."""
        sent = 0
        for text in (gap.prefix, gap.suffix):
            answer = await self.server.post("/tokenize", {"content": text}, _count_tokens)
            sent += answer.content
        if evaluated < sent:
            raise self.server.build_failure(
                f"read {evaluated} tokens around the gap, of {sent}; start it with a larger "
                "--batch-size",
                Cause.CONTEXT_OVERFLOW,
            )


def read_infill(body: Body) -> _Infill:
    """Read what fills a gap. Raises as `completion_in` does."""
    pieces = body.documents
    texts = [piece.get("content") if isinstance(piece, dict) else None for piece in pieces[:-1]]
    last = _Infill.model_validate(pieces[-1] if pieces else None)
    if not last.stop:
        raise NoAnswer(build_refusal("its answer ends before it is done"))
    finish_of(last.stop_type)
    return last.model_copy(update={"content": "".join(map(text_of, texts)) + last.content})


def _count_tokens(body: Body) -> int:
    (document,) = body.documents
    return len(_Tokens.model_validate(document).tokens)


@dataclass(frozen=True)
class LlamaCppSource:
    """What `llamacpp:URL` stands for."""

    argument: str
    about: ClassVar = "llamacpp:http://127.0.0.1:8080: llama.cpp's server, which also fills gaps."
    ways: ClassVar[frozenset[Way]] = frozenset({"chat", "text", "gap"})
    keys: ClassVar = (MODEL_KEY,)
    free: ClassVar = True
    sampled: ClassVar = True
    repeats: ClassVar = False

    @property
    def address(self) -> str:
        return self.argument

    def program(self, around: Around) -> Program:
        """Check the address, and where gaps will be asked, that the model fills them."""
        check_address(self.argument, around.variables.get(MODEL_KEY, ""))
        if "gap" in around.ways:
            anyio.run(self._try_gap, around)
        return Program(name=NAME, path=remove_logins(self.argument))

    async def _try_gap(self, around: Around) -> None:
        """Have a small gap filled. Raises `UsageError` and `NotAuthorized`; a server that is busy
        or away may be there later, and trials say so."""
        ask = Ask(prompt=Gap(prefix="(", suffix=")"), sampling=Sampling(max_tokens=1))
        with anyio.move_on_after(_MOST_TRIED), suppress(ModelFailed):
            async with self.opened(around) as model:
                once = replace(model.server, attempts=1)
                await replace(model, server=once).complete(ask)

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator[LlamaCpp]:
        """Open the connections to it."""
        key = around.variables.get(MODEL_KEY, "")
        url = self.argument.rstrip("/").removesuffix("/v1")
        async with open_server(
            NAME, url, key=key, timeout=around.timeout, headers=bearer(key)
        ) as server:
            yield LlamaCpp(server=server)
