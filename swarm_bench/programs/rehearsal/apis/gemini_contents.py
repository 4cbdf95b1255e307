"""What a conversation of the Gemini API is made of."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.programs.rehearsal.apis import wire


class _Shape(BaseModel):
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
