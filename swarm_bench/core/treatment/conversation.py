"""What an agent said and called, as its transcript shows it: read for exports, and not stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ShownCall:
    """A tool call of a transcript."""

    id: str
    tool: str
    """Name of the tool, as in `Outcome.tool_calls`."""
    arguments: Any
    """Whatever the agent gave it, as JSON."""
    result: str | None
    """Its result as text, in which other content is only mentioned; `None` without one."""
    has_result: bool
    failed: bool
    turn: int | None
    """Request of the main conversation that made the call, from 1."""
    result_at: float | None
    """Time when the result came, in seconds of the epoch."""
    seconds: float | None
    """Seconds in which the call was open."""

    @property
    def span(self) -> tuple[float, float] | None:
        """The time in which it was open, in seconds of the epoch; `None` unless both are known."""
        if self.result_at is None or self.seconds is None:
            return None
        return self.result_at - self.seconds, self.result_at


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """The calls of a transcript in their order, and what was said beside them."""

    calls: tuple[ShownCall, ...]
    texts: Mapping[int, str] = field(default_factory=dict)
    """Text of a request of the main conversation, by its number from 1; none where the events do
    not show in which request a text was said."""
