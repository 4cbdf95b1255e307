"""A model behind llama.cpp's own server: the real one, with a model of half a megabyte."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from swarm_bench.core.errors import ModelFailed, UsageError
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Completion,
    Gap,
    Sampling,
    Turn,
    Way,
)
from swarm_bench.core.status import Cause
from swarm_bench.models.servers.llamacpp import LlamaCpp, LlamaCppSource
from tests.builders.chat import chatting, fails
from tests.builders.llamacpp import needs_llamacpp, serving, write_model

pytestmark = pytest.mark.anyio
KEY = "sk-1234567890"
GAP = Gap(prefix="def f(a):\n", suffix="\n    return b")
TURNS = (Turn(role="user", text="Which?"),)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("llamacpp")
    with serving(write_model(folder / "tiny.gguf"), folder / "log") as url:
        yield url


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[LlamaCpp]:
    around = Around(variables={"MODEL_API_KEY": KEY}, timeout=20)
    async with LlamaCppSource(url).opened(around) as model:
        yield model


async def ask(url: str, prompt: Any, **sampling: Any) -> Completion:
    async with opened(url) as model:
        return await model.complete(Ask(prompt=prompt, sampling=Sampling(**sampling), seed=3))


@needs_llamacpp
@pytest.mark.parametrize("prompt", [TURNS, "def f(a):\n", GAP], ids=["chat", "text", "gap"])
async def test_it_answers_in_every_way(prompt: Any, url: str) -> None:
    answer = await ask(url, prompt, max_tokens=8, temperature=0.2, top_p=0.9, stop=("zz",))
    assert answer.text
    assert answer.finish == "length"
    assert answer.usage.output == 8
    assert answer.usage.input
    assert answer.requests == 1
    assert "tiny.gguf" in (answer.model or "")


@needs_llamacpp
async def test_a_seed_is_kept(url: str) -> None:
    first, second = [await ask(url, GAP, max_tokens=20, temperature=1.0) for _ in range(2)]
    assert first.text == second.text


@needs_llamacpp
async def test_what_surrounds_a_gap_is_cut_by_nobody_silently(url: str) -> None:
    """The server reads as much of it as one of its batches takes, and answers."""
    whole = Gap(prefix="x" * 1400, suffix="y" * 400)
    assert (await ask(url, whole, max_tokens=2)).usage.output == 2
    with pytest.raises(ModelFailed, match=r"read \d+ tokens around the gap, of 30\d\d;") as raised:
        await ask(url, Gap(prefix="x" * 3000, suffix="y"), max_tokens=2)
    assert raised.value.cause is Cause.CONTEXT_OVERFLOW


@needs_llamacpp
async def test_a_text_that_does_not_fit_is_an_overflow(url: str) -> None:
    with pytest.raises(ModelFailed, match="HTTP 400") as raised:
        await ask(url, "x" * 9000, max_tokens=2)
    assert raised.value.cause is Cause.CONTEXT_OVERFLOW


async def test_a_model_that_fills_no_gaps_ends_the_session() -> None:
    with (
        chatting(lambda _: fails(501, "Infill is not supported by this model")) as chat,
        pytest.raises(
            UsageError,
            match=r"HTTP 501 .*; start a new session in another way \(.*\), or of another model$",
        ),
    ):
        await ask(chat.url, GAP)


@pytest.mark.parametrize(
    ("state", "way", "asked"), [(501, "text", []), (501, "chat", []), (503, "gap", ["/infill"])]
)
def test_a_gap_is_tried_where_gaps_will_be_asked(state: int, way: Way, asked: list[str]) -> None:
    with chatting(lambda _: fails(state)) as chat:
        LlamaCppSource(chat.url).program(Around(ways=frozenset({way})))
    assert [body["path"] for body in chat.bodies] == asked


def test_a_model_that_fills_no_gaps_is_refused_before_a_session() -> None:
    unable = fails(501, "Infill is not supported by this model")
    with chatting(lambda _: unable) as chat, pytest.raises(UsageError, match="Infill is not"):
        LlamaCppSource(chat.url).program(Around(ways=frozenset({"gap"})))


async def test_an_address_may_have_the_path_of_the_other_api() -> None:
    with chatting(lambda _: fails(400)) as chat:
        for way in (GAP, "def"):
            with pytest.raises(ModelFailed):
                await ask(f"{chat.url}/v1", way)
    assert [body["path"] for body in chat.bodies] == ["/infill", "/v1/completions"]
    assert chat.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_what_is_no_answer_is_named() -> None:
    with (
        chatting(lambda _: (200, {}, b'{"content": 3}')) as chat,
        pytest.raises(ModelFailed, match=r'what is no completion \("\{"content": 3}"\)$'),
    ):
        await ask(chat.url, GAP)
