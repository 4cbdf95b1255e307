"""The trials of a session as a table for other programs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from swarm_bench.core.report.standing import Caveat

Entry = str | float | bool | None
"""`None` where the trial does not tell."""


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """What one figure of a trial is."""

    name: str
    unit: str
    """Empty for text."""
    definition: str
    kind: Literal["text", "whole", "check", "figure"]
    """What its entries are, where they are there."""
    is_metric: bool = False


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What the entries of the column `score` are."""

    title: str
    full: float
    """What nothing is better than."""


@dataclass(frozen=True, kw_only=True)
class TrialsTable:
    """A session as it is exported."""

    columns: tuple[TableColumn, ...]
    rows: Iterable[tuple[Entry, ...]]
    """Made one by one, as a session can have 100,000; can be read once."""
    experiment: dict[str, Any] | None
    """The experiment as it is stored; `None` for a folder that canopy's script wrote."""
    caveats: Mapping[str, tuple[Caveat, ...]]
    """Caveats by arm, to be known before its figures are believed."""
    scored: Scored | None = None
    """`None` where no figure says how good a trial is, since its best is not known."""
    swarms: tuple[Mapping[str, Any], ...] = ()
    """What is stored of each swarm; none where the benchmark has no swarms."""
