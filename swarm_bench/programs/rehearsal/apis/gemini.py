"""The Gemini API: `generateContent`, `streamGenerateContent` and `countTokens`."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop
from swarm_bench.programs.rehearsal.apis import wire
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply


class _Shape(BaseModel):
    # As everywhere in this API, a field may be written in either way.
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class _Call(_Shape):
    id: str | None = None
    name: str
    args: dict[str, Any] | None = None


class _Response(_Shape):
    id: str | None = None
    name: str
    response: dict[str, Any] | None = None


class _Part(_Shape):
    text: str | None = None
    thought: bool | None = None
    function_call: _Call | None = None
    function_response: _Response | None = None


class Content(_Shape):
    """One message."""

    role: str | None = None
    parts: list[_Part] | None = None


def messages_of(contents: Iterable[Content]) -> Iterator[Message]:
    """Translate the conversation. A call without an id gets one from its position among all calls;
    a response without one belongs to the oldest call of its name that has none yet.

    Raises `ValueError` for a response to no call.
    """
    open_calls: dict[str, deque[str]] = defaultdict(deque)
    calls_made = 0
    for content in contents:
        calls, results = [], []
        parts = content.parts or []
        for part in parts:
            if (function_call := part.function_call) is not None:
                calls_made += 1
                call = ToolCall(
                    id=function_call.id or f"call_{calls_made:05}",
                    name=function_call.name,
                    arguments=function_call.args or {},
                )
                open_calls[call.name].append(call.id)
                calls.append(call)
            if (response := part.function_response) is not None:
                results.append(_read_result(response, open_calls[response.name]))
        text = "\n".join(part.text for part in parts if part.text and not part.thought)
        yield _message(content.role, text, tuple(calls), tuple(results))


def _message(
    role: str | None, text: str, calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...]
) -> Message:
    match role:
        case "model" if not results:
            return Message(role="assistant", text=text, calls=calls)
        case "user" | "function" | None if not calls:
            return Message(role="user", text=text, results=results)
        case "model" | "user" | "function" | None:
            raise ValueError(f"A message of the role {role} has calls or responses of the other.")
    raise ValueError(f"{role!r} is not a role of a message.")


def _read_result(response: _Response, pending: deque[str]) -> ToolResult:
    id = response.id
    if id is None:
        if not pending:
            raise ValueError(f"There is no call of {response.name} for one of the responses.")
        id = pending.popleft()
    elif id in pending:
        pending.remove(id)
    content = response.response or {}
    key = next((key for key in ("output", "result", "error") if key in content), None)
    value = content if key is None else content[key]
    text = value if isinstance(value, str) else wire.json_text(value)
    return ToolResult(id=id, text=text, is_error=key == "error")


_FINISH: Mapping[Stop, str] = {
    "end": "STOP",
    "tools": "STOP",
    "refusal": "SAFETY",
    "length": "MAX_TOKENS",
}


class _Declaration(_Shape):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None


class _Tool(_Shape):
    function_declarations: list[_Declaration] | None = None


class _Calling(_Shape):
    mode: str | None = None


class _ToolConfig(_Shape):
    function_calling_config: _Calling | None = None


class _Generation(_Shape):
    response_schema: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None


class _Request(_Shape):
    model: str
    stream: bool = False
    alt: str | None = None
    contents: list[Content]
    system_instruction: Any = None
    tools: list[_Tool] | None = None
    tool_config: _ToolConfig | None = None
    generation_config: _Generation | None = None


class Gemini:
    """Gemini. Its address says which model is asked, and whether and how to stream: the server puts
    this into the body, as `model`, `stream` and `alt`."""

    statuses: Mapping[ErrorKind, int] = {"unauthorized": 400}

    def read(self, body: Mapping[str, Any]) -> AgentRequest:
        # A request to count tokens may wrap the one that it is about.
        if isinstance(wrapped := body.get("generateContentRequest"), Mapping):
            body = {**wrapped, "model": body.get("model")}
        request = wire.parse(_Request, body)
        is_list = request.stream and request.alt != "sse"
        if not request.contents:
            raise ValueError("contents: There is no message in it.")
        form = request.generation_config
        return AgentRequest(
            model=request.model,
            stream=request.stream,
            messages=wire.join_messages(messages_of(request.contents)),
            tools=tuple(_read_tools(request)),
            parts=tuple(_parts(body)),
            schema=(form.response_json_schema or form.response_schema) if form else None,
            echo={"media_type": "application/json"} if is_list else {},
        )

    def answer(self, reply: Reply) -> dict[str, Any]:
        texts = [{"text": reply.message.text}] if reply.message.text else []
        return _chunk(reply, [*texts, *_calls(reply)], last=True)

    def events(self, reply: Reply) -> Iterator[str]:
        """Yield server-sent events; without `alt=sse` a stream is one JSON list that grows."""
        if "media_type" not in reply.echo:
            yield from (wire.event(chunk, end="\r\n") for chunk in _chunks(reply))
            return
        for at, chunk in enumerate(_chunks(reply)):
            yield f"{',' if at else '['}{wire.ascii_json(chunk)}\r\n"
        yield "]"

    def write_count(self, tokens: int) -> dict[str, Any]:
        """Build the body of an answer to `countTokens`."""
        return {"totalTokens": tokens}

    def error(
        self, status: int, kind: ErrorKind, sentence: str, retry_seconds: int | None = None
    ) -> dict[str, Any]:
        name, says = _ERRORS.get(kind, ("INVALID_ARGUMENT", ""))
        error = {"code": status, "message": f"{says} {sentence}".strip(), "status": name}
        details = [_INVALID_KEY] if kind == "unauthorized" else []
        if retry_seconds is not None:
            details.append({"@type": f"{_RPC}.RetryInfo", "retryDelay": f"{retry_seconds}s"})
        return {"error": {**error, "details": details} if details else error}


_RPC = "type.googleapis.com/google.rpc"
_INVALID_KEY = {
    "@type": f"{_RPC}.ErrorInfo",
    "reason": "API_KEY_INVALID",
    "domain": "googleapis.com",
    "metadata": {"service": "generativelanguage.googleapis.com"},
}
_ERRORS: Mapping[ErrorKind, tuple[str, str]] = {
    "rate_limit": (
        "RESOURCE_EXHAUSTED",
        "Resource has been exhausted (e.g. check quota).",
    ),
    "server_error": ("INTERNAL", "An internal error has occurred. Please retry."),
    "overloaded": ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    "unauthorized": (
        "INVALID_ARGUMENT",
        "API key not valid. Please pass a valid API key.",
    ),
    "not_found": ("NOT_FOUND", ""),
    "context_overflow": (
        "INVALID_ARGUMENT",
        "The input token count exceeds the maximum number of tokens allowed.",
    ),
}
"""Programs look for these words, so they stand before ours."""


def _read_tools(request: _Request) -> Iterator[ToolSpec]:
    config = request.tool_config
    calling = config.function_calling_config if config else None
    if calling and calling.mode == "NONE":
        return
    for tool in request.tools or []:
        for declared in tool.function_declarations or []:
            yield ToolSpec(
                name=declared.name,
                description=declared.description or "",
                schema=declared.parameters_json_schema or declared.parameters or {},
            )


def _parts(body: Mapping[str, Any]) -> Iterator[str]:
    yield from map(
        wire.json_text,
        (
            declared
            for tool in body.get("tools") or []
            for declared in tool.get("functionDeclarations")
            or tool.get("function_declarations")
            or [tool]
        ),
    )
    for key in ("systemInstruction", "system_instruction"):
        if body.get(key):
            yield wire.json_text(body[key])
    for content in body["contents"]:
        parts = content.get("parts") or []
        yield wire.json_text({**content, "parts": [_drop_signature(part) for part in parts]})


def _drop_signature(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Drop the signature. Gemini CLI puts a placeholder for it, because we give none, into the
    current turn, and takes it out later: nothing that was sent has changed."""
    return {key: value for key, value in part.items() if key != "thoughtSignature"}


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"id": call.id, "name": call.name, "args": dict(call.arguments)}}
        for call in reply.message.calls
    ]


def _chunks(reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.stop != "refusal":
        for piece in wire.pieces(reply.message.text):
            yield _chunk(reply, [{"text": piece}], last=False)
    yield _chunk(reply, _calls(reply), last=True)


def _chunk(reply: Reply, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0}
    if not (last and reply.stop == "refusal"):
        candidate["content"] = {"role": "model", "parts": parts or [{"text": ""}]}
    if last:
        candidate["finishReason"] = _FINISH[reply.stop]
    chunk: dict[str, Any] = {"candidates": [candidate]}
    if last:
        chunk["usageMetadata"] = _usage(reply)
    return {**chunk, "modelVersion": reply.model, "responseId": reply.id}


def _usage(reply: Reply) -> dict[str, Any]:
    prompt, output = wire.prompt_tokens(reply.usage), wire.output_tokens(reply.usage)
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": reply.usage.cache_read,
        "candidatesTokenCount": output,
        "totalTokenCount": prompt + output,
    }
