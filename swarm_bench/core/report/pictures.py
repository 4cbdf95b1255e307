"""Pictures as plain data. Which figures stand in them is decided where figures are made; a renderer
puts them on its axes."""

import re
from dataclasses import dataclass

from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Picture, Scale, Tone, Value


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What a picture measures in one direction."""

    label: str
    style: Style | Scale
    is_logarithmic: bool = False
    low: float | None = None
    high: float | None = None
    """Figures that are on the axis in any case."""
    ticks: tuple[float, ...] = ()
    """Figures that are written beside it; a renderer chooses some where there are none."""
    limits: tuple[float, float] | None = None
    """Largest ends of the axis; what lies beyond them is drawn there."""


@dataclass(frozen=True, kw_only=True)
class MarkGroup:
    """Marks that look alike, with what they are."""

    label: str
    """Label in the legend; empty where each row says what its marks are."""
    shape: int
    """Number of the shape and, without a tone, of the colour."""
    tone: Tone | None = None
    is_hollow: bool = False


@dataclass(frozen=True, kw_only=True)
class RowMark:
    """A mark in a row."""

    group: int
    """Number of its group."""
    value: float | None
    """`None` for a mark that stands apart from the axis."""
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class MarkRow:
    """Marks of one subject, side by side."""

    label: str
    marks: tuple[RowMark, ...]
    figure: Value | None = None
    """Figure that is written beside them."""
    is_emphasised: bool = False


@dataclass(frozen=True, kw_only=True)
class RowChart:
    """Rows on one axis."""

    title: str
    explanation: str
    """How to read it, and what is not in it."""
    axis: Axis
    groups: tuple[MarkGroup, ...]
    rows: tuple[MarkRow, ...]
    extra_column: str = ""
    """Header of what stands apart from the axis; empty where nothing does."""
    is_linked: bool = False
    """Whether the marks of a row are joined."""
    band: tuple[float, float, float] | None = None
    """The figure of no difference, between the ends of what is of no importance."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point in a plane."""

    x: float
    y: float
    x_interval: tuple[float, float] | None = None
    y_interval: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Line:
    """Points of one subject, from left to right."""

    label: str
    shape: int
    """Number of its shape and colour: a subject has the same one in all pictures of a session."""
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class PlaneChart:
    """Points of several subjects in a plane; those of one are joined."""

    title: str
    explanation: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]


Drawing = RowChart | PlaneChart

MAX_LINES = 12
"""Subjects that can be told apart by shape and colour."""
MARK = "<!-- A picture of swarm-bench -->\n"
"""Beginning of each file, so that no other one is ever replaced."""
_EARLIER = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 '
_NAME = re.compile(r"(effects|found|tasks|cost|sizes|ranks|recall|results)(-[0-9]+)?\.svg")


def is_picture(name: str) -> bool:
    """Tell whether a file of that name may be a picture of a summary."""
    return _NAME.fullmatch(name) is not None


def is_own_picture(name: str, head: bytes) -> bool:
    """Tell by its name and its beginning whether a file is a picture of a summary; those of earlier
    versions have no mark."""
    return is_picture(name) and head.startswith((MARK.encode(), _EARLIER))


def make_picture(name: str, chart: Drawing) -> Picture:
    """Make the picture of a chart, in a file of that name."""
    about = f"{chart.title}. {chart.explanation}"
    return Picture(address=f"{name}.svg", about=about, chart=chart)
