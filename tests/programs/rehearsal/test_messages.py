"""The Messages API, read and written as Anthropic documents it."""

import json
from typing import Any

import pytest

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.models.rehearsal.faults import Stop
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply
from swarm_bench.programs.rehearsal.apis.messages import BILLING, Messages

ASK: dict[str, Any] = {"role": "user", "content": "Where is it?"}
GREP: dict[str, Any] = {"name": "Grep", "description": "Finds", "input_schema": {"type": "object"}}
CACHED = {"cache_control": {"type": "ephemeral"}}


def read(*messages: dict[str, Any], **more: Any) -> AgentRequest:
    return Messages().read({"model": "m", "messages": list(messages or (ASK,)), **more})


def reply(message: Message, stop: Stop = "end") -> Reply:
    usage = Usage(input=0, cache_read=30, cache_create=20, output=7)
    return Reply(id="1", model="m", message=message, usage=usage, stop=stop)


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def test_a_conversation_with_tools_is_read() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "Grep", "input": {"pattern": "x"}}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    blocks = [text("a.py"), {"type": "image", "source": {}}]
    results = [
        {"type": "tool_result", "tool_use_id": "c1", "content": blocks},
        {"type": "tool_result", "tool_use_id": "c2", "content": "no such file", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c3"},
    ]
    asked = read(
        ASK,
        {"role": "assistant", "content": [thought, text("I look."), call]},
        {"role": "user", "content": results},
        tools=[GREP, {"type": "web_search_20250305", "name": "web_search"}],
        stream=True,
    )

    assert asked.stream
    assert asked.messages == (
        Message(role="user", text="Where is it?"),
        Message(
            role="assistant",
            text="I look.",
            calls=(ToolCall(id="c1", name="Grep", arguments={"pattern": "x"}),),
        ),
        Message(
            role="user",
            results=(
                ToolResult(id="c1", text="a.py\n[image]"),
                ToolResult(id="c2", text="no such file", is_error=True),
                ToolResult(id="c3", text=""),
            ),
        ),
    )
    assert asked.tools == (
        ToolSpec(name="Grep", description="Finds", schema={"type": "object"}),
        ToolSpec(name="web_search", description=""),
    )


def test_messages_of_one_role_in_a_row_are_one_whatever_the_program_slips_in() -> None:
    asked = read(ASK, {"role": "system", "content": "Be brief"}, ASK)
    (message,) = asked.messages
    assert message.text == "Where is it?\n\nWhere is it?"
    assert len(asked.parts) == 3
    assert not asked.stream


def test_parts_are_tools_system_and_messages_and_do_not_change_with_marks_and_forms() -> None:
    system = [text(f"{BILLING} cch=1;"), text("You are.", **CACHED), text("Rules.")]
    marked = read(
        {"role": "user", "content": [text("Where is it?", **CACHED)]},
        tools=[GREP | CACHED],
        system=system,
    )
    plain = read(ASK, tools=[GREP], system=[text("You are."), text("Rules.")])

    assert marked.parts == plain.parts
    assert [json.loads(part) for part in plain.parts] == [
        GREP,
        text("You are."),
        text("Rules."),
        {"role": "user", "content": [text("Where is it?")]},
    ]


def test_a_deferred_tool_is_offered_once_it_was_found() -> None:
    deferred = {**GREP, "defer_loading": True}
    reference = {"type": "tool_reference", "tool_name": "Grep"}
    found = {"type": "tool_result", "tool_use_id": "c1", "content": [reference]}

    before, after = (
        read(tools=[deferred]),
        read({"role": "user", "content": [found]}, tools=[deferred]),
    )

    assert before.tools == ()
    assert len(before.parts) == 1
    assert [tool.name for tool in after.tools] == ["Grep"]
    assert after.messages[0].results[0].text == "Grep"


def test_tools_that_may_not_be_called_are_in_the_prompt_only() -> None:
    asked = read(tools=[GREP], tool_choice={"type": "none"})
    assert asked.tools == ()
    assert len(asked.parts) == 2


@pytest.mark.parametrize(
    "asked_for",
    [
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        {"output_format": {"type": "json_schema", "schema": {"type": "object"}}},
    ],
)
def test_the_form_of_the_answer_can_be_asked_for(asked_for: dict[str, Any]) -> None:
    assert read(**asked_for).schema == {"type": "object"}
    assert read(output_config={"effort": "high"}).schema is None


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"messages": [ASK]}, "model: Field required"),
        ({"model": "m"}, "messages: Field required"),
        ({"model": "m", "messages": []}, "messages: at least one"),
        ({"model": "m", "messages": [{"role": "system", "content": "x"}]}, "one user message"),
        ({"model": "m", "messages": ["hello"]}, "messages.0: Input should be"),
        ({"model": "m", "messages": [{"role": "tool", "content": "x"}]}, "messages.0.role: "),
        ({"model": "m", "messages": [{"role": "user", "content": 1}]}, "messages.0.content: "),
        (
            {"model": "m", "messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages.0.content.0.text.text: Field required",
        ),
        (
            {"model": "m", "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
            "tool_use_id: Field required",
        ),
        ({"model": "m", "messages": [ASK], "tools": [{"type": "x"}]}, "tools.0.name: "),
        ({"model": "m", "messages": [ASK], "tools": 1}, "tools: Input should be a valid list"),
        ({"model": "m", "messages": [ASK], "system": [{"type": "x"}]}, "system.0.type: "),
    ],
)
def test_what_is_no_request_is_refused(body: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Messages().read(body)


CALLS = Message(
    role="assistant",
    text="I look: " + "é" * 500,
    calls=(
        ToolCall(id="c1", name="Grep", arguments={"pattern": "x" * 500}),
        ToolCall(id="c2", name="Glob", arguments={}),
    ),
)


@pytest.mark.parametrize(
    ("message", "stop"),
    [
        (CALLS, "tools"),
        (Message(role="assistant", text="Here"), "end"),
        (Message(role="assistant"), "refusal"),
        (Message(role="assistant", text="cut"), "length"),
    ],
)
def test_a_stream_adds_up_to_the_answer(message: Message, stop: Stop) -> None:
    whole = Messages().answer(reply(message, stop))

    assert added_up("".join(Messages().events(reply(message, stop)))) == whole
    assert whole["usage"]["cache_read_input_tokens"] == 30
    assert whole["usage"]["cache_creation_input_tokens"] == 20
    assert whole["usage"]["output_tokens"] == 7


def test_an_answer_names_its_end_and_its_blocks() -> None:
    whole = Messages().answer(reply(CALLS, "tools"))
    assert whole["stop_reason"] == "tool_use"
    assert [block["type"] for block in whole["content"]] == ["text", "tool_use", "tool_use"]
    empty = Messages().answer(reply(Message(role="assistant"), "refusal"))
    assert (empty["content"], empty["stop_reason"]) == ([], "refusal")


def added_up(stream: str) -> dict[str, Any]:
    """What a client makes of the events."""
    whole: dict[str, Any] = {}
    unparsed: dict[int, str] = {}
    kinds = []
    for event in stream.removesuffix("\n\n").split("\n\n"):
        name, data = (line.split(": ", 1)[1] for line in event.split("\n"))
        content = json.loads(data)
        assert content["type"] == name
        kinds.append(name)
        match content:
            case {"type": "message_start", "message": message}:
                whole = message
            case {"type": "content_block_start", "index": index, "content_block": block}:
                assert index == len(whole["content"])
                whole["content"].append(block)
            case {"type": "content_block_delta", "index": index, "delta": {"text": words}}:
                whole["content"][index]["text"] += words
            case {"type": "content_block_delta", "index": index, "delta": delta}:
                unparsed[index] = unparsed.get(index, "") + delta["partial_json"]
            case {"type": "message_delta", "delta": delta, "usage": usage}:
                whole |= delta
                whole["usage"] |= usage
    for index, words in unparsed.items():
        whole["content"][index]["input"] = json.loads(words)
    assert (kinds[0], kinds[1], kinds[-2:]) == (
        "message_start", "ping", ["message_delta", "message_stop"],
    )  # fmt: skip
    return whole
