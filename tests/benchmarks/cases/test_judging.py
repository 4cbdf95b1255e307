"""What a judge takes is counted, and what nobody knows of it is missing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from swarm_bench.benchmarks.cases.judging import MOST_TOKENS, JudgeSource
from swarm_bench.core.errors import ModelFailed
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Sampling, Turn, Way
from swarm_bench.core.session.experiment import Program

KNOWN = Usage(input=10, cache_read=0, cache_create=0, output=2)


class Scripted:
    """A model that answers with these figures; `None` for no answer."""

    about, keys, address, free = "a judge", (), None, True
    sampled, repeats = True, False
    ways: frozenset[Way] = frozenset({"chat"})

    def __init__(self, *usages: Usage | None) -> None:
        self.usages, self.asked = list(usages), list[Ask]()

    def program(self, _around: Around) -> Program:
        return Program(name="judge")

    @asynccontextmanager
    async def opened(self, _around: Around) -> AsyncIterator["Scripted"]:
        yield self

    async def complete(self, ask: Ask) -> Completion:
        self.asked.append(ask)
        usage = self.usages.pop(0)
        if usage is None:
            raise ModelFailed("it is broken")
        return Completion(text="8", finish="stop", usage=usage)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("usages", "tokens", "failed"),
    [
        ([KNOWN, KNOWN], 24, 0),
        ([KNOWN, Usage()], None, 0),
        ([Usage(), KNOWN], None, 0),
        ([KNOWN, None], None, 1),
        ([None, KNOWN], None, 1),
    ],
)
async def test_tokens_that_one_request_does_not_have_are_missing(
    usages: list[Usage | None], tokens: int | None, failed: int
) -> None:
    model = Scripted(*usages)
    source = JudgeSource(word="j", source=model, model_context=Around())
    async with source.start() as judge:
        counted = judge.start_counting("t")
        for _ in usages:
            await counted.ask(Ask(prompt=(Turn(role="user", text="?"),), sampling=Sampling()))
    own = counted.counts
    assert (own.judge_requests, own.judge_tokens, own.judge_failed) == (2, tokens, failed)
    assert [ask.sampling.max_tokens for ask in model.asked] == [MOST_TOKENS] * 2
