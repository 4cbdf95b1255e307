"""What MCP tools answered, call by call, as digests: whether two answers are equal, whether there
is nothing in one, and how much. The texts themselves are not kept."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from swarm_bench.agents._json_lines import list_of, object_of, text_of
from swarm_bench.core.outcome import ToolAnswer
from swarm_bench.models.answer_kinds import kind_of

_PREFIX = "mcp__"
_DIGITS = 12
_CLOCK = re.compile(r"(?:^|_)(?:ms|seconds|time|duration|elapsed|took|timestamp)$", re.IGNORECASE)


class ToolAnswers:
    """Collects calls and their results; other tools than those of servers are passed over."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[str, object]] = {}
        self._answered: dict[str, ToolAnswer] = {}

    def ask(self, call: str, tool: str, arguments: object) -> None:
        """Note a call by its id."""
        if tool.startswith(_PREFIX):
            self._asked[call] = (tool, arguments)

    def answer(self, call: str, content: object, *, failed: bool = False) -> None:
        """Note the result of a call, a text or a list of blocks; the last one of a call counts."""
        self._answered.pop(call, None)
        if call in self._asked and not failed:
            self._answered[call] = answer_to(*self._asked[call], content)

    def all(self) -> tuple[ToolAnswer, ...]:
        """The answers that were no errors."""
        return tuple(self._answered.values())


def answer_to(tool: str, arguments: object, content: object) -> ToolAnswer:
    """What a result says, in digests."""
    asked = sorted(set(_texts(arguments)))
    text = _text(content)
    return ToolAnswer(
        tool=tool,
        question=_digest(" ".join(asked)) if asked else None,
        answer=None if text is None else _digest(_without_echo(text, asked)),
        bytes=None if text is None else len(text.encode("utf-8", "replace")),
        kind=None if text is None else kind_of(text),
    )


def _text(content: object) -> str | None:
    """`None` when not all of it is text."""
    if (text := text_of(content)) is not None:
        return text
    if not isinstance(content, list):
        return None
    blocks = [object_of(block) for block in list_of(content)]
    texts = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
    known = [text for text in texts if text is not None]
    return "\n".join(known) if len(known) == len(blocks) else None


def _texts(value: object) -> Iterator[str]:
    """All texts in the arguments of a call, as words: a limit or a switch asks nothing else."""
    if isinstance(value, str):
        if words := " ".join(value.casefold().split()):
            yield words
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _without_echo(text: str, asked: list[str]) -> str:
    """An answer without the question that it repeats and the time that it took, by which two equal
    answers would differ."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if not _repeats(key, one, asked)}
        return json.dumps(kept or value, sort_keys=True)
    first, _, rest = text.strip().partition("\n")
    quoted = any(re.search(rf"[\"'`«“]{re.escape(one)}[\"'`»”]", first.casefold()) for one in asked)
    return rest if quoted and rest.strip() else text


def _repeats(key: str, value: Any, asked: list[str]) -> bool:
    if isinstance(value, int | float) and _CLOCK.search(key):
        return True
    if not isinstance(value, str) or not value.strip():
        return False
    return set(value.casefold().split()) <= {word for one in asked for word in one.split()}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
