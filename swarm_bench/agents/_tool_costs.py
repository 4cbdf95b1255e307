"""What tools cost: the seconds of their calls, and the tokens that their results put before the
model. Calls are known by their ids."""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from swarm_bench.agents._json_lines import list_of, object_of, text_of
from swarm_bench.models import tokens

_Figure = TypeVar("_Figure", int, float)


def seconds_by_tool(
    calls: Mapping[str, str], seconds: Mapping[str, float]
) -> dict[str, float] | None:
    """By the tool's name, summed over its calls: those of calls made together overlap. A tool is
    left out when one of its calls has no time; `None` when there are calls and none has one."""
    if calls and not calls.keys() & seconds.keys():
        return None
    total = _summed({key: (name, seconds.get(key)) for key, name in calls.items()})
    return {name: round(figure, 6) for name, figure in total.items()}


def tokens_by_tool(calls: Mapping[str, str], counts: Mapping[str, int | None]) -> dict[str, int]:
    """By the tool's name, summed over its results; a call without a result put nothing before the
    model. A tool is left out when one of its results could not be counted."""
    return _summed({key: (name, counts.get(key, 0)) for key, name in calls.items()})


def tokens_of(content: object) -> int | None:
    """Tokens of a result, a text or a list of blocks; `None` when not all of it is text."""
    if (text := text_of(content)) is not None:
        return tokens.count(text)
    if not isinstance(content, list):
        return None
    blocks = [object_of(block) for block in list_of(content)]
    texts = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
    known = [text for text in texts if text is not None]
    return tokens.count("".join(known)) if len(known) == len(blocks) else None


def moment_of(value: object) -> datetime | None:
    """A time with its zone, as ISO 8601 writes it."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def between(begin: datetime | None, end: datetime | None) -> float | None:
    """Seconds from one to the other; `None` when one is missing, or the clock was set back."""
    if begin is None or end is None or end < begin:
        return None
    return (end - begin).total_seconds()


def _summed(figures: Mapping[str, tuple[str, _Figure | None]]) -> dict[str, _Figure]:
    missing = {name for name, figure in figures.values() if figure is None}
    total: dict[str, _Figure] = {}
    for name, figure in figures.values():
        if figure is not None and name not in missing:
            total[name] = total[name] + figure if name in total else figure
    return total
