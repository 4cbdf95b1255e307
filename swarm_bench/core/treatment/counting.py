"""Calls in transcripts, and what a counter of the retrieval tool may show for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, kw_only=True)
class ToolCalls:
    """The calls of one tool."""

    answered: int
    """Calls that were answered without an error."""
    failed: int = 0
    unanswered: int = 0

    def __add__(self, other: Self) -> "ToolCalls":
        return ToolCalls(
            answered=self.answered + other.answered,
            failed=self.failed + other.failed,
            unanswered=self.unanswered + other.unanswered,
        )

    @property
    def number(self) -> int:
        """Return the number of all calls."""
        return self.answered + self.failed + self.unanswered


@dataclass(frozen=True, kw_only=True)
class Transcripts:
    """What the agents of a swarm show, and what is known around it."""

    calls: Mapping[str, ToolCalls]
    """Calls of MCP tools, by the name that agents give the tool (`mcp__server__tool`)."""
    services: tuple[str, ...]
    """Services that ran beside the agents."""
    external: bool
    """Whether the service is one that others may ask too (`--service-url`)."""
    counts: Mapping[tuple[str, str], int]
    """Counts by probe and counter; those that could be read."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What one counter may show for some calls."""

    plain: int
    """One for each answered call."""
    low: float
    high: float
    below: str = ""
    """The rule that makes it fewer than `plain`."""
    above: str = ""
    calls: str
    """The calls in words."""
    no_floor: str = ""
    """Reason why it may be fewer than any rule allows."""
    no_ceiling: str = ""
    """Reason why it may be more than any rule allows."""


def numbered(number: int, noun: str) -> str:
    """Put it in words: `2 calls`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
