"""What a conversation of the Responses API is made of."""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel

from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.programs.rehearsal.apis import wire


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
                yield _message(item)
        elif item.type.endswith("_output"):
            yield Message(role="user", results=(_read_result(item),))
        elif item.type in {"function_call", "custom_tool_call", "local_shell_call"}:
            yield Message(role="assistant", calls=(_read_call(item),))


def _message(item: Item) -> Message:
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
