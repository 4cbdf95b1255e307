"""Requests as opencode 1.18.33 and Qwen Code 0.24.4 make them, and answers as they read them."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.models.rehearsal.faults import Stop
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply
from swarm_bench.programs.rehearsal.apis.chat import Chat

API = Chat()
USAGE = Usage(input=0, cache_read=100, cache_create=20, output=7)
CALLS = (
    ToolCall(id="call_1", name="bash", arguments={"command": "echo é " + "x" * 300}),
    ToolCall(id="call_2", name="now", arguments={}),
)


def request_of(program: str) -> dict[str, Any]:
    """The request after one turn of calls."""
    text = Path(__file__).with_name("requests").joinpath(f"{program}.json").read_text("utf-8")
    body: dict[str, Any] = json.loads(text)
    return body


def ask(*messages: dict[str, Any], **more: Any) -> AgentRequest:
    return API.read({"model": "m", "messages": list(messages), **more})


def reply(
    text: str = "", calls: tuple[ToolCall, ...] = (), stop: Stop = "end", *, usage: bool = True
) -> Reply:
    message = Message(role="assistant", text=text, calls=calls)
    echo = ask({"role": "user", "content": "Hi"}, stream_options={"include_usage": usage}).echo
    return Reply(id="1", model="m", message=message, usage=USAGE, stop=stop, echo=echo)


def streamed(given: Reply) -> list[dict[str, Any]]:
    *events, last = API.events(given)
    assert last == "data: [DONE]\n\n"
    assert all(event.endswith("}\n\n") for event in events)
    return [json.loads(event.removeprefix("data: ")) for event in events]


def deltas(given: Reply) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in streamed(given) if chunk["choices"]]


def test_a_request_of_opencode() -> None:
    asked = API.read(request_of("opencode"))
    assert (asked.model, asked.stream) == ("m1", True)
    task, assistant, results = asked.messages
    assert task.text == '"Find where hello is defined"'
    assert assistant.text == "I look."
    assert [call.name for call in assistant.calls] == ["canopy_canopy_query", "bash"]
    assert assistant.calls[0].arguments == {"pattern": "hello é", "limit": 3}
    assert results.results == (
        ToolResult(id="call_00001", text="found hello é"),
        ToolResult(id="call_00002", text="a.py\n"),
    )
    assert "canopy_canopy_query" in [tool.name for tool in asked.tools]
    assert asked.echo["include_usage"] is True


def test_a_request_of_qwen() -> None:
    asked = API.read(request_of("qwen"))
    task, assistant, results = asked.messages
    assert task.text.startswith("<system-reminder>")
    assert task.text.endswith("\nFind where hello is defined")
    assert assistant.calls[0].name == "run_shell_command"
    assert results.results[0].text.startswith("Command: ls\n")
    assert {"tool_search", "tool_call"} <= {tool.name for tool in asked.tools}


@pytest.mark.parametrize("program", ["opencode", "qwen"])
def test_a_prompt_is_tools_and_messages(program: str) -> None:
    body = request_of(program)
    sent = [*body["tools"], *body["messages"]]
    assert [json.loads(part) for part in API.read(body).parts] == sent


def test_a_small_request() -> None:
    asked = ask(
        {"role": "developer", "content": "D"}, {"role": "user", "content": "Hi"}, tools=None
    )
    assert asked.messages == (Message(role="user", text="Hi"),)
    assert (asked.stream, asked.tools, asked.schema) == (False, (), None)


def test_tools_that_must_not_be_called_are_not_offered() -> None:
    assert API.read({**request_of("qwen"), "tool_choice": "none"}).tools == ()


def test_tools_of_other_kinds_are_not_ours_to_call() -> None:
    tools = [{"type": "custom", "custom": {"name": "x"}}]
    assert ask({"role": "user", "content": "Hi"}, tools=tools).tools == ()


def test_schema() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    hi = {"role": "user", "content": "Hi"}
    assert ask(hi, response_format=wanted).schema == {"type": "object"}
    assert ask(hi, response_format={"type": "json_object"}).schema is None


def test_answer() -> None:
    answer = API.answer(reply("I look.", CALLS, "tools"))
    (choice,) = answer["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "I look."
    first, second = choice["message"]["tool_calls"]
    assert json.loads(first["function"]["arguments"]) == CALLS[0].arguments
    assert (second["id"], second["function"]) == ("call_2", {"name": "now", "arguments": "{}"})
    assert answer["usage"] == {
        "prompt_tokens": 120,
        "completion_tokens": 7,
        "total_tokens": 127,
        "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def test_a_stream_carries_the_answer() -> None:
    text, arguments = "", {0: "", 1: ""}
    for delta in deltas(reply("word " * 100, CALLS, "tools")):
        text += delta.get("content") or ""
        for call in delta.get("tool_calls", []):
            arguments[call["index"]] += call["function"]["arguments"]
    assert text == "word " * 100
    assert [json.loads(given) for given in arguments.values()] == [c.arguments for c in CALLS]


def test_a_call_is_named_once_in_a_stream() -> None:
    calls = [
        call
        for delta in deltas(reply("", CALLS, "tools"))
        for call in delta.get("tool_calls", [])
        if "id" in call
    ]
    assert [(call["id"], call["function"]["name"]) for call in calls] == [
        ("call_1", "bash"),
        ("call_2", "now"),
    ]


def test_usage_of_a_stream_comes_when_asked_for() -> None:
    *_, end, usage = streamed(reply("Hi"))
    assert end["choices"][0]["finish_reason"] == "stop"
    assert usage["choices"] == []
    assert usage["usage"]["prompt_tokens"] == 120
    assert all(chunk["choices"] for chunk in streamed(reply("Hi", usage=False)))


def test_a_refusal() -> None:
    (choice,) = API.answer(reply("No.", stop="refusal"))["choices"]
    assert choice["finish_reason"] == "content_filter"
    assert (choice["message"]["content"], choice["message"]["refusal"]) == (None, "No.")
    assert {"refusal": "No."} in deltas(reply("No.", stop="refusal"))


@pytest.mark.parametrize(("stop", "reason"), [("end", "stop"), ("length", "length")])
def test_an_empty_answer(stop: Stop, reason: str) -> None:
    (choice,) = API.answer(reply(stop=stop))["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, reason)
    assert "".join(delta.get("content", "") for delta in deltas(reply(stop=stop))) == ""


def test_an_overflow_is_named() -> None:
    error = API.error(400, "context_overflow", "It is so.")["error"]
    assert error["code"] == "context_length_exceeded"
    assert "exceeds the context window" in error["message"]


def call(arguments: str) -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": "1", "function": function}]}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": "m"},
        {"model": "m", "messages": []},
        {"model": "m", "messages": "Hi"},
        {"model": "m", "messages": ["Hi"]},
        {"model": "m", "messages": [{"role": "king", "content": "Hi"}]},
        {"model": "m", "messages": [{"role": "tool", "content": "Hi"}]},
        {"model": "m", "messages": [{"role": "user", "content": [5]}]},
        {"model": "m", "messages": [call("[1]")]},
        {"model": "m", "messages": [call("{")]},
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [5]},
    ],
)
def test_what_is_no_request_is_refused_in_one_sentence(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
        API.read(body)
