"""What bears out that the records of a session are still those that were recorded."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Key = tuple[str | None, int]
"""Id and attempt of a trial."""
SideFile = tuple[str, str]
"""A file of lines that are not of trials, and the mode that its lines are about."""
FIGURES_OF_SCRIPT = (
    "duration_ms",
    "duration_s",
    "num_turns",
    "input_tokens",
    "cache_read",
    "cache_create",
    "output_tokens",
    "total_tokens",
    "effective_tokens",
    "cost",
    "result_lines",
)
"""Keys of what canopy's script reads from an agent's output too."""
FIGURES = (
    *FIGURES_OF_SCRIPT,
    "requests",
    "all_in_tokens",
    "retries",
    "compactions",
    "subagents",
)
"""Keys of the figures that a record and a second look at the stream have in common."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """How the records of a session compare with their checksums, and with the streams that the
    agents left."""

    sealed: int = 0
    """Lines that have a checksum."""
    edited: frozenset[Key] = frozenset()
    """Keys of the lines that were changed since."""
    without_checksum: frozenset[Key] = frozenset()
    """Lines without a checksum."""
    edited_beside: Mapping[SideFile, int] = field(default_factory=dict)
    """Number of lines on swarms and on overhead that were changed since."""
    bare_beside: Mapping[SideFile, int] = field(default_factory=dict)
    """How many of them have no checksum."""
    differing: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    """Keys of the figures that the streams give otherwise, by trial; those without any are left
    out."""
    streams: int = 0
    """Streams that were read again, and held against their records."""
    unreadable: int = 0
    """Streams on which the adapter failed, so that they were held against nothing."""
    unread: int = 0
    """Trials whose streams are there, and were too many or too large to be read again."""
    lost_streams: int = 0
    """Trials that ran, and whose streams are not there."""
    adapter: bool = True
    """Whether there is an adapter that can read the streams."""
