"""Requests as Codex 0.169.0 makes them, and answers as it reads them."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply
from swarm_bench.programs.rehearsal.apis.responses import Responses

API = Responses()
USAGE = Usage(input=0, cache_read=100, cache_create=20, output=7)
CALLS = (
    ToolCall(id="call_1", name="mcp__canopy__canopy_query", arguments={"pattern": "é"}),
    ToolCall(id="call_2", name="exec_command", arguments={"cmd": "ls"}),
)


def codex() -> dict[str, Any]:
    """The second request of a session: one turn of calls has been made."""
    text = Path(__file__).with_name("requests").joinpath("codex.json").read_text("utf-8")
    body: dict[str, Any] = json.loads(text)
    return body


def ask(*items: dict[str, Any], **more: Any) -> AgentRequest:
    return API.read({"model": "m", "input": list(items), **more})


def reply(text: str = "", calls: tuple[ToolCall, ...] = (), stop: Stop = "end") -> Reply:
    message = Message(role="assistant", text=text, calls=calls)
    echo = API.read(codex()).echo
    return Reply(id="1", model="gpt-5", message=message, usage=USAGE, stop=stop, echo=echo)


def streamed(given: Reply) -> list[dict[str, Any]]:
    events = []
    for number, event in enumerate(API.events(given)):
        name, data, *rest = event.split("\n")
        assert rest == ["", ""]
        parsed = json.loads(data.removeprefix("data: "))
        assert name == f"event: {parsed['type']}"
        assert parsed["sequence_number"] == number
        events.append(parsed)
    return events


def test_a_request_of_codex() -> None:
    asked = API.read(codex())
    assert (asked.model, asked.stream, asked.schema) == ("gpt-5", True, None)
    environment, task, assistant, results = asked.messages
    assert environment.text.startswith("<environment_context>")
    assert task == Message(role="user", text="Find where hello is defined")
    assert assistant.text == "I look."
    assert [(call.id, call.name, call.arguments) for call in assistant.calls] == [
        ("call_00001", "mcp__canopy__canopy_query", {"pattern": "hello é", "limit": 3}),
        ("call_00002", "exec_command", {"cmd": "ls"}),
    ]
    assert [result.id for result in results.results] == ["call_00001", "call_00002"]
    assert results.results[0].text.endswith('{"result":"found hello é"}')


def test_tools_of_a_namespace_carry_its_name() -> None:
    asked = API.read(codex())
    assert [tool.name for tool in asked.tools] == [
        "exec_command",
        "view_image",
        "multi_agent_v1__close_agent",
        "multi_agent_v1__resume_agent",
        "mcp__canopy__canopy_query",
    ]
    assert asked.tools[-1].schema["required"] == ["pattern"]


def test_a_prompt_is_tools_instructions_and_items() -> None:
    body = codex()
    parts = API.read({**body, "instructions": "Be brief."}).parts
    assert len(parts) == len(body["tools"]) + 1 + len(body["input"])
    assert json.loads(parts[len(body["tools"])]) == "Be brief."
    assert json.loads(parts[0])["name"] == "exec_command"
    assert "Codex CLI" in parts[len(body["tools"]) + 1]


def test_ids_of_items_are_not_part_of_the_prompt() -> None:
    said = {"role": "user", "content": "Hi"}
    assert ask({**said, "id": "msg_1"}).parts == ask({**said, "id": "msg_2"}).parts


def test_input_may_be_a_text() -> None:
    asked = API.read({"model": "m", "input": "Hi"})
    assert asked.messages == (Message(role="user", text="Hi"),)
    assert (asked.stream, asked.tools) == (False, ())


def test_kinds_of_calls_and_results() -> None:
    asked = ask(
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
        {"type": "custom_tool_call", "call_id": "1", "name": "apply_patch", "input": "*** Begin"},
        {"type": "local_shell_call", "call_id": "2", "action": {"command": ["ls"]}},
        {"type": "function_call", "call_id": "3", "name": "now", "arguments": ""},
        {"type": "custom_tool_call_output", "call_id": "1", "output": "Done"},
        {
            "type": "local_shell_call_output",
            "call_id": "2",
            "output": {"content": "no", "success": False},
        },
        {"type": "function_call_output", "call_id": "4", "output": {"files": 3}},
        {
            "type": "function_call_output",
            "call_id": "3",
            "output": [
                {"type": "input_text", "text": "one"},
                {"type": "input_image", "image_url": "data:"},
                {"type": "input_text", "text": "two"},
            ],
        },
    )
    calls, results = asked.messages
    assert [(call.name, call.arguments) for call in calls.calls] == [
        ("apply_patch", {"input": "*** Begin"}),
        ("local_shell", {"command": ["ls"]}),
        ("now", {}),
    ]
    assert results.results == (
        ToolResult(id="1", text="Done"),
        ToolResult(id="2", text="no", is_error=True),
        ToolResult(id="4", text='{"files":3}'),
        ToolResult(id="3", text="one\ntwo"),
    )


def test_instructions_are_not_of_the_conversation() -> None:
    asked = ask(
        {"role": "system", "content": "S"},
        {"role": "developer", "content": [{"type": "input_text", "text": "D"}]},
        {"role": "user", "content": "U"},
    )
    assert asked.messages == (Message(role="user", text="U"),)


def test_tools_that_must_not_be_called_are_not_offered() -> None:
    body = {**codex(), "tool_choice": "none"}
    assert API.read(body).tools == ()


def test_schema() -> None:
    wanted = {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}}
    asked = ask({"role": "user", "content": "Hi"}, text=wanted)
    assert asked.schema == {"type": "object"}
    plain = {"format": {"type": "text"}, "verbosity": "low"}
    assert ask({"role": "user", "content": "Hi"}, text=plain).schema is None


def test_answer_names_tools_as_the_program_does() -> None:
    answer = API.answer(reply("I look.", CALLS, "tools"))
    said, query, shell = answer["output"]
    assert said["content"][0]["text"] == "I look."
    assert (query["namespace"], query["name"]) == ("mcp__canopy", "canopy_query")
    assert json.loads(query["arguments"]) == {"pattern": "é"}
    assert (shell["name"], shell["call_id"]) == ("exec_command", "call_2")
    assert "namespace" not in shell


def test_answer_to_a_tool_without_a_schema() -> None:
    patch = ToolCall(id="call_1", name="apply_patch", arguments={"input": "*** Begin"})
    tools = [{"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}}]
    asked = ask({"role": "user", "content": "Hi"}, tools=tools)
    message = Message(role="assistant", calls=(patch,))
    given = Reply(id="1", model="m", message=message, usage=USAGE, stop="tools", echo=asked.echo)
    assert asked.tools[0].schema == {}
    (item,) = API.answer(given)["output"]
    assert (item["type"], item["input"]) == ("custom_tool_call", "*** Begin")
    assert "response.custom_tool_call_input.done" in [event["type"] for event in streamed(given)]


def test_usage() -> None:
    assert API.answer(reply("Hi"))["usage"] == {
        "input_tokens": 120,
        "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 127,
    }


def test_a_stream_carries_the_answer() -> None:
    given = reply("word " * 100, CALLS, "tools")
    events = streamed(given)
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert events[-1] == {
        "type": "response.completed",
        "response": API.answer(given),
        "sequence_number": len(events) - 1,
    }
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == API.answer(given)["output"]
    deltas = [event["delta"] for event in events if event["type"].endswith("output_text.delta")]
    assert len(deltas) > 1
    assert "".join(deltas) == "word " * 100
    arguments: dict[str, str] = {}
    for event in events:
        if event["type"] == "response.function_call_arguments.delta":
            arguments[event["item_id"]] = arguments.get(event["item_id"], "") + event["delta"]
    assert [json.loads(text) for text in arguments.values()] == [{"pattern": "é"}, {"cmd": "ls"}]


@pytest.mark.parametrize(
    ("stop", "reason"), [("refusal", "content_filter"), ("length", "max_output_tokens")]
)
def test_an_answer_that_was_cut_off(stop: Stop, reason: str) -> None:
    last = streamed(reply("No", stop=stop))[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": reason}


def test_an_empty_answer() -> None:
    assert API.answer(reply())["output"] == []
    assert streamed(reply())[-1]["type"] == "response.completed"


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (429, "rate_limit", "rate_limit_exceeded"),
        (500, "server_error", None),
        (503, "overloaded", "server_is_overloaded"),
        (401, "unauthorized", "invalid_api_key"),
        (400, "context_overflow", "context_length_exceeded"),
        (400, "bad_request", None),
    ],
)
def test_errors(status: int, kind: ErrorKind, code: str | None) -> None:
    error = API.error(status, kind, "It is so.")["error"]
    assert error["code"] == code
    assert error["message"].endswith("It is so.")


CALL = {"type": "function_call", "call_id": "1", "name": "f"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": "m"},
        {"model": "m", "input": []},
        {"model": 5, "input": "Hi"},
        {"model": "m", "input": [5]},
        {"model": "m", "input": [{"role": "king", "content": "Hi"}]},
        {"model": "m", "input": [{"role": "user", "content": 5}]},
        {"model": "m", "input": [{**CALL, "arguments": "[1]"}]},
        {"model": "m", "input": [{**CALL, "arguments": "{"}]},
        {"model": "m", "input": [{**CALL, "name": None}]},
        {"model": "m", "input": [{"type": "function_call_output", "output": "x"}]},
        {"model": "m", "input": "Hi", "tools": "all"},
        {"model": "m", "input": "Hi", "previous_response_id": "resp_1"},
    ],
)
def test_what_is_no_request_is_refused_in_one_sentence(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
        API.read(body)
