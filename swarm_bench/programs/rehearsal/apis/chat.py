"""The Chat Completions API, as OpenAI and many others speak it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, Field

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop
from swarm_bench.programs.rehearsal.apis import wire
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply
from swarm_bench.programs.rehearsal.apis.wire import error_body

_FINISH: Mapping[Stop, str] = {
    "end": "stop",
    "tools": "tool_calls",
    "refusal": "content_filter",
    "length": "length",
}


class _FunctionCall(BaseModel):
    name: str
    arguments: str = ""


class _Call(BaseModel):
    id: str
    function: _FunctionCall


class _Message(BaseModel):
    role: str
    content: str | list[wire.TextPart] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None


class _Function(BaseModel):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class _Tool(BaseModel):
    function: _Function | None = None
    """Other kinds of tools are not for the program to run."""


class _NamedSchema(BaseModel):
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")


class _Format(BaseModel):
    json_schema: _NamedSchema | None = None


class _StreamOptions(BaseModel):
    include_usage: bool | None = None


class _Request(BaseModel):
    model: str
    messages: list[_Message] = Field(min_length=1)
    tools: list[_Tool] | None = None
    tool_choice: Any = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    response_format: _Format | None = None


class Chat:
    """Chat Completions."""

    statuses: Mapping[ErrorKind, int] = {}

    def read(self, body: Mapping[str, Any]) -> AgentRequest:
        request = wire.parse(_Request, body)
        tools = [] if request.tool_choice == "none" else request.tools or []
        form = request.response_format and request.response_format.json_schema
        options = request.stream_options
        return AgentRequest(
            model=request.model,
            stream=bool(request.stream),
            messages=wire.join_messages(_messages(request.messages)),
            tools=tuple(_spec(tool.function) for tool in tools if tool.function),
            parts=tuple(
                wire.json_text(part) for part in [*(body.get("tools") or []), *body["messages"]]
            ),
            schema=form.schema_ if form else None,
            echo={"include_usage": bool(options and options.include_usage)},
        )

    def answer(self, reply: Reply) -> dict[str, Any]:
        calls = [_write_call(call) for call in reply.message.calls]
        refused = reply.stop == "refusal"
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if refused else reply.message.text or None,
            "refusal": reply.message.text or None if refused else None,
        }
        if calls:
            message["tool_calls"] = calls
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _FINISH[reply.stop],
        }
        return {**_head(reply, "chat.completion"), "choices": [choice], "usage": _usage(reply)}

    def events(self, reply: Reply) -> Iterator[str]:
        head = _head(reply, "chat.completion.chunk")
        for delta in _deltas(reply):
            yield wire.event({**head, "choices": [_choice(delta, None)]})
        yield wire.event({**head, "choices": [_choice({}, _FINISH[reply.stop])]})
        # Without having asked, a program may look for a first choice in every chunk.
        if reply.echo.get("include_usage", True):
            yield wire.event({**head, "choices": [], "usage": _usage(reply)})
        yield "data: [DONE]\n\n"

    def error(
        self, status: int, kind: ErrorKind, sentence: str, retry_seconds: int | None = None
    ) -> dict[str, Any]:
        return error_body(kind, sentence, "messages")


def _messages(messages: list[_Message]) -> Iterator[Message]:
    for message in messages:
        text = wire.text_in(message.content)
        match message.role:
            case "system" | "developer":
                continue
            case "user":
                yield Message(role="user", text=text)
            case "assistant":
                calls = tuple(_call(call) for call in message.tool_calls or [])
                yield Message(role="assistant", text=text, calls=calls)
            case "tool":
                if message.tool_call_id is None:
                    raise ValueError("A message of a tool does not say which call it answers.")
                result = ToolResult(id=message.tool_call_id, text=text)
                yield Message(role="user", results=(result,))
            case role:
                raise ValueError(f"{role!r} is not a role of a message.")


def _call(call: _Call) -> ToolCall:
    name = call.function.name
    arguments = wire.arguments_in(call.function.arguments, name)
    return ToolCall(id=call.id, name=name, arguments=arguments)


def _spec(function: _Function) -> ToolSpec:
    return ToolSpec(
        name=function.name,
        description=function.description or "",
        schema=function.parameters or {},
    )


def _write_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _head(reply: Reply, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{reply.id}", "object": kind, "created": 0, "model": reply.model}


def _choice(delta: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    field = "refusal" if reply.stop == "refusal" else "content"
    for piece in wire.pieces(reply.message.text):
        yield {field: piece}
    for index, call in enumerate(reply.message.calls):
        call_part = _write_call(call)
        arguments = call_part["function"]["arguments"]
        call_part["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": index, **call_part}]}
        for piece in wire.pieces(arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _usage(reply: Reply) -> dict[str, Any]:
    prompt, output = wire.prompt_tokens(reply.usage), wire.output_tokens(reply.usage)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {
            "cached_tokens": reply.usage.cache_read,
            "cache_write_tokens": reply.usage.cache_create,
        },
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
