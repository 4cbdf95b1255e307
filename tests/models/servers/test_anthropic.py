"""A model behind the API of Anthropic, asked over HTTP."""

import json
from typing import Any

import pytest

from swarm_bench.core.errors import ModelFailed, UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Sampling, Turn
from swarm_bench.models.servers.anthropic import AnthropicSource, anthropic_server
from tests.builders.chat import Chat, State, chatting, fails

pytestmark = pytest.mark.anyio
KEY = "sk-ant-secret-1234567890"
USAGE = {
    "input_tokens": 5,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 2,
    "output_tokens": 3,
}


def says(text: str, **changes: Any) -> State:
    body = {
        "type": "message",
        "model": "m-1-20260101",
        "content": [{"type": "thinking", "thinking": "?"}, {"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": USAGE,
    }
    return 200, {}, json.dumps(body | changes).encode()


async def ask(url: str, **sampling: Any) -> Completion:
    turns = (Turn(role="system", text="Be short."), Turn(role="user", text="Which?"))
    async with anthropic_server("m-1", url, key=KEY, timeout=10) as model:
        return await model.complete(Ask(prompt=turns, sampling=Sampling(**sampling), seed=1))


async def test_it_answers_and_says_what_that_took() -> None:
    with chatting(lambda _: says("This one.")) as chat:
        said = await ask(chat.url, max_tokens=9, temperature=0.2, stop=("\n", "\ndef"))
    assert (said.text, said.finish, said.model) == ("This one.", "stop", "m-1-20260101")
    assert said.usage == Usage(input=5, cache_read=2, cache_create=0, output=3)
    assert chat.headers[0]["x-api-key"] == KEY
    assert chat.bodies == [
        {
            "model": "m-1",
            "max_tokens": 9,
            "temperature": 0.2,
            "stop_sequences": ["\ndef"],  # blank ones are refused
            "system": "Be short.",
            "messages": [{"role": "user", "content": "Which?"}],
            "path": "/messages",
        }
    ]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("max_tokens", "length"), ("refusal", "refused"), ("stop_sequence", "stop"), (None, None)],
)
async def test_the_end_of_an_answer_is_told(reason: str | None, finish: str | None) -> None:
    with chatting(lambda _: says("A", stop_reason=reason)) as chat:
        assert (await ask(chat.url)).finish == finish


async def test_what_is_refused_by_name_is_not_sent_again() -> None:
    def answer(chat: Chat) -> State:
        both = {"temperature", "top_p"} <= chat.bodies[-1].keys()
        return fails(400, "top_p: cannot be given with temperature") if both else says("A")

    with chatting(answer) as chat:
        async with anthropic_server("m-1", chat.url, key=KEY, timeout=10) as model:
            sampling = Sampling(temperature=0.2, top_p=0.9)
            asked = Ask(prompt=(Turn(role="user", text="?"),), sampling=sampling)
            first, second = await model.complete(asked), await model.complete(asked)
    assert (first.omitted, second.omitted) == (("top_p",), ("top_p",))
    assert len(chat.bodies) == 3


async def test_what_is_no_message_is_named() -> None:
    with (
        chatting(lambda _: (200, {}, b"{}")) as chat,
        pytest.raises(ModelFailed, match="no completion"),
    ):
        await ask(chat.url)


async def test_it_needs_a_key_and_turns() -> None:
    with pytest.raises(UsageError, match="set ANTHROPIC_API_KEY"):
        AnthropicSource("m-1").program(Around())
    async with anthropic_server("m-1", "http://127.0.0.1:1", key="") as model:
        with pytest.raises(UsageError, match="way=chat"):
            await model.complete(Ask(prompt="text"))
