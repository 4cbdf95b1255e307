"""The page of one trial, as data."""

from dataclasses import dataclass

from swarm_bench.core.report.document import Section, Text, Value


@dataclass(frozen=True, kw_only=True)
class RecordedFigures:
    """A figure with all the digits that the record has of it."""

    value: float | None
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A title, the task and its answer, and labelled figures and facts."""

    title: tuple[str, str]
    """The mode, and the agent in it."""
    sections: tuple[Section, ...]
    heading: str
    """Above the facts."""
    facts: tuple[tuple[str, Text | Value | RecordedFigures], ...]
