"""What benchmarks of models do to texts."""

import re
from collections.abc import Iterable

from swarm_bench.core.roles.language_model import Completion

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.M | re.S)


def cut(completion: Completion, stops: Iterable[str]) -> str:
    """Return the answer up to the first of the stop words; nothing is trimmed."""
    text = completion.text
    if completion.whole:
        return text
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def fenced(text: str) -> str | None:
    """Return the first block of code of a Markdown text; `None` when there is none."""
    match = _FENCE.search(text)
    return match[2] if match else None
