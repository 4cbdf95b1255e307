"""A model behind Ollama's own API. Its answers are those of version 0.17.4."""

import json
from typing import Any

import pytest

from swarm_bench.core.errors import ModelFailed, UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Gap, Sampling, Turn
from swarm_bench.core.status import Cause
from swarm_bench.models.servers.ollama import OllamaSource
from tests.builders.chat import State, chatting

pytestmark = pytest.mark.anyio
TURNS = (Turn(role="system", text="Be short."), Turn(role="user", text="hi"))
DONE = {
    "model": "smol",
    "created_at": "2026-11-23T21:16:26.083215404Z",
    "done": True,
    "done_reason": "length",
    "total_duration": 750712570,
    "prompt_eval_count": 8,
    "eval_count": 5,
}
CHATTED = {**DONE, "message": {"role": "assistant", "content": "A simple"}}
GENERATED = {**DONE, "response": "A simple"}


def answers(body: dict[str, Any], number: int = 200) -> State:
    return number, {}, json.dumps(body).encode()


async def ask(url: str, prompt: Any = "def f", **sampling: Any) -> Completion:
    async with OllamaSource(f"smol:135m@{url}").opened(Around()) as model:
        return await model.complete(Ask(prompt=prompt, sampling=Sampling(**sampling), seed=1))


@pytest.mark.parametrize(
    ("prompt", "answer", "asked"),
    [
        (
            TURNS,
            CHATTED,
            {
                "path": "/api/chat",
                "messages": [
                    {"role": "system", "content": "Be short."},
                    {"role": "user", "content": "hi"},
                ],
            },
        ),
        ("def f", GENERATED, {"path": "/api/generate", "prompt": "def f", "raw": True}),
        (
            Gap(prefix="a", suffix="b"),
            GENERATED,
            {"path": "/api/generate", "prompt": "a", "suffix": "b"},
        ),
    ],
    ids=["chat", "text", "gap"],
)
async def test_it_answers_in_every_way(
    prompt: Any, answer: dict[str, Any], asked: dict[str, Any]
) -> None:
    with chatting(lambda _: answers(answer)) as server:
        completion = await ask(server.url, prompt, max_tokens=5, temperature=0.2, stop=("zz",))
    assert (completion.text, completion.finish, completion.model) == ("A simple", "length", "smol")
    assert completion.usage == Usage(input=8, cache_read=0, cache_create=0, output=5)
    assert server.bodies == [
        {
            "model": "smol:135m",
            "stream": False,
            "truncate": False,
            "options": {"num_predict": 5, "temperature": 0.2, "seed": 1, "stop": ["zz"]},
            **asked,
        }
    ]


async def test_tokens_that_are_not_counted_are_missing() -> None:
    with chatting(lambda _: answers({"response": "", "done_reason": "stop"})) as server:
        completion = await ask(server.url)
    assert (completion.text, completion.finish, completion.usage) == ("", "stop", Usage())


async def test_what_does_not_fit_is_an_overflow() -> None:
    error = {"error": "the input length exceeds the context length"}
    with chatting(lambda _: answers(error, 400)) as server, pytest.raises(ModelFailed) as raised:
        await ask(server.url)
    assert raised.value.cause is Cause.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    ("number", "reason", "advice"),
    [
        (400, "library/smol:latest does not support insert", "in another way .*, or of another"),
        (404, "model 'smol' not found", "check the address and the model's name"),
    ],
)
async def test_what_fails_every_time_ends_the_session(
    number: int, reason: str, advice: str
) -> None:
    with (
        chatting(lambda _: answers({"error": reason}, number)) as server,
        pytest.raises(UsageError, match=advice) as raised,
    ):
        await ask(server.url, Gap(prefix="a", suffix="b"))
    assert reason in str(raised.value)


@pytest.mark.parametrize("body", [{}, {"response": 3}, {"message": "hi"}])
async def test_what_is_no_answer_is_named(body: dict[str, Any]) -> None:
    with (
        chatting(lambda _: answers(body)) as server,
        pytest.raises(ModelFailed, match="with what is no completion"),
    ):
        await ask(server.url)


def test_it_is_asked_on_this_machine_unless_another_one_is_named() -> None:
    assert OllamaSource("m").program(Around()).path == "http://127.0.0.1:11434"
    assert OllamaSource("m@https://a.example").program(Around()).path == "https://a.example"
    with pytest.raises(UsageError, match="names no model"):
        OllamaSource("").program(Around())
    with pytest.raises(UsageError, match="unencrypted"):
        OllamaSource("m@http://a.example").program(Around(variables={"MODEL_API_KEY": "sk-1"}))
