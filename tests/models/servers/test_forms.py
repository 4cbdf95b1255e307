"""The forms of answers, as servers on the loopback interface give them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from swarm_bench.core.errors import (
    ModelFailed,
    NoCredit,
    NotAuthorized,
    SwarmBenchError,
    WrongAddress,
)
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Around, Ask, Completion, Gap, LanguageModel, Turn
from swarm_bench.core.status import Cause
from swarm_bench.models.servers.anthropic import anthropic_server
from swarm_bench.models.servers.compatible import compatible_server
from swarm_bench.models.servers.forms import body_of
from swarm_bench.models.servers.llamacpp import LlamaCppSource
from swarm_bench.models.servers.ollama import OllamaSource
from tests.builders.chat import Chat, State, chatting, fails, says

pytestmark = pytest.mark.anyio
TURNS = (Turn(role="user", text="Which?"),)
GAP = Gap(prefix="a", suffix="b")
KEY = "sk-secret-1234567890"


@contextmanager
def counted(*states: State) -> Iterator[Chat]:
    """Answer in this order, and with the last one ever after."""
    with chatting(lambda chat: states[min(len(chat.bodies), len(states)) - 1]) as chat:
        yield chat


async def ask(chat: Chat, kind: str = "compatible", prompt: Any = TURNS) -> Completion:
    opened: Any = {
        "compatible": lambda: compatible_server("m", chat.url, key=KEY, timeout=10),
        "anthropic": lambda: anthropic_server("m", chat.url, key=KEY, timeout=10),
        "ollama": lambda: OllamaSource(f"m@{chat.url}").opened(Around()),
        "llamacpp": lambda: LlamaCppSource(chat.url).opened(Around()),
    }
    model: LanguageModel
    async with opened[kind]() as model:
        return await model.complete(Ask(prompt=prompt))


def plain(body: Any, **headers: str) -> State:
    return 200, headers, json.dumps(body).encode()


def message(**fields: Any) -> State:
    return says(
        None, choices=[{"message": {"role": "assistant", **fields}, "finish_reason": "stop"}]
    )


def stream(*events: Any, kind: str = "text/event-stream", end: str = "data: [DONE]\n\n") -> State:
    lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return 200, {"Content-Type": kind}, f": keep\r\n\r\n{lines}{end}".encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}], "model": "m-2"}


THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([THINKING, {"type": "text", "text": "A"}, {"type": "text", "text": "B"}], "AB"),
        ([{"type": "reasoning", "text": "no"}, {"type": "output_text", "text": "A"}], "A"),
        (["A", {"type": "new", "data": 1}, {"type": "text", "text": {"value": "B"}}], "AB"),
        ({"type": "text", "text": "A"}, "A"),
        ({"parts": [{"text": "no", "thought": True}, {"text": "A"}]}, "A"),
        ([{"type": "text", "content": "A"}, [{"text": "B"}]], "AB"),
        ([{"text": "A", "content": "A"}], "A"),
        ([], ""),
    ],
)
async def test_the_parts_that_are_texts_are_the_answer(content: Any, text: str) -> None:
    with counted(message(content=content)) as chat:
        assert (await ask(chat)).text == text


@pytest.mark.parametrize(
    ("fields", "elsewhere"),
    [
        ({"reasoning_content": "So."}, "reasoning_content"),
        ({"reasoning": "So.", "content": ""}, "reasoning"),
        ({"content": [THINKING]}, "thinking"),
        ({"tool_calls": [{"function": {"name": "f"}}], "content": " \n"}, "tool_calls"),
        ({"function_call": {"name": "f"}}, "function_call"),
        ({"content": "", "thinking_blocks": [{"thinking": "So."}]}, "thinking_blocks"),
        ({"content": THINKING}, "thinking"),
        ({"content": "", "extra": {"reasoning": None}, "name": "m"}, None),
        ({"reasoning_content": "So.", "content": "A"}, None),
        ({"content": None, "reasoning_content": None, "tool_calls": []}, None),
    ],
)
async def test_an_empty_answer_says_where_its_text_is(fields: Any, elsewhere: str | None) -> None:
    with counted(message(**fields)) as chat:
        assert (await ask(chat)).elsewhere == elsewhere


def claude(**fields: Any) -> State:
    return plain({"type": "message", "stop_reason": "end_turn", **fields})


EMPTY: dict[str, tuple[str, State]] = {
    "nothing was written": ("compatible", says("", usage={
        "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})),
    "no output": ("compatible", says(None, usage={"prompt_tokens": 9, "completion_tokens": 0})),
    "alone": ("compatible", plain({"choices": [{"message": {"content": None}}]})),
    "a blank": ("compatible", says(" \n", usage={"prompt_tokens": 9, "completion_tokens": 0})),
    "no body": ("compatible", (200, {}, b"")),
    "no content": ("ollama", (204, {}, b"")),
    "no choices": ("compatible", plain({"choices": [], "usage": None})),
    "usage alone": ("compatible", plain({"usage": {"prompt_tokens": 0, "completion_tokens": 0}})),
    "the end of a stream": ("compatible", stream()),
    "filters before a break": ("compatible", stream(
        {"choices": [], "prompt_filter_results": [{"hate": {"filtered": False}}]}, end="")),
    "a whole stream of filters": ("compatible", (200, {}, b"".join(
        b"data: " + json.dumps(it).encode() + b"\n\n"
        for it in ({"choices": [], "prompt_filter_results": [{"hate": {"filtered": False}}]},
                   {"choices": [{"delta": {"content": ""}, "finish_reason": None}]})))),
    "without an end": ("compatible", says("", choices=[{"message": {"content": ""}}])),
    "a stream": ("compatible", stream(delta(content=""))),
    "no blocks": ("anthropic", claude(content=[], usage={"output_tokens": 0})),
    "blocks that are null": ("anthropic", claude(content=None, stop_reason=None)),
    "none was counted": ("ollama", plain({
        "message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 0})),
    "null": ("ollama", plain({"message": {"content": None}, "done": True})),
}  # fmt: skip


@pytest.mark.parametrize("name", EMPTY)
async def test_an_empty_answer_of_which_nothing_is_told_is_asked_again(name: str) -> None:
    kind, state = EMPTY[name]
    wholes = {
        "compatible": says("whole"),
        "anthropic": claude(content=[{"type": "text", "text": "whole"}], usage=None),
        "ollama": plain({"message": {"content": "whole"}, "done": True}),
    }
    with counted(state, wholes[kind]) as chat:
        answer = await ask(chat, kind)
    assert (answer.text, answer.requests) == ("whole", 2)


async def test_an_empty_answer_that_was_written_is_one() -> None:
    empty = {
        "compatible": says(""),
        "anthropic": claude(content=[], usage={"output_tokens": 1}),
        "ollama": plain({"message": {"content": ""}, "done": True, "done_reason": "stop"}),
    }
    for kind, state in empty.items():
        with counted(state) as chat:
            answer = await ask(chat, kind)
        assert (answer.text, answer.finish, answer.requests) == ("", "stop", 1)


TWICE: dict[str, dict[str, Any]] = {
    "an empty delta": {"delta": {}, "message": {"content": "A"}},
    "a delta without text": {"delta": {"content": ""}, "message": {"content": "A"}},
    "an empty message": {"delta": {"content": "A"}, "message": {"content": None}},
    "both": {"delta": {"content": "A"}, "message": {"content": "A"}},
    "a text beside": {"text": "A", "message": {"content": "A"}},
    "a text instead": {"text": "A", "message": {"content": ""}},
}


@pytest.mark.parametrize("name", TWICE)
async def test_a_text_in_several_places_is_read_once(name: str) -> None:
    with counted(says("", choices=[{**TWICE[name], "finish_reason": "stop"}])) as chat:
        assert (await ask(chat)).text == "A"


async def test_a_stream_whose_last_piece_repeats_it_is_read_once() -> None:
    last = {"choices": [{"message": {"content": "AB"}, "finish_reason": "stop"}]}
    with counted(stream(delta(content="A"), delta(content="B"), last)) as chat:
        assert (await ask(chat)).text == "AB"


ANSWER = {"choices": [{"message": {"content": "für"}, "finish_reason": "stop"}]}
TEXT = json.dumps(ANSWER, ensure_ascii=False)
ODD: dict[str, tuple[str, bytes, str]] = {
    "a bad byte": ("", TEXT.encode().replace("ü".encode(), b"\xff"), "f\ufffdr"),
    "a charset": ("application/json; charset=iso-8859-1", TEXT.encode("latin-1"), "für"),
    "half a character": ("", TEXT.encode().replace("ü".encode(), b"\xc3"), "f\ufffdr"),
    "comments": ("application/json", f": WAIT\n\n: WAIT\n\n{TEXT}".encode(), "für"),
    "called a stream": ("text/event-stream", TEXT.encode(), "für"),
    "no lines between": ("text/event-stream", b"\n".join(
        b"data: " + json.dumps(it).encode() for it in (delta(content="f"), delta("stop"))
    ) + b"\ndata: [DONE]\n", "f"),
    "in a list": ("", f"[{TEXT}]".encode(), "für"),
    "a line break in a string": ("", TEXT.replace("für", "f\nr").encode(), "f\nr"),
    "a success": ("", json.dumps(
        {**ANSWER, "error": {"code": 0, "message": "success"}}).encode(), "für"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
async def test_an_answer_in_an_odd_form_is_read(name: str) -> None:
    kind, content, text = ODD[name]
    with counted((200, {"Content-Type": kind} if kind else {}, content)) as chat:
        assert (await ask(chat)).text == text


FLAGGED: tuple[dict[str, Any], ...] = (
    {"promptFeedback": {"blockReason": "SAFETY"}},
    {
        "choices": [],
        "prompt_filter_results": [
            {
                "content_filter_results": {
                    "hate": {"filtered": False},
                    "violence": {"filtered": True},
                }
            }
        ],
    },
)


@pytest.mark.parametrize("document", FLAGGED)
async def test_a_prompt_that_was_blocked_is_refused(document: dict[str, Any]) -> None:
    with counted(plain(document)) as chat, pytest.raises(ModelFailed) as raised:
        await ask(chat)
    assert raised.value.cause is Cause.REFUSED


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"status": "failed", "message": "Your account balance is insufficient"}, NoCredit),
        ({"errno": 3, "errmsg": "Invalid API key"}, NotAuthorized),
        ({"ret": 1, "msg": "the rate limit is reached", "choices": None}, ModelFailed),
    ],
)
async def test_what_has_words_in_the_place_of_an_answer_is_a_refusal(
    document: dict[str, Any], error: type[SwarmBenchError]
) -> None:
    with counted(plain(document), says("whole")) as chat:
        if error is ModelFailed:
            assert (await ask(chat)).text == "whole"
        else:
            with pytest.raises(error):
                await ask(chat)


@pytest.mark.parametrize(
    ("usage", "wanted"),
    [
        ({"input_tokens": 7, "output_tokens": 3}, (7, 0, 3)),
        ({"prompt_tokens": 7, "completion_tokens": 3, "prompt_cache_hit_tokens": 5}, (2, 5, 3)),
        ({"prompt_tokens": 7, "completion_tokens": 3, "cached_tokens": 5}, (2, 5, 3)),
        ({"prompt_tokens": 7, "completion_tokens": 3, "reasoning_tokens": 80}, (7, 0, 83)),
        ({"prompt_tokens": "7", "completion_tokens": 3.0, "total_tokens": "90"}, (7, 0, 83)),
    ],
)
async def test_tokens_have_other_names(usage: Any, wanted: tuple[int, int, int]) -> None:
    with counted(says("A", usage=usage)) as chat:
        stated = (await ask(chat)).usage
    assert (stated.input, stated.cache_read, stated.output) == wanted


async def test_what_is_no_answer_is_quoted() -> None:
    with (
        counted(plain({"status": "queued"})) as chat,
        pytest.raises(ModelFailed, match="queued"),
    ):
        await ask(chat)


async def test_a_detail_that_is_none_costs_no_other_count() -> None:
    details = {"reasoning_tokens": 2, "cached_tokens": "none"}
    usage = {**USAGE, "prompt_tokens_details": "none", "completion_tokens_details": details}
    with counted(says("A", usage=usage)) as chat:
        answer = await ask(chat)
    assert (answer.usage.input, answer.usage.output) == (7, 3)


async def test_a_refusal_is_refused() -> None:
    with counted(message(refusal="I cannot.")) as chat:
        answer = await ask(chat)
    assert (answer.text, answer.finish) == ("", "refused")


CLAUDE = (
    {"type": "message_start", "message": {
        "type": "message", "content": [], "model": "m-2", "usage": {"input_tokens": 7}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "A"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "B"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
)  # fmt: skip
USAGE = {"prompt_tokens": 7, "completion_tokens": 3}
STREAMS: dict[str, tuple[str, Any, State]] = {
    "chat": ("compatible", TURNS, stream(
        delta(role="assistant"), delta(content="A"), delta(content="B"), delta("stop"),
        {"choices": [], "usage": USAGE})),
    "chat without its type": ("compatible", TURNS, stream(
        delta(content="A"), delta("stop", content="B"),
        {"choices": [], "usage": USAGE}, kind="application/json", end="")),
    "parts": ("compatible", TURNS, stream(
        delta(content=[{"type": "text", "text": "A"}]), delta("stop", content="B"),
        {"usage": USAGE})),
    "text": ("compatible", "x", stream(
        {"choices": [{"text": "A"}]}, {"choices": [{"text": "B", "finish_reason": "stop"}]},
        {"choices": [], "usage": USAGE})),
    "events": ("anthropic", TURNS, stream(*CLAUDE, end="")),
    "lines": ("ollama", TURNS, (200, {"Content-Type": "application/x-ndjson"}, b"\n".join(
        json.dumps(it).encode() for it in (
            {"message": {"content": "A"}, "done": False},
            {"message": {"content": "B"}, "done": False},
            {"message": {"content": ""}, "done": True, "done_reason": "stop",
             "prompt_eval_count": 7, "eval_count": 3})))),
    "lines of a text": ("ollama", "x", (200, {}, b"\n".join(
        json.dumps(it).encode() for it in (
            {"response": "AB", "done": False},
            {"response": "", "done": True, "done_reason": "stop",
             "prompt_eval_count": 7, "eval_count": 3})))),
    "gap": ("llamacpp", GAP, stream(
        {"content": "A", "stop": False},
        {"content": "B", "stop": True, "stop_type": "eos", "tokens_evaluated": 7,
         "tokens_predicted": 3, "tokens": [1]}, end="")),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_that_nobody_asked_for_is_read(name: str) -> None:
    kind, prompt, state = STREAMS[name]
    tokens = plain({"tokens": [1, 2]})
    with chatting(lambda chat: tokens if "tokenize" in chat.bodies[-1]["path"] else state) as chat:
        answer = await ask(chat, kind, prompt)
    assert (answer.text, answer.finish, answer.requests) == ("AB", "stop", 1)
    assert (answer.usage.input, answer.usage.output) == (7, 3)


BROKEN: dict[str, tuple[str, Any, State]] = {
    "no end": ("compatible", TURNS, stream(delta(content="A"), end="")),
    "no end of events": ("anthropic", TURNS, stream(*CLAUDE[:4], end="")),
    "no end of lines": ("ollama", TURNS, plain({"message": {"content": "A"}, "done": False})),
    "an error in the middle": ("compatible", TURNS, stream(
        delta(content="A"), {"error": {"message": "from upstream", "code": 502}}, delta("stop"))),
    "an event of an error": ("compatible", TURNS, stream(
        delta(content="A"), end='event: error\ndata: {"code": 503, "message": "no"}\n\n')),
    "overloaded": ("anthropic", TURNS, plain(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})),
    "a line of an error": ("ollama", TURNS, (
        200, {}, b'{"message": {"content": "A"}, "done": false}\n{"error": "timed out"}')),
    "in the choice": ("compatible", TURNS, says("A", choices=[
        {"message": {"content": "A"}, "finish_reason": "stop", "error": {"code": 502}}])),
    "by its end": ("compatible", TURNS, says("A", choices=[
        {"message": {"content": "A"}, "finish_reason": "error"}])),
    "by the end behind a router": ("compatible", "x", says("A", choices=[
        {"text": "", "finish_reason": "stop", "native_finish_reason": "network_error"}])),
    "at the top": ("compatible", TURNS, plain({"error": {"message": "wait", "code": 429}})),
    "a cut line": ("ollama", TURNS, (
        200, {}, b'{"message": {"content": "A"}, "done": false}\n{"message": {"con')),
    "a cut event": ("compatible", TURNS, stream(delta(content="A"), end='data: {"cho')),
    "an event of words": ("compatible", TURNS, stream(
        delta(content="A"), end="event: error\ndata: server overloaded\n\n")),
    "no message": ("compatible", TURNS, says("", choices=[{"finish_reason": "error"}])),
    "in a list": ("compatible", TURNS, plain([{"error": {"code": 503, "message": "no"}}])),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
async def test_what_broke_off_is_asked_again(name: str) -> None:
    kind, prompt, state = BROKEN[name]
    wholes = {
        "compatible": says("whole") if prompt is TURNS else says("", choices=[{"text": "whole"}]),
        "anthropic": plain({"content": [{"type": "text", "text": "whole"}]}),
        "ollama": plain({"message": {"content": "whole"}, "done": True}),
    }
    with counted(state, wholes[kind]) as chat:
        answer = await ask(chat, kind, prompt)
    assert (answer.text, answer.requests) == ("whole", 2)


@pytest.mark.parametrize("finish", ["new", "ERROR_LIMIT", "load"])
@pytest.mark.parametrize("kind", ["compatible", "anthropic", "ollama"])
async def test_an_end_that_nobody_knows_is_no_answer(kind: str, finish: str) -> None:
    states = {
        "compatible": says("A", choices=[{"message": {"content": "A"}, "finish_reason": finish}]),
        "anthropic": plain({"content": [{"type": "text", "text": "A"}], "stop_reason": finish}),
        "ollama": plain({"message": {"content": "A"}, "done": True, "done_reason": finish}),
    }
    with counted(states[kind]) as chat, pytest.raises(ModelFailed, match=finish) as raised:
        await ask(chat, kind)
    assert raised.value.cause is Cause.PROVIDER_FAILED
    assert len(chat.bodies) == 1


@pytest.mark.parametrize(
    ("word", "finish"),
    [("eos_token", "stop"), ("<|eot_id|>", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "refused"),
     ("tool_calls", "stop"), ("maxPredictedTokensReached", "length"),
     ("token_limit", "length"), ("length-limit", "length"), ("maxTokens", "length"),
     ("EndTurn", "stop"), ("eosFound", "stop"), ("repetition", "length"), (1, None),
     ("", None), (None, None),
     ("FINISH_REASON_STOP", "stop")],
)  # fmt: skip
async def test_other_words_for_an_end_are_known(word: str | None, finish: str | None) -> None:
    choices = [{"message": {"content": "A"}, "finish_reason": word}]
    with counted(says("A", choices=choices)) as chat:
        assert (await ask(chat)).finish == finish


@pytest.mark.parametrize(
    ("usage", "wanted"),
    [
        ((100, 50, 950, None, 800), (100, 0, 850)),
        ((100, 50, None, None, 800), (100, 0, 850)),
        ((100, 50, 150, None, 20), (100, 0, 50)),
        ((100, 50, 90, None, None), (100, 0, 50)),
        ((100, None, 950, None, None), (100, 0, 850)),
        ((None, 50, 150, None, None), (100, 0, 50)),
        ((None, None, 150, None, None), (None, None, None)),
        ((100, 50, 150, 40, None), (60, 40, 50)),
        ((10, 50, 1060, 1000, None), (10, 1000, 50)),
        ((100, None, None, None, None), (100, 0, None)),
    ],
)
async def test_what_only_the_total_has_was_written(
    usage: tuple[int | None, ...], wanted: tuple[int | None, ...]
) -> None:
    sent, written, total, cached, thought = usage
    stated = {
        "prompt_tokens": sent, "completion_tokens": written, "total_tokens": total,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }  # fmt: skip
    with counted(says("A", usage=stated)) as chat:
        answer = await ask(chat)
    assert (answer.usage.input, answer.usage.cache_read, answer.usage.output) == wanted


@pytest.mark.parametrize(
    ("kind", "prompt"),
    [("compatible", TURNS), ("compatible", "x"), ("anthropic", TURNS), ("ollama", TURNS),
     ("llamacpp", TURNS), ("llamacpp", GAP)],
)  # fmt: skip
async def test_what_fails_every_time_has_one_error_everywhere(kind: str, prompt: Any) -> None:
    for state, wanted in {402: NoCredit, 403: NotAuthorized, 308: WrongAddress}.items():
        moved = (
            {"Location": "https://user:word@else.example/api/v9?token=1"} if state == 308 else {}
        )
        with counted(fails(state, "no", **moved)) as chat:
            with pytest.raises(SwarmBenchError) as raised:
                await ask(chat, kind, prompt)
            assert type(raised.value) is wanted
            assert len(chat.bodies) == 1
        if moved:
            assert "https://else.example/api/v9" in str(raised.value)
            assert not {"word", "token"} & {*str(raised.value).replace("=", "@").split("@")}


@pytest.mark.parametrize(
    ("reason", "finish", "text"),
    [("content_filter", "refused", ""), ("length", "length", ""), ("stop", "stop", "whole")],
)
async def test_a_choice_without_a_message_is_none_but_where_its_end_says_why(
    reason: str, finish: str, text: str
) -> None:
    with counted(says("", choices=[{"finish_reason": reason}]), says("whole")) as chat:
        answer = await ask(chat)
    assert (answer.finish, answer.text) == (finish, text)


@pytest.mark.parametrize("count", [-1, "many", 1.5, [], {}])
async def test_a_count_that_is_none_costs_no_answer(count: Any) -> None:
    states = {
        "anthropic": plain({"content": [{"type": "text", "text": "A"}],
                            "usage": {"input_tokens": 4, "output_tokens": count}}),
        "ollama": plain({"message": {"content": "A"}, "done": True,
                         "prompt_eval_count": 4, "eval_count": count}),
        "compatible": says("A", usage={"prompt_tokens": 4, "completion_tokens": count}),
    }  # fmt: skip
    for kind, state in states.items():
        with counted(state) as chat:
            answer = await ask(chat, kind)
        assert (answer.text, answer.usage.input, answer.usage.output) == ("A", 4, None)


@pytest.mark.parametrize("count", [-1, "many"])
async def test_a_gap_is_filled_whatever_the_count_of_its_tokens(count: Any) -> None:
    filled = plain({"content": "B", "tokens_evaluated": 7, "tokens_predicted": count})
    tokens = plain({"tokens": [1, 2]})
    states = {True: tokens, False: filled}
    with chatting(lambda chat: states["tokenize" in chat.bodies[-1]["path"]]) as chat:
        answer = await ask(chat, "llamacpp", GAP)
    assert (answer.text, answer.usage.input, answer.usage.output) == ("B", 7, None)


@pytest.mark.parametrize("nothing", [None, 5])
async def test_events_that_have_nothing_in_them_cost_no_answer(nothing: Any) -> None:
    begin = {"type": "message_start", "message": {"content": nothing, "usage": nothing}}
    with counted(stream(begin, *CLAUDE[1:])) as chat:
        answer = await ask(chat, "anthropic")
    assert (answer.text, answer.usage.output) == ("AB", 3)


async def test_what_is_no_text_is_null_beside_what_stands_elsewhere() -> None:
    call = {"function": {"name": "f"}}
    states = {
        "anthropic": plain({"content": [{"type": "tool_use", "text": None}],
                            "stop_reason": "tool_use"}),
        "ollama": plain({"message": {"content": None, "tool_calls": [call]}, "done": True}),
    }  # fmt: skip
    for kind, elsewhere in {"anthropic": "tool_use", "ollama": "tool_calls"}.items():
        with counted(states[kind]) as chat:
            answer = await ask(chat, kind)
        assert (answer.text, answer.elsewhere) == ("", elsewhere)


async def test_a_refusal_without_any_text_is_refused() -> None:
    with counted(plain({"content": None, "stop_reason": "refusal"})) as chat:
        assert (await ask(chat, "anthropic")).finish == "refused"


async def test_a_redirection_names_what_to_give_instead() -> None:
    def moved(chat: Chat) -> State:
        return 307, {"Location": f"https://a.example{chat.bodies[-1]['path']}"}, b""

    with chatting(moved) as chat, pytest.raises(WrongAddress, match=r" https://a\.example/v1$"):
        await ask(chat)


@pytest.mark.parametrize("reason", ["quota", "context length", "flagged by the content filter"])
async def test_words_of_a_model_are_no_refusal(reason: str) -> None:
    """What is no answer is the provider's, whatever is written in it."""
    with (
        counted(plain({"message": f"{reason} exceeded"})) as chat,
        pytest.raises(ModelFailed, match=reason) as raised,
    ):
        await ask(chat)
    assert raised.value.cause is Cause.PROVIDER_FAILED


async def test_an_answer_about_errors_is_an_answer() -> None:
    with counted(says("error: insufficient_quota", error=None)) as chat:
        answer = await ask(chat)
    assert (answer.text, answer.usage) == (
        "error: insufficient_quota", Usage(input=60, cache_read=40, cache_create=0, output=10),
    )  # fmt: skip


def test_comments_before_a_stream_are_passed_over_at_once() -> None:
    assert body_of(b": a\n:\r\n\n" * 2_000_000 + b'data: {"a": 1}').documents == ({"a": 1},)


async def test_a_field_may_be_nested_deeply() -> None:
    field: dict[str, Any] = {"a": 1}
    for _ in range(800):
        field = {"a": field}
    with counted(message(content="", extra=field)) as chat:
        assert (await ask(chat)).elsewhere == "extra"
