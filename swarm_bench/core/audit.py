"""What bears out that the records of a session are still those that were recorded."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Key = tuple[str | None, int]
"""Id and attempt of a trial."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """How the records of a session compare with their checksums, and with the streams that the
    agents left."""

    sealed: int = 0
    """Lines that have a checksum."""
    edited: frozenset[Key] = frozenset()
    """Those of them that were changed since."""
    bare: frozenset[Key] = frozenset()
    """Lines without a checksum."""
    differing: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    """Keys of the figures that the streams give otherwise, by trial; those without any are left
    out."""
    streams: int = 0
    """Streams that were read again."""
    unread: int = 0
    """Trials whose streams are there, and were too many or too large to be read again."""
    lost: int = 0
    """Trials that ran, and whose streams are not there."""
    adapter: bool = True
    """Whether there is an adapter that can read the streams."""
