"""Requests as Gemini CLI 0.61.0 makes them, and answers as it reads them."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply
from swarm_bench.programs.rehearsal.apis.gemini import Gemini

RPC = "type.googleapis.com/google.rpc"
API = Gemini()
USAGE = Usage(input=0, cache_read=100, cache_create=20, output=7)
CALLS = (ToolCall(id="call_1", name="glob", arguments={"pattern": "*é"}),)
PATH = {"model": "gemini-2.5-pro", "stream": True}
"""What the server takes from the address."""
HI = {"role": "user", "parts": [{"text": "Hi"}]}


def request_of_cli() -> dict[str, Any]:
    """The request after one turn of calls."""
    text = Path(__file__).with_name("requests").joinpath("gemini.json").read_text("utf-8")
    return {**json.loads(text), **PATH}


def ask(*contents: dict[str, Any], **more: Any) -> AgentRequest:
    return API.read({**PATH, "contents": list(contents), **more})


def reply(text: str = "", calls: tuple[ToolCall, ...] = (), stop: Stop = "end") -> Reply:
    message = Message(role="assistant", text=text, calls=calls)
    return Reply(id="1", model="gemini-2.5-pro", message=message, usage=USAGE, stop=stop)


def streamed(given: Reply) -> list[dict[str, Any]]:
    events = list(API.events(given))
    assert all(event.startswith("data: ") and event.endswith("}\r\n\r\n") for event in events)
    return [json.loads(event.removeprefix("data: ")) for event in events]


def test_a_request_of_gemini_cli() -> None:
    asked = API.read(request_of_cli())
    assert (asked.model, asked.stream, asked.schema) == ("gemini-2.5-pro", True, None)
    task, assistant, results = asked.messages
    assert task.text.startswith("<session_context>")
    assert task.text.endswith("\nFind where hello is defined")
    assert assistant.text == "I look."
    assert [(call.id, call.name) for call in assistant.calls] == [
        ("call_00001", "mcp_canopy_canopy_query"),
        ("call_00002", "run_shell_command"),
    ]
    assert [result.id for result in results.results] == ["call_00001", "call_00002"]
    assert "found hello é" in results.results[0].text
    query = asked.tools[-1]
    assert query.name == "mcp_canopy_canopy_query"
    assert query.schema["required"] == ["pattern"]


def test_a_prompt_is_tools_system_and_contents() -> None:
    body = request_of_cli()
    parts = API.read(body).parts
    tools = body["tools"][0]["functionDeclarations"]
    assert [json.loads(part) for part in parts[: len(tools)]] == tools
    assert json.loads(parts[len(tools)]) == body["systemInstruction"]
    assert len(parts) == len(tools) + 1 + len(body["contents"])


def test_signatures_of_thoughts_are_not_part_of_the_prompt() -> None:
    body = request_of_cli()
    assert "thoughtSignature" in json.dumps(body)
    assert "thoughtSignature" not in "".join(API.read(body).parts)


def test_calls_without_ids_are_matched_by_name_and_order() -> None:
    def called(name: str, **arguments: Any) -> dict[str, Any]:
        return {"functionCall": {"name": name, "args": arguments}}

    def responded(name: str, **response: Any) -> dict[str, Any]:
        return {"functionResponse": {"name": name, "response": response}}

    asked = ask(
        HI,
        {"role": "model", "parts": [called("read", path="a"), called("glob"), called("read")]},
        {
            "role": "user",
            "parts": [
                responded("glob", output="G"),
                responded("read", error="gone"),
                responded("read", lines=3),
            ],
        },
        {"role": "model", "parts": [called("read")]},
        {"role": "function", "parts": [responded("read", result="R")]},
    )
    assert [call.id for message in asked.messages for call in message.calls] == [
        "call_00001",
        "call_00002",
        "call_00003",
        "call_00004",
    ]
    assert [result for message in asked.messages for result in message.results] == [
        ToolResult(id="call_00002", text="G"),
        ToolResult(id="call_00001", text="gone", is_error=True),
        ToolResult(id="call_00003", text='{"lines":3}'),
        ToolResult(id="call_00004", text="R"),
    ]


def test_thoughts_are_not_said() -> None:
    asked = ask(HI, {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Yes"}]})
    assert asked.messages[1] == Message(role="assistant", text="Yes")


def test_fields_may_be_written_in_either_way() -> None:
    declared = {"name": "glob", "parameters": {"type": "OBJECT"}}
    asked = ask(HI, system_instruction={"parts": []}, tools=[{"function_declarations": [declared]}])
    assert asked.tools[0].schema == {"type": "OBJECT"}
    assert len(asked.parts) == 3


def test_tools_that_must_not_be_called_are_not_offered() -> None:
    config = {"functionCallingConfig": {"mode": "NONE"}}
    assert API.read({**request_of_cli(), "toolConfig": config}).tools == ()
    assert ask(HI, tools=[{"googleSearch": {}}]).tools == ()


@pytest.mark.parametrize("key", ["responseSchema", "responseJsonSchema"])
def test_schema(key: str) -> None:
    asked = ask(HI, generationConfig={key: {"type": "OBJECT"}})
    assert asked.schema == {"type": "OBJECT"}


def test_a_request_to_count_may_wrap_another() -> None:
    wrapped = {"model": "models/other", "contents": [HI]}
    asked = API.read({**PATH, "generateContentRequest": wrapped})
    assert (asked.model, asked.messages[0].text) == ("gemini-2.5-pro", "Hi")
    assert API.write_count(5) == {"totalTokens": 5}


def test_answer() -> None:
    answer = API.answer(reply("I look.", CALLS, "tools"))
    (candidate,) = answer["candidates"]
    assert candidate["finishReason"] == "STOP"
    assert candidate["content"] == {
        "role": "model",
        "parts": [
            {"text": "I look."},
            {"functionCall": {"id": "call_1", "name": "glob", "args": {"pattern": "*é"}}},
        ],
    }
    assert answer["usageMetadata"] == {
        "promptTokenCount": 120,
        "cachedContentTokenCount": 100,
        "candidatesTokenCount": 7,
        "totalTokenCount": 127,
    }


def test_a_stream_carries_the_answer() -> None:
    *texts, last = streamed(reply("word " * 100, CALLS, "tools"))
    said = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in texts]
    assert len(said) > 1
    assert "".join(said) == "word " * 100
    assert all("usageMetadata" not in chunk for chunk in texts)
    assert last["candidates"][0]["content"]["parts"][0]["functionCall"]["name"] == "glob"
    assert last["candidates"][0]["finishReason"] == "STOP"
    assert last["usageMetadata"]["totalTokenCount"] == 127


def test_a_refusal_has_no_content() -> None:
    for answer in (API.answer(reply("No.", stop="refusal")), *streamed(reply("", stop="refusal"))):
        (candidate,) = answer["candidates"]
        assert candidate["finishReason"] == "SAFETY"
        assert "content" not in candidate


def test_an_empty_answer() -> None:
    (chunk,) = streamed(reply(stop="length"))
    (candidate,) = chunk["candidates"]
    assert candidate["content"]["parts"] == [{"text": ""}]
    assert candidate["finishReason"] == "MAX_TOKENS"


@pytest.mark.parametrize(
    ("status", "kind", "name"),
    [
        (429, "rate_limit", "RESOURCE_EXHAUSTED"),
        (500, "server_error", "INTERNAL"),
        (503, "overloaded", "UNAVAILABLE"),
        (400, "unauthorized", "INVALID_ARGUMENT"),
        (400, "context_overflow", "INVALID_ARGUMENT"),
        (400, "bad_request", "INVALID_ARGUMENT"),
        (404, "not_found", "NOT_FOUND"),
    ],
)
def test_errors(status: int, kind: ErrorKind, name: str) -> None:
    error = API.error(status, kind, "It is so.")["error"]
    assert (error["code"], error["status"]) == (status, name)
    assert error["message"].endswith("It is so.")


def test_what_programs_look_for_in_the_details_of_an_error() -> None:
    limited = API.error(429, "rate_limit", "It is so.", 1)["error"]["details"]
    assert limited == [{"@type": f"{RPC}.RetryInfo", "retryDelay": "1s"}]
    (info,) = API.error(400, "unauthorized", "It is so.")["error"]["details"]
    assert (info["@type"], info["reason"]) == (f"{RPC}.ErrorInfo", "API_KEY_INVALID")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"contents": []},
        {"contents": "Hi"},
        {"contents": ["Hi"]},
        {"contents": [{"role": "king", "parts": []}]},
        {"contents": [{"role": "user", "parts": [{"functionCall": {"name": "f"}}]}]},
        {"contents": [{"role": "model", "parts": [{"functionCall": {"args": {}}}]}]},
        {"contents": [{"role": "model", "parts": [{"functionResponse": {"name": "f"}}]}]},
        {"contents": [{"parts": [{"functionResponse": {"name": "f"}}]}]},
        {"contents": [HI], "tools": [{"functionDeclarations": [{}]}]},
        {"contents": [HI], "generationConfig": 5},
    ],
)
def test_what_is_no_request_is_refused_in_one_sentence(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
        API.read({**PATH, **body})
