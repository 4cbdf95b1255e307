"""A model behind a server of chat completions, asked over HTTP."""

import socket
import time

import pytest

from swarm_bench.core.errors import ModelFailed, NotAuthorized, UsageError, WrongAddress
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion, Sampling, Turn
from swarm_bench.models.servers.compatible import compatible_server
from tests.builders.chat import Chat, State, chatting, fails, says

pytestmark = pytest.mark.anyio
KEY = "sk-secret-1234567890"
LIMITED = Ask(prompt=(Turn(role="user", text="Which?"),), sampling=Sampling(max_tokens=7))


async def ask(url: str, *, key: str = KEY, timeout: float = 10) -> Completion:
    async with compatible_server("m-1", url, key=key, timeout=timeout) as model:
        return await model.complete(Ask(prompt=(Turn(role="user", text="Which?"),)))


async def test_it_answers_and_says_what_that_took() -> None:
    with chatting(lambda _: says("This one.")) as chat:
        reply = await ask(chat.url)
    assert (reply.text, reply.requests) == ("This one.", 1)
    assert reply.usage == Usage(input=60, cache_read=40, cache_create=0, output=10)
    assert chat.bodies == [
        {
            "model": "m-1",
            "messages": [{"role": "user", "content": "Which?"}],
            "path": "/v1/chat/completions",
        }
    ]
    assert chat.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_an_address_can_have_a_path_and_a_key_is_not_needed() -> None:
    with chatting(lambda _: says(None)) as chat:
        reply = await ask(f"{chat.url}/api/v3/", key="")
    assert reply.text == ""
    assert chat.bodies[0]["path"] == "/api/v3/chat/completions"
    assert "authorization" not in chat.headers[0]


@pytest.mark.parametrize("usage", [None, {}, "much", {"prompt_tokens": -1}])
async def test_tokens_that_are_not_told_are_missing(usage: object) -> None:
    with chatting(lambda _: says("A", usage=usage)) as chat:
        assert (await ask(chat.url)).usage == Usage()


async def test_a_busy_server_is_asked_again_after_the_time_that_it_names() -> None:
    answers = [fails(429, "slow down", Retry_After="1"), fails(500), says("A")]
    with chatting(lambda chat: answers[len(chat.bodies) - 1]) as chat:
        began = time.monotonic()
        reply = await ask(chat.url)
    assert (reply.text, reply.requests) == ("A", 3)
    assert time.monotonic() - began >= 2


async def test_nobody_waits_for_an_hour() -> None:
    with (
        chatting(lambda _: fails(429, Retry_After="3600")) as chat,
        pytest.raises(ModelFailed, match="429$"),
    ):
        await ask(chat.url)
    assert len(chat.bodies) == 1


@pytest.mark.parametrize(
    ("number", "error"),
    [(400, ModelFailed), (301, WrongAddress), (401, NotAuthorized), (404, UsageError)],
)
async def test_what_fails_every_time_is_asked_once(number: int, error: type[Exception]) -> None:
    with (
        chatting(lambda _: fails(number, f"no: {KEY}", Location="/elsewhere")) as chat,
        pytest.raises(error, match=f"HTTP {number}") as raised,
    ):
        await ask(chat.url)
    assert KEY not in str(raised.value)
    assert len(chat.bodies) == 1


@pytest.mark.parametrize("body", [b"[]", b'{"status": "no"}', b"\xff{", b"[" * 100_000])
async def test_what_is_no_answer_is_named(body: bytes) -> None:
    with (
        chatting(lambda _: (200, {}, body)) as chat,
        pytest.raises(ModelFailed, match="no completion"),
    ):
        await ask(chat.url)


async def test_one_that_never_answers_is_left_after_the_time_limit() -> None:
    def silent(chat: Chat) -> State:
        time.sleep(1)
        return says("late")

    with chatting(silent) as chat, pytest.raises(ModelFailed, match=r"did not answer within 0.2 s"):
        await ask(chat.url, timeout=0.2)
    assert len(chat.bodies) == 1


async def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ModelFailed, match="cannot be asked"):
        await ask(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "url",
    ["", "api.example.org", "ftp://a.org", "http://", "http://u:p@a.org", "http://a.org/?key=1"],
)
async def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        await ask(url)


async def test_a_key_crosses_no_network_unencrypted() -> None:
    with pytest.raises(UsageError, match="unencrypted"):
        await ask("http://models.example.org/v1")


async def test_what_a_server_refuses_is_looked_for_in_its_own_words() -> None:
    """And not in the name of the model, or the address."""
    with chatting(lambda _: fails(400, "no such thing")) as chat:
        async with compatible_server("seed-stop-oss", chat.url, timeout=5) as model:
            for _ in range(2):
                with pytest.raises(ModelFailed):
                    await model.complete(Ask(prompt="x", sampling=Sampling(stop=("a",)), seed=1))
    assert [("seed" in body, "stop" in body) for body in chat.bodies] == [(True, True)] * 2


async def test_a_limit_is_called_as_its_server_wants() -> None:
    """Models that think refuse the older name, and say the other one."""
    reason = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."

    def answer(chat: Chat) -> State:
        return fails(400, reason) if "max_tokens" in chat.bodies[-1] else says("A")

    async def asked(url: str) -> list[Completion]:
        async with compatible_server("m-1", url) as model:
            return [await model.complete(LIMITED), await model.complete(LIMITED)]

    with chatting(answer) as chat:
        answers = await asked(chat.url)
    assert [(it.text, it.omitted) for it in answers] == [("A", ())] * 2
    assert [body.get("max_completion_tokens") for body in chat.bodies] == [None, 7, 7]


async def test_a_limit_that_is_refused_is_not_left_out() -> None:
    with (
        chatting(lambda _: fails(400, "max_tokens is too large")) as chat,
        pytest.raises(ModelFailed),
    ):
        async with compatible_server("m-1", chat.url) as model:
            await model.complete(LIMITED)
    assert ["max_tokens" in body for body in chat.bodies] == [True]


async def test_requests_before_a_refusal_are_counted() -> None:
    answers = [fails(503), fails(503), fails(400, "no")]
    with (
        chatting(lambda chat: answers[len(chat.bodies) - 1]) as chat,
        pytest.raises(ModelFailed, match="HTTP 400") as raised,
    ):
        await ask(chat.url)
    assert raised.value.requests == 3
