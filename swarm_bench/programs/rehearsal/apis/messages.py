"""Anthropic's Messages API."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop
from swarm_bench.programs.rehearsal.apis import wire
from swarm_bench.programs.rehearsal.apis.api import Asked, Reply

BILLING = "x-anthropic-billing-header:"
"""Begins a system block of Claude Code's that is about the request and no part of the prompt: it
differs from one request to the next."""
_ERRORS: Mapping[ErrorKind, tuple[str, str]] = {
    "rate_limit": ("rate_limit_error", "This request would exceed your rate limit."),
    "server_error": ("api_error", "Internal server error."),
    "overloaded": ("overloaded_error", "Overloaded."),
    "unauthorized": ("authentication_error", "invalid x-api-key."),
    "context_overflow": ("invalid_request_error", "prompt is too long."),
    "bad_request": ("invalid_request_error", ""),
    "too_large": ("request_too_large", "Request exceeds the maximum size."),
    "not_found": ("not_found_error", ""),
}
"""Type and words."""
_STOPS: Mapping[Stop, str] = {
    "end": "end_turn",
    "tools": "tool_use",
    "refusal": "refusal",
    "length": "max_tokens",
}


class Messages:
    """`POST /v1/messages`."""

    statuses: Mapping[ErrorKind, int] = {"overloaded": 529}

    def read(self, body: Mapping[str, Any]) -> Asked:
        model, messages = body.get("model"), body.get("messages")
        if not isinstance(model, str):
            raise ValueError("model: Field required")
        if not isinstance(messages, list) or not messages:
            raise ValueError("messages: at least one message is required")
        sent = [_sent(message) for message in messages]
        if all(message["role"] == "system" for message in sent):
            raise ValueError("messages: at least one user message is required")
        described = [tool for tool in _offered(body) if _is_described(tool, sent)]
        prompt = [*described, *_system(body.get("system")), *sent]
        choice = body.get("tool_choice")
        may_call = not isinstance(choice, Mapping) or choice.get("type") != "none"
        return Asked(
            model=model,
            stream=body.get("stream") is True,
            messages=tuple(_conversation(sent)),
            tools=tuple(_tool(tool) for tool in described) if may_call else (),
            parts=tuple(wire.json_text(_unmarked(part)) for part in prompt),
            schema=_schema(body),
        )

    def answer(self, reply: Reply) -> dict[str, Any]:
        return {
            **_head(reply),
            "content": _blocks(reply.message),
            "stop_reason": _STOPS[reply.stop],
            "usage": {**_usage(reply), "output_tokens": reply.usage.output},
        }

    def events(self, reply: Reply) -> Iterator[str]:
        # The real figure of the output comes at the end; programs have to cope with this one.
        start = {**_head(reply), "usage": {**_usage(reply), "output_tokens": 1}}
        yield _event("message_start", message=start)
        yield _event("ping")
        for index, block in enumerate(_blocks(reply.message)):
            yield from _block_events(index, block)
        delta = {"stop_reason": _STOPS[reply.stop], "stop_sequence": None}
        usage = {**_usage(reply), "output_tokens": reply.usage.output}
        yield _event("message_delta", delta=delta, usage=usage)
        yield _event("message_stop")

    def counted(self, tokens: int) -> dict[str, Any]:
        """The body of an answer to `count_tokens`."""
        return {"input_tokens": tokens}

    def error(
        self, status: int, kind: ErrorKind, sentence: str, retry_seconds: int | None = None
    ) -> dict[str, Any]:
        name, says = _ERRORS[kind]
        return {
            "type": "error",
            "error": {"type": name, "message": f"{says} {sentence}".strip()},
            "request_id": "req_rehearsal",
        }


def _sent(message: Any) -> dict[str, Any]:
    """A message with its content as blocks: programs change between the two forms."""
    if not isinstance(message, Mapping) or message.get("role") not in (
        "user",
        "assistant",
        "system",
    ):
        raise ValueError("messages: each one needs the role user or assistant")
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not all(isinstance(block, Mapping) for block in content):
        raise ValueError("messages: content must be a string or a list of blocks")
    return {"role": message["role"], "content": content}


def _system(system: object) -> list[Any]:
    if isinstance(system, str):
        system = [{"type": "text", "text": system}]
    blocks = system if isinstance(system, list) else []
    return [block for block in blocks if not _text(block).startswith(BILLING)]


def _offered(body: Mapping[str, Any]) -> list[Any]:
    tools = body.get("tools")
    if tools is not None and not isinstance(tools, list):
        raise ValueError("tools must be a list")
    return tools or []


def _is_described(tool: Any, sent: Sequence[Mapping[str, Any]]) -> bool:
    """Deferred tools are not in the prompt until a search has found them."""
    if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
        raise ValueError("tools: each one needs a name")
    return tool.get("defer_loading") is not True or tool["name"] in _referenced_tools(sent)


def _referenced_tools(sent: Sequence[Mapping[str, Any]]) -> set[str]:
    inner = (
        part
        for message in sent
        for block in message["content"]
        if block.get("type") == "tool_result" and isinstance(block.get("content"), list)
        for part in block["content"]
    )
    return {
        str(part.get("tool_name"))
        for part in inner
        if isinstance(part, Mapping) and part.get("type") == "tool_reference"
    }


def _tool(tool: Mapping[str, Any]) -> ToolSpec:
    schema = tool.get("input_schema")  # the provider's own tools have none
    return ToolSpec(
        name=tool["name"],
        description=str(tool.get("description") or ""),
        schema=schema if isinstance(schema, Mapping) else {},
    )


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Of the newer `output_config.format`, or the `output_format` before it."""
    config = body.get("output_config")
    wanted = config.get("format") if isinstance(config, Mapping) else body.get("output_format")
    schema = wanted.get("schema") if isinstance(wanted, Mapping) else None
    return schema if isinstance(schema, Mapping) else None


def _conversation(sent: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    """Neighbours of one role are one message, as the provider takes them. What a program slips in
    between as `system` nobody said."""
    said = [message for message in sent if message["role"] != "system"]
    for role, group in groupby(said, key=lambda message: message["role"]):
        blocks = [block for message in group for block in message["content"]]
        yield Message(
            role="assistant" if role == "assistant" else "user",
            text="\n\n".join(_text(block) for block in blocks if block.get("type") == "text"),
            calls=tuple(_call(block) for block in blocks if block.get("type") == "tool_use"),
            results=tuple(_result(block) for block in blocks if block.get("type") == "tool_result"),
        )


def _call(block: Mapping[str, Any]) -> ToolCall:
    given = block.get("input")
    return ToolCall(
        id=str(block.get("id")),
        name=str(block.get("name")),
        arguments=given if isinstance(given, Mapping) else {},
    )


def _result(block: Mapping[str, Any]) -> ToolResult:
    content = block.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    return ToolResult(
        id=str(block.get("tool_use_id")),
        text="\n".join(_shown(part) for part in parts if isinstance(part, Mapping)),
        is_error=block.get("is_error") is True,
    )


def _shown(part: Mapping[str, Any]) -> str:
    """What of a result can be read: pictures and the like are named only."""
    if part.get("type") == "tool_reference":
        return str(part.get("tool_name"))
    return _text(part) if part.get("type") == "text" else f"[{part.get('type')}]"


def _text(block: object) -> str:
    text = block.get("text") if isinstance(block, Mapping) else None
    return text if isinstance(text, str) else ""


def _unmarked(value: Any) -> Any:
    """Without the marks of what to cache: they move on with every request."""
    if isinstance(value, Mapping):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _head(reply: Reply) -> dict[str, Any]:
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _usage(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_create,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_create,
            "ephemeral_1h_input_tokens": 0,
        },
    }


def _blocks(message: Message) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if message.text:
        blocks.append({"type": "text", "text": message.text})
    for call in message.calls:
        arguments = dict(call.arguments)
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return blocks


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[str]:
    if block["type"] == "text":
        empty = {**block, "text": ""}
        kind, key, whole = "text_delta", "text", block["text"]
    else:
        empty = {**block, "input": {}}
        kind, key, whole = "input_json_delta", "partial_json", wire.json_text(block["input"])
    yield _event("content_block_start", index=index, content_block=empty)
    for piece in wire.pieces(whole):
        yield _event("content_block_delta", index=index, delta={"type": kind, key: piece})
    yield _event("content_block_stop", index=index)


def _event(kind: str, **content: Any) -> str:
    return wire.event({"type": kind, **content}, kind)
