"""Ratios to look at."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One metric of a mode against the reference."""

    mode: str
    metric: str
    is_primary: bool
    estimate: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A row for each mark, one below the other."""

    title: str
    margin: float
    """Ratios within 1/(1+m) and 1+m are equivalent."""
    marks: tuple[Mark, ...]
    about: str
    """How to read it."""
