"""Anthropic's Messages API."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop
from swarm_bench.programs.rehearsal.apis import wire
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply


def wrap_text(content: Any) -> Any:
    """Return content as blocks: programs change between the two forms."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class Text(BaseModel):
    type: Literal["text"]
    text: str


class Call(BaseModel):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any] = {}


class Reference(BaseModel):
    """The name of a deferred tool that a search came upon."""

    type: Literal["tool_reference"]
    tool_name: str


class UnknownPart(BaseModel):
    """A block that is only named: a picture, a thought."""

    type: str


def _tag(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if kind in ("text", "tool_use", "tool_reference", "tool_result") else "other"


Part = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[Call, Tag("tool_use")]
    | Annotated[Reference, Tag("tool_reference")]
    | Annotated["Result", Tag("tool_result")]
    | Annotated[UnknownPart, Tag("other")],
    Discriminator(_tag),
]
Blocks = Annotated[list[Part], BeforeValidator(wrap_text)]


class Result(BaseModel):
    type: Literal["tool_result"]
    tool_use_id: str
    content: Blocks | None = None
    is_error: bool | None = None


class Sent(BaseModel):
    """A message."""

    role: Literal["user", "assistant", "system"]
    content: Blocks


class Tool(BaseModel):
    name: str
    description: str | None = None
    input_schema: dict[str, Any] | None = None
    """The provider's own tools have none."""
    defer_loading: bool | None = None


class Choice(BaseModel):
    type: str


class Format(BaseModel):
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")


class OutputConfig(BaseModel):
    format: Format | None = None


class Request(BaseModel):
    model: str
    messages: list[Sent]
    system: Annotated[list[Text], BeforeValidator(wrap_text)] | None = None
    tools: list[Tool] | None = None
    tool_choice: Choice | None = None
    stream: bool | None = None
    output_config: OutputConfig | None = None
    output_format: Format | None = None
    """Older key that `output_config` replaces."""

    @property
    def schema_of_answer(self) -> dict[str, Any] | None:
        config = self.output_config
        format = config.format if config and config.format else self.output_format
        return format.schema_ if format else None


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

    def read(self, body: Mapping[str, Any]) -> AgentRequest:
        request = wire.parse(Request, body)
        if not request.messages:
            raise ValueError("messages: at least one message is required")
        if all(message.role == "system" for message in request.messages):
            raise ValueError("messages: at least one user message is required")
        described = [*_pair_tools(request, body)]
        may_call = request.tool_choice is None or request.tool_choice.type != "none"
        prompt = [*(raw for _, raw in described), *_system(body), *map(_raw, body["messages"])]
        return AgentRequest(
            model=request.model,
            stream=bool(request.stream),
            messages=tuple(_conversation(request.messages)),
            tools=tuple(_spec(tool) for tool, _ in described) if may_call else (),
            parts=tuple(wire.json_text(_drop_marks(part)) for part in prompt),
            schema=request.schema_of_answer,
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

    def write_count(self, tokens: int) -> dict[str, Any]:
        """Build the body of an answer to `count_tokens`."""
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


def _raw(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": message["role"], "content": wrap_text(message["content"])}


def _system(body: Mapping[str, Any]) -> list[Any]:
    blocks = wrap_text(body.get("system")) or []
    return [block for block in blocks if not block["text"].startswith(BILLING)]


def _pair_tools(request: Request, body: Mapping[str, Any]) -> Iterator[tuple[Tool, Any]]:
    """Yield the tools, and as they were sent; deferred ones are not in the prompt until a search
    has found them."""
    referenced = {
        part.tool_name
        for message in request.messages
        for block in message.content
        if isinstance(block, Result)
        for part in block.content or ()
        if isinstance(part, Reference)
    }
    for tool, raw in zip(request.tools or (), body.get("tools") or (), strict=True):
        if not tool.defer_loading or tool.name in referenced:
            yield tool, raw


def _spec(tool: Tool) -> ToolSpec:
    return ToolSpec(
        name=tool.name, description=tool.description or "", schema=tool.input_schema or {}
    )


def _conversation(messages: Sequence[Sent]) -> Iterator[Message]:
    """Join neighbours of one role into one message, as the provider takes them, and drop what a
    program slips in between as `system`."""
    turns = (message for message in messages if message.role != "system")
    for role, group in groupby(turns, key=lambda message: message.role):
        blocks = [block for message in group for block in message.content]
        yield Message(
            role="assistant" if role == "assistant" else "user",
            text="\n\n".join(block.text for block in blocks if isinstance(block, Text)),
            calls=tuple(
                ToolCall(id=block.id, name=block.name, arguments=block.input)
                for block in blocks
                if isinstance(block, Call)
            ),
            results=tuple(_read_result(block) for block in blocks if isinstance(block, Result)),
        )


def _read_result(block: Result) -> ToolResult:
    return ToolResult(
        id=block.tool_use_id,
        text="\n".join(map(_read_part, block.content or ())),
        is_error=bool(block.is_error),
    )


def _read_part(part: Part) -> str:
    """Return what of a result can be read: pictures and the like are named only."""
    match part:
        case Reference():
            return part.tool_name
        case Text():
            return part.text
        case _:
            return f"[{part.type}]"


def _drop_marks(value: Any) -> Any:
    """Drop the marks of what to cache: they move on with every request."""
    if isinstance(value, Mapping):
        return {key: _drop_marks(item) for key, item in value.items() if key != "cache_control"}
    return [_drop_marks(item) for item in value] if isinstance(value, list) else value


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
        kind, key, content = "text_delta", "text", block["text"]
    else:
        empty = {**block, "input": {}}
        kind, key, content = "input_json_delta", "partial_json", wire.json_text(block["input"])
    yield _event("content_block_start", index=index, content_block=empty)
    for piece in wire.pieces(content):
        yield _event("content_block_delta", index=index, delta={"type": kind, key: piece})
    yield _event("content_block_stop", index=index)


def _event(kind: str, **content: Any) -> str:
    return wire.event({"type": kind, **content}, kind)
