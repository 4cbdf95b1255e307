"""One line of what `modes`, `tasks`, `agents` and `benchmarks` list."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Something that a name stands for."""

    name: str
    about: str
    source: str
    problem: str | None = None
    """Why it cannot be used; `None` when it can."""
    caveat: str | None = None
    """What may keep it from being of use, instead of `usable`."""
