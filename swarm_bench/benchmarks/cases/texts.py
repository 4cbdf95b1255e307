"""What benchmarks of models do to texts."""

import re
from collections.abc import Iterable
from dataclasses import replace

from swarm_bench.core.roles.language_model import Completion, Way

_THINKING, _THOUGHT = "<think>", "</think>"
_OPENING = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.M)


def cut(completion: Completion, stops: Iterable[str]) -> str:
    """Return the answer up to the first of the stop words; nothing is trimmed."""
    text = completion.text
    if completion.whole:
        return text
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def behind_thoughts(completion: Completion, way: Way) -> Completion:
    """Drop the block in which a model thinks aloud before it answers in chat; an answer that ends
    within it is empty."""
    if way != "chat" or not completion.text.lstrip().startswith(_THINKING):
        return completion
    return replace(completion, text=completion.text.partition(_THOUGHT)[2].lstrip("\n"))


def fenced(text: str) -> str | None:
    """Return the first block of code of a Markdown text; `None` when there is none."""
    opening = _OPENING.search(text)
    begin = text.find("\n", opening.end()) + 1 if opening else 0
    if not opening or not begin:
        return None
    mark = f"{opening[1][0]}{{{len(opening[1])}}}"
    closing = re.compile(rf"^[ \t]*{mark}[ \t]*$", re.M).search(text, begin)
    return text[begin : closing.start() if closing else None]
