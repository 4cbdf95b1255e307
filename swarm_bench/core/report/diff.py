"""Two sessions of the same benchmark, mode by mode."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from swarm_bench.core.metric import Metric
from swarm_bench.core.report.document import Answer, Fact
from swarm_bench.core.report.standing import Caveat


class Role(StrEnum):
    """What a metric is in a comparison."""

    PRIMARY = "primary"
    QUALITY = "quality"
    EXPLORATORY = "exploratory"


@dataclass(frozen=True, kw_only=True)
class SettingChange:
    """What a setting was in both sessions."""

    subject: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class DiffRow:
    """One metric of a mode, the second session against the first."""

    metric: Metric
    role: Role
    before: float | None
    """Over the paired cases: the geometric mean where ratios are compared, otherwise the mean;
    `None` where none is paired."""
    after: float | None
    estimate: float | None
    """A ratio or a difference; `None` where too few cases are paired."""
    interval: tuple[float, float] | None
    p: float | None
    """p of the test that flips signs."""
    cases: int


@dataclass(frozen=True, kw_only=True)
class ModeDiff:
    """A mode in both sessions."""

    mode: str
    answer: Answer
    """The answer without caveats."""
    rows: tuple[DiffRow, ...]
    """Rows; none where the mode cannot be compared."""
    caveats: Mapping[str, tuple[Caveat, ...]]
    """Caveats of the figures, by session (A or B)."""


@dataclass(frozen=True, kw_only=True)
class Diff:
    """What differs between two sessions, and what it came to."""

    sides: tuple[tuple[Fact, ...], tuple[Fact, ...]]
    """What each of them is."""
    common: tuple[Fact, ...]
    """What both have."""
    arm: str
    """Arm that is compared: a mode, or an arm."""
    case: str
    """Unit by which trials are paired: a task, or a case."""
    changes: tuple[SettingChange, ...]
    caveats: tuple[str, ...]
    modes: tuple[ModeDiff, ...]
