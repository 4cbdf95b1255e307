"""The page of one trial, and the trials of a session as a table for other programs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from swarm_bench.core.report.document import Section, Text, Value
from swarm_bench.core.report.standing import Caveat

Entry = str | float | bool | None
"""`None` where the trial does not tell."""


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """What one figure of a trial is."""

    name: str
    unit: str
    """Unit; empty for text."""
    definition: str
    kind: Literal["text", "whole", "check", "figure"]
    """Kind of its entries, where there are any."""
    is_metric: bool = False


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What the entries of the column `score` are."""

    title: str
    full: float
    """Best possible value."""


@dataclass(frozen=True, kw_only=True)
class TrialsTable:
    """A session as it is exported."""

    columns: tuple[TableColumn, ...]
    rows: Iterable[tuple[Entry, ...]]
    """Rows, made one by one, as a session can have 100,000; can be read once."""
    experiment: dict[str, Any] | None
    """The experiment as it is stored; `None` for a folder that canopy's script wrote."""
    caveats: Mapping[str, tuple[Caveat, ...]]
    """Caveats by arm, to be known before its figures are believed."""
    scored: Scored | None = None
    """`None` where no figure says how good a trial is, since its best is not known."""
    swarms: tuple[Mapping[str, Any], ...] = ()
    """Stored values of each swarm; none where the benchmark has no swarms."""


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
