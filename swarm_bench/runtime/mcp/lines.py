"""Reads what a server prints on its standard output: the messages of MCP, and what is none."""

import json
import re
from collections.abc import Collection
from typing import Any, TypeGuard

from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCResponse
from mcp.types.jsonrpc import jsonrpc_message_adapter

from swarm_bench.runtime.mcp.results import KNOWN_BLOCKS, mention
from swarm_bench.runtime.sink import clean_text

_PASSED_OVER = frozenset({"notifications/message", "notifications/progress"})
"""Notifications that are not needed here; a server may send very many of them."""
_DECODER = json.JSONDecoder(strict=False)
_TERMINAL = re.compile(
    r"(?:\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-Z\\^-~])|"
    r"[\s\ufeff])+"
)
"""Text for a terminal, or for no reader at all, before a message."""
_BEGIN = re.compile(r'\A\{|[\[{]\s*(?:\{\s*)?"(?:jsonrpc|id|method|params|result|error)"\s*:')
_SURROGATE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u]|\\u(?![dD][89a-fA-F]))"
    r"|\\u[0-9a-fA-F]{4}",
    re.DOTALL,
)
"""An escape in JSON; a group for one that is more than half of a character."""
_PART = re.compile(
    r"(?<!\\)[\"'](?:(jsonrpc)|(result|error)|method)[\"']\s*:|"
    r"(?<!\\)[\"']id[\"']\s*:\s*[\"']?(\d{1,9})"
)
_BARE_ANSWER = re.compile(
    rb'\{\s*"(?:id"\s*:\s*"?\d{1,9}"?\s*,\s*"(?:result|error)|result|error)"\s*:'
)
"""Beginning of an answer that does not say that it is one."""
_OF_TOOLS = frozenset({"content", "structuredContent"})
"""Keys of what a tool gave back."""
_FRAME = re.compile(rb"\s*Content-Length:\s*\d", re.IGNORECASE)
_LONGEST_LINE = 1000
"""Bytes that are quoted if no secrets are known: what cuts a line could cut one."""
_LONGEST_KEPT = 64 * 1024
_LONGEST_QUOTE = 300


def read_messages(data: bytes) -> tuple[list[JSONRPCMessage], str | None]:
    """Return the messages in a line, and a clause for why something in it is none, `None` where
    nothing is wrong. Bytes that are no UTF-8 are replaced; what stands before a message is passed
    over, and batches and messages without a line between them are read."""
    text = data.replace(b"\0", b"").decode("utf-8", "replace")
    if mark := _TERMINAL.match(text):
        text = text[mark.end() :]
    if "\\ud" in text or "\\uD" in text:
        text = _SURROGATE.sub(lambda escape: escape[1] or "\\ufffd", text)
    messages: list[JSONRPCMessage] = []
    at, problem = 0, None if not text or _BEGIN.search(text) else ""
    while problem is None and (begin := _BEGIN.search(text, at)):
        try:
            value, at = _DECODER.raw_decode(text, begin.start())
        except json.JSONDecodeError as error:
            problem = f"{error.msg} at character {error.pos + 1}"
        except (ValueError, RecursionError) as error:  # numbers, and lists, without an end
            problem = str(error)
        else:
            for item in value if isinstance(value, list) else [value]:
                problem = _add(messages, item, first=begin.start() == 0) or problem
    return messages, problem


def _add(messages: list[JSONRPCMessage], item: object, *, first: bool) -> str | None:
    """Add a message. Behind other words, only an answer is one: servers write into their logs what
    they are asked."""
    if isinstance(item, dict) and item.get("method") in _PASSED_OVER and "id" not in item:
        return None  # before it costs more: there may be very many
    if isinstance(item, dict) and isinstance(number := item.get("id"), float):
        item = {**item, "id": int(number)} if number.is_integer() else item
    try:
        message = jsonrpc_message_adapter.validate_python(item, by_name=False)
    except ValueError:
        return "it is JSON of another kind"
    if first or isinstance(message, JSONRPCResponse | JSONRPCError):
        messages.append(replace_unknown_blocks(message))
    return None


def is_passed_over(message: JSONRPCMessage) -> bool:
    """Tell whether it is a notification that is not needed."""
    return isinstance(message, JSONRPCNotification) and message.method in _PASSED_OVER


def replace_unknown_blocks(message: JSONRPCMessage) -> JSONRPCMessage:
    """Mention the blocks of a result whose types the protocol does not have, in texts, add the list
    of blocks where there is structured content alone, and say of schemas of tools that they are of
    objects: the SDK would refuse all of it, and not all programs do."""
    if not isinstance(message, JSONRPCResponse):
        return message
    result = message.result
    if result.get("content") is None and not _OF_TOOLS.isdisjoint(result):
        result["content"] = []
    if isinstance(blocks := result.get("content"), list):
        result["content"] = [_replace_unknown_type(block) for block in blocks]
    for tool in filter(_is_tool, tools if isinstance(tools := result.get("tools"), list) else []):
        if isinstance(schema := tool.get("inputSchema"), dict):
            schema.setdefault("type", "object")
        if not _is_of_objects(tool.get("outputSchema")):
            tool.pop("outputSchema", None)
    return message


def _is_tool(tool: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(tool, dict)


def _is_of_objects(schema: object) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object"


def _replace_unknown_type(block: object) -> object:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind in KNOWN_BLOCKS:
        return block
    return {"type": "text", "text": mention(kind)}


class StrayOutput:
    """What a server printed that is no message, and whether an answer is among it."""

    def __init__(self, secrets: Collection[str] | None) -> None:
        self._secrets = secrets
        """Secrets to remove; `None` if none are known."""
        self._printed: bytes | None = None
        """Text that is quoted."""
        self._problem = ""
        self.forget()

    def forget(self) -> None:
        """Note that a message came: what follows is of another one."""
        self._part = b""
        """The beginning of what may be one message."""
        self._lines = 0
        """Number of its lines."""
        self._is_message = False
        self._is_answer: bool | None = None
        """`None` until its kind is seen."""
        self._ids = set[str]()

    def begin(self) -> None:
        """Note that a call is made: what was printed before is not its answer."""
        self._printed = None
        self.forget()

    def add(self, line: bytes, problem: str) -> None:
        """Note a line, and what is wrong with it."""
        if not line.strip():
            return
        if not self._is_message and line[:1] in (b"{", b"["):
            self.forget()
        if len(self._part) < _LONGEST_KEPT:
            self._part += line[:_LONGEST_KEPT] + b" "
        self._lines += 1
        if _FRAME.match(line):
            self._is_message = self._is_answer = True
        pieces = (
            [line]
            if len(line) < 2 * _LONGEST_KEPT
            else [line[:_LONGEST_KEPT], line[-_LONGEST_KEPT:]]
        )
        for (
            piece
        ) in pieces:  # of a very long one, what is said of it stands before or behind its text
            for part in _PART.finditer(piece.decode("utf-8", "replace")):
                self._note(part)
        if self._ids and _BARE_ANSWER.match(line):
            self._is_message = self._is_answer = True
        if self._printed is None or self._is_message:
            is_split = self._is_message and self._lines > 1
            self._printed = self._part
            self._problem = "a message stands on one line" if is_split else problem

    def find_request(self, pending: Collection[str]) -> str | None:
        """Return which of the calls that wait will not be answered, as far as can be told."""
        if not (self._is_message and self._is_answer):
            return None
        candidates = self._ids.intersection(pending) if self._ids else set(pending)
        return candidates.pop() if len(candidates) == 1 else None

    def clause(self) -> str | None:
        """Quote it, and say what is wrong with it; `None` where there is nothing."""
        if self._printed is None:
            return None
        reason = f": {self._problem}" if self._problem else ""
        return (
            f"on its standard output it printed {quote_output(self._printed, self._secrets)}, "
            f"which is not MCP{reason}"
        )

    def _note(self, part: re.Match[str]) -> None:
        name, answer, number = part.groups()
        if name:
            self._is_message = True
        elif number:
            self._ids.add(number)
        elif self._is_answer is None:
            self._is_answer = answer is not None


def quote_output(printed: bytes, secrets: Collection[str] | None) -> str:
    """Quote what a server said as it can be shown; a long text only where no secret can be cut."""
    if secrets is None and len(printed) > _LONGEST_LINE:
        return f"more than {_LONGEST_LINE} bytes"
    text = clean_text(printed[:_LONGEST_KEPT].decode("utf-8", "replace"), secrets or ())
    plain = " ".join(text.split())
    cut = plain if len(plain) <= _LONGEST_QUOTE else plain[: _LONGEST_QUOTE - 1] + "…"
    return '"' + "".join(map(_escape, cut)) + '"'


def _escape(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]
