"""What tools cost: the seconds of their calls, and the tokens that their results put before the
model. Calls are identified by their ids."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from swarm_bench.runtime.mcp.results import read_result
from swarm_bench.text import tokens


@dataclass(frozen=True)
class Span:
    """The time in which a call was open, in seconds of the same clock."""

    begin: float
    end: float


def sum_seconds(calls: Mapping[str, str], spans: Mapping[str, Span]) -> dict[str, float] | None:
    """Sum up the time in which at least one call of a tool was open, by its name: what calls that
    were made together share is counted once. A tool is omitted when one of its calls has no span;
    `None` when there are calls and none has one."""
    if calls and not calls.keys() & spans.keys():
        return None
    of_tools = defaultdict[str, list[Span | None]](list)
    for key, name in calls.items():
        of_tools[name].append(spans.get(key))
    known_spans = {
        name: [span for span in of_tool if span is not None] for name, of_tool in of_tools.items()
    }
    return {
        name: round(_sum_covered(known_spans[name]), 6)
        for name, of_tool in of_tools.items()
        if len(known_spans[name]) == len(of_tool)
    }


def _sum_covered(spans: list[Span]) -> float:
    total, covered_until = 0.0, -math.inf
    for span in sorted(spans, key=lambda span: span.begin):
        total += max(0.0, span.end - max(span.begin, covered_until))
        covered_until = max(covered_until, span.end)
    return total


def tokens_by_tool(calls: Mapping[str, str], counts: Mapping[str, int | None]) -> dict[str, int]:
    """Sum up the tokens of a tool's results, by its name; a call without a result put nothing
    before the model. A tool is omitted when one of its results could not be counted."""
    missing = {name for key, name in calls.items() if counts.get(key, 0) is None}
    total = Counter[str]()
    for key, name in calls.items():
        total[name] += counts.get(key, 0) or 0
    return {name: tokens for name, tokens in total.items() if name not in missing}


def count_tokens(content: object) -> int | None:
    """Count the tokens of a result, in any form of `read_result`; `None` when not all of it is
    text."""
    result = read_result(content)
    return (
        tokens.count("".join(result.parts)) if result is not None and result.is_complete else None
    )


def parse_time(value: object) -> datetime | None:
    """Parse a time with its zone, as ISO 8601 writes it."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def make_span(begin: datetime | None, end: datetime | None) -> Span | None:
    """Return the span of two moments; `None` when one is missing, or the clock was set back."""
    if begin is None or end is None or end < begin:
        return None
    return Span(begin.timestamp(), end.timestamp())


def make_span_until(end: datetime | None, seconds: float | None) -> Span | None:
    """Return the span of so many seconds up to a moment; `None` when one of the two is missing."""
    if end is None or seconds is None:
        return None
    return Span(end.timestamp() - seconds, end.timestamp())
