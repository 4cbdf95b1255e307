"""The Responses API, as OpenAI speaks it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop
from swarm_bench.programs.rehearsal.apis import wire
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply
from swarm_bench.programs.rehearsal.apis.wire import error_body


class Item(BaseModel):
    """One item of `input`; which fields count depends on its type."""

    type: str = "message"
    role: str | None = None
    content: str | list[wire.TextPart] | None = None
    call_id: str | None = None
    namespace: str | None = None
    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    input: str | None = None
    action: dict[str, Any] | None = None
    output: str | list[wire.TextPart] | dict[str, Any] | None = None


def messages_of(items: Iterable[Item]) -> Iterator[Message]:
    """Translate the conversation without what only the provider reads: its instructions, its own
    thoughts and what it ran itself. Raises `ValueError`."""
    for item in items:
        if item.type == "message":
            if item.role not in {"system", "developer"}:
                yield _read_message(item)
        elif item.type.endswith("_output"):
            yield Message(role="user", results=(_read_result(item),))
        elif item.type in {"function_call", "custom_tool_call", "local_shell_call"}:
            yield Message(role="assistant", calls=(_read_call(item),))


def _read_message(item: Item) -> Message:
    match item.role:
        case "user":
            return Message(role="user", text=wire.text_in(item.content))
        case "assistant":
            return Message(role="assistant", text=wire.text_in(item.content))
    raise ValueError(f"{item.role!r} is not a role of a message.")


def _read_call(item: Item) -> ToolCall:
    name = item.name or ("local_shell" if item.type == "local_shell_call" else "")
    if not name or item.call_id is None:
        raise ValueError(f"An item of type {item.type} has no name or no call_id.")
    match item.type:
        case "custom_tool_call":
            arguments: dict[str, Any] = {"input": item.input or ""}
        case "local_shell_call":
            arguments = item.action or {}
        case _:
            raw = item.arguments or ""
            arguments = wire.arguments_in(raw, name) if isinstance(raw, str) else raw
    name = f"{item.namespace}__{name}" if item.namespace else name
    return ToolCall(id=item.call_id, name=name, arguments=arguments)


def _read_result(item: Item) -> ToolResult:
    if item.call_id is None:
        raise ValueError(f"An item of type {item.type} has no call_id.")
    output = item.output
    if isinstance(output, dict):
        content = output.get("content", output)
        text = content if isinstance(content, str) else wire.json_text(content)
        return ToolResult(id=item.call_id, text=text, is_error=output.get("success") is False)
    return ToolResult(id=item.call_id, text=wire.text_in(output))


class _Tool(BaseModel):
    type: str
    name: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None
    tools: list["_Tool"] = []


class _Format(BaseModel):
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")


class _Text(BaseModel):
    format: _Format | None = None


class _Request(BaseModel):
    model: str
    input: str | list[Item]
    instructions: str | None = None
    tools: list[_Tool] | None = None
    tool_choice: Any = None
    stream: bool | None = None
    text: _Text | None = None
    previous_response_id: str | None = None


class Responses:
    """Responses. Every request must carry its whole conversation, as those of Codex do."""

    statuses: Mapping[ErrorKind, int] = {}

    def read(self, body: Mapping[str, Any]) -> AgentRequest:
        request = wire.parse(_Request, body)
        if request.previous_response_id is not None:
            raise ValueError("Responses are not kept here: send the whole conversation as `input`.")
        if not request.input:
            raise ValueError("input: There is no message in it.")
        tools = [] if request.tool_choice == "none" else list(_read_tools(request.tools or []))
        form = request.text and request.text.format
        return AgentRequest(
            model=request.model,
            stream=bool(request.stream),
            messages=_messages(request.input),
            tools=tuple(spec for spec, _ in tools),
            parts=tuple(_parts(body)),
            schema=form.schema_ if form else None,
            echo={spec.name: origin for spec, origin in tools},
        )

    def answer(self, reply: Reply) -> dict[str, Any]:
        status = "incomplete" if reply.stop in _REASONS else "completed"
        return {**_response(reply, status), "output": _items(reply), "usage": _usage(reply)}

    def events(self, reply: Reply) -> Iterator[str]:
        for number, data in enumerate(self._events(reply)):
            yield wire.event({**data, "sequence_number": number}, data["type"])

    def _events(self, reply: Reply) -> Iterator[dict[str, Any]]:
        started = _response(reply, "in_progress")
        yield {"type": "response.created", "response": started}
        yield {"type": "response.in_progress", "response": started}
        for index, item in enumerate(_items(reply)):
            empty = {**item, "status": "in_progress", **_EMPTY[item["type"]]}
            yield {"type": "response.output_item.added", "output_index": index, "item": empty}
            for data in _growth(item):
                yield {**data, "item_id": item["id"], "output_index": index}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        done = self.answer(reply)
        yield {"type": f"response.{done['status']}", "response": done}

    def write_count(self, tokens: int) -> dict[str, Any]:
        """Build the body of an answer to `input_tokens`."""
        return {"object": "response.input_tokens", "input_tokens": tokens}

    def error(
        self, status: int, kind: ErrorKind, sentence: str, retry_seconds: int | None = None
    ) -> dict[str, Any]:
        return error_body(kind, sentence, "input")


_REASONS: Mapping[Stop, str] = {"length": "max_output_tokens", "refusal": "content_filter"}
_EMPTY: Mapping[str, Mapping[str, Any]] = {
    "message": {"content": []},
    "function_call": {"arguments": ""},
    "custom_tool_call": {"input": ""},
}


def _read_tools(tools: Sequence[_Tool], namespace: str = "") -> Iterator[tuple[ToolSpec, Any]]:
    """Yield the tools that the program runs, each with how it must be called: its type, the
    namespace and its name in there."""
    for tool in tools:
        if tool.type == "namespace" and not namespace:
            yield from _read_tools(tool.tools, tool.name)
        elif tool.type in {"function", "custom"} and tool.name:
            name = f"{namespace}__{tool.name}" if namespace else tool.name
            spec = ToolSpec(
                name=name, description=tool.description or "", schema=tool.parameters or {}
            )
            yield spec, (tool.type, namespace, tool.name)


def _messages(sent: str | list[Item]) -> tuple[Message, ...]:
    if isinstance(sent, str):
        return (Message(role="user", text=sent),)
    return wire.join_messages(messages_of(sent))


def _parts(body: Mapping[str, Any]) -> Iterator[str]:
    yield from map(wire.json_text, body.get("tools") or [])
    if body.get("instructions"):
        yield wire.json_text(body["instructions"])
    sent = body["input"]
    for item in sent if isinstance(sent, list) else [sent]:
        # Codex gives each item an id of its own; nobody is billed for it.
        content = item if isinstance(item, str) else {k: v for k, v in item.items() if k != "id"}
        yield wire.json_text(content)


def _response(reply: Reply, status: str) -> dict[str, Any]:
    reason = _REASONS.get(reply.stop) if status == "incomplete" else None
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "metadata": {},
        "model": reply.model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }


def _items(reply: Reply) -> list[dict[str, Any]]:
    items = [_message(reply)] if reply.message.text else []
    calls = [
        _write_call(call, reply.echo.get(call.name, ("function", "", call.name)))
        for call in reply.message.calls
    ]
    return items + calls


def _message(reply: Reply) -> dict[str, Any]:
    text = reply.message.text
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    if reply.stop == "refusal":
        part = {"type": "refusal", "refusal": text}
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "status": "incomplete" if reply.stop in _REASONS else "completed",
        "role": "assistant",
        "content": [part],
    }


def _write_call(call: ToolCall, origin: tuple[str, str, str]) -> dict[str, Any]:
    kind, namespace, name = origin
    item = {"id": f"fc_{call.id}", "status": "completed", "call_id": call.id, "name": name}
    if kind == "custom":
        return {"type": "custom_tool_call", **item, "input": str(call.arguments.get("input", ""))}
    item = {"type": "function_call", **item, "arguments": json.dumps(call.arguments)}
    return {**item, "namespace": namespace} if namespace else item


def _growth(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events between the empty item and the whole one."""
    match item["type"]:
        case "message":
            yield from _text_growth(item["content"][0])
        case "function_call":
            kind, field = "response.function_call_arguments", "arguments"
        case _:
            kind, field = "response.custom_tool_call_input", "input"
    if item["type"] != "message":
        for piece in wire.pieces(item[field]):
            yield {"type": f"{kind}.delta", "delta": piece}
        yield {"type": f"{kind}.done", field: item[field], "name": item["name"]}


def _text_growth(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    refused = part["type"] == "refusal"
    kind, field = ("refusal", "refusal") if refused else ("output_text", "text")
    position = {"content_index": 0}
    yield {"type": "response.content_part.added", **position, "part": {**part, field: ""}}
    extra: dict[str, Any] = {} if refused else {"logprobs": []}
    for piece in wire.pieces(part[field]):
        yield {"type": f"response.{kind}.delta", **position, "delta": piece, **extra}
    yield {"type": f"response.{kind}.done", **position, field: part[field], **extra}
    yield {"type": "response.content_part.done", **position, "part": part}


def _usage(reply: Reply) -> dict[str, Any]:
    prompt, output = wire.prompt_tokens(reply.usage), wire.output_tokens(reply.usage)
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": reply.usage.cache_read,
            "cache_write_tokens": reply.usage.cache_create,
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + output,
    }
