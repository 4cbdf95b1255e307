"""A document as data: all its sentences, and all its figures before they are formatted.

All text in it is plain text; a renderer escapes what its format needs escaped. A benchmark that has
a summary of its own makes a `Document`; whoever can render one needs to know nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from swarm_bench.core.metric import Better, Style

if TYPE_CHECKING:
    from swarm_bench.core.report.pictures import Drawing

_QUOTED = 1_000
"""Characters of what can quote an agent."""


class Tone(StrEnum):
    """How a reader would like what is said."""

    GOOD = "good"
    BAD = "bad"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True)
class Span:
    """A part of a text."""

    text: str
    strong: bool = False
    longest: int | None = None
    """Number of characters after which a renderer cuts the text, as it is a quotation."""
    address: str = ""
    """The file that it leads to, relative to the document."""
    tone: Tone | None = None
    code: bool = False
    """Whether the text is a command to type."""


Text = str | tuple[str | Span, ...]


class Scale(StrEnum):
    """What a figure is that compares two others."""

    RATIO = "ratio"
    """1 is no difference."""
    NOISE = "noise"
    """A ratio between equals: far from 1 it says no more than that."""
    DIFFERENCE = "difference"
    """0 is no difference."""
    POINTS = "percentage points"
    """A difference of shares."""
    PROBABILITY = "probability"
    DEVIATION = "deviation"
    """A difference without a direction."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """A figure in a table."""

    scale: Style | Scale
    value: float | None
    """`None` when nothing gave it; it is never written as 0."""
    low: float | None = None
    high: float | None = None
    """The range that stands behind it; none of the two, or both."""
    notes: tuple[str, ...] = ()
    """Notes on what is not in the value."""
    beside: "Value | None" = None
    """Second figure of the same, in the place of a range."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A range without a figure in it."""

    scale: Style | Scale
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class CombinedValue:
    """Several figures in one cell."""

    style: Style
    parts: tuple[tuple[float, str], ...]
    """Values, each with what it is; none when nothing gave them."""
    notes: tuple[str, ...] = ()
    """Notes on what is not in the values."""


@dataclass(frozen=True, kw_only=True)
class ComparedValue:
    """A figure, and how it stands against that of the reference."""

    own: Value
    change: Value | str


Cell = str | Span | Value | Interval | CombinedValue | ComparedValue | None
"""`None` where the column does not apply to the row."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table."""

    headers: tuple[str, ...]
    labels: int
    """Columns on the left that name the row; the others are its figures."""
    rows: tuple[tuple[Cell, ...], ...]
    about: str = ""
    """Subject of the figures, without a full stop."""
    ranges: str = ""
    """Meaning of the ranges in brackets, where they are shown."""
    marked: frozenset[int] = frozenset()
    """Numbers of the rows that matter most."""
    controls: frozenset[int] = frozenset()
    """Numbers of the columns that no verdict is on: what has no room is omitted there first."""
    omitted: int = 0
    """Rows that are not in it."""
    rest: str = "Rows not shown: {number}; metrics.jsonl has the figures of each trial."
    """Sentence on where the rows are that are not shown."""


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """Lines of text."""

    lines: tuple[Text, ...]
    is_spare: bool = False
    """Whether it is omitted where there is no room."""


@dataclass(frozen=True, kw_only=True)
class Bullets:
    """A list."""

    items: tuple[Text, ...]
    omitted: int = 0
    """Items that are not in it."""
    rest: str = "{number} more."
    """Says so, where there are some."""
    is_spare: bool = False
    """Whether its last items are omitted where there is no room."""


@dataclass(frozen=True)
class Step:
    """What comes next."""

    command: str
    aim: str
    """Follows `Next, `: `again with 60 tasks in all`."""
    cases: int = 0
    """Number of cases that it asks for; 0 where that is no matter of their number."""

    @property
    def line(self) -> Text:
        """Say `Next, again with 60 tasks in all: swarm-bench tasks make --count 60`."""
        return f"Next, {self.aim}: ", Span(text=self.command, code=True)


@dataclass(frozen=True, kw_only=True)
class ShownEffect:
    """What a verdict is on, as a picture shows it."""

    metric: str
    value: Value
    """A ratio, or a difference, with the interval that decided."""
    margin: float
    """Difference that is of no importance: a share of a ratio, or a difference."""
    better: Better | None
    margin_label: str
    """Label of the band of the margin."""
    cases: str
    """What it is over: `15 tasks`."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is said of a mode, or of another arm: a verdict line, an evidence line and caveats."""

    subject: str
    claim: str
    """Follows the subject, without a full stop: ` helps`, `: cannot tell yet`."""
    tone: Tone | None = None
    """Tone of the claim."""
    figures: str = ""
    """A sentence or two: what it did, and its reference, and how sure that is."""
    next: Step | None = None
    evidence: str = ""
    """Sentences on what the claim rests on."""
    caveats: tuple[str, ...] = ()
    """Clauses on what must be known before the figures are believed."""
    is_settled: bool = False
    """Whether no further run of the same is needed."""
    is_aside: bool = False
    """Whether it is of what others are held against, so that a terminal omits it."""
    effect: ShownEffect | None = None
    """The figures of the claim; `None` where none decided."""
    use: str = ""
    """Whether its tool was used: `used in 11 of 12 trials`; empty without a tool."""

    @property
    def claim_line(self) -> str:
        """The verdict in a few words."""
        return f"{self.subject}{self.claim}."

    @property
    def line(self) -> Text:
        """The verdict line."""
        parts: list[str | Span] = [Span(text=self.claim_line, strong=True, tone=self.tone)]
        parts += [" ", Span(text=self.figures)] if self.figures else []
        parts += [" ", *self.next.line] if self.next else []
        return tuple(parts)

    @property
    def further(self) -> tuple[Text, ...]:
        """The lines below it."""
        return tuple(line for line in (self.evidence_line, self.caveat_line) if line)

    @property
    def evidence_line(self) -> Text | None:
        """What the claim rests on; `None` where nothing is said of it."""
        line = ("Evidence: ", Span(text=self.evidence, longest=_QUOTED))
        return line if self.evidence else None

    @property
    def caveat_line(self) -> Text | None:
        """What must be known before the figures are believed; `None` without caveats."""
        plural = "s" * (len(self.caveats) > 1)
        line = (f"Caveat{plural}: ", Span(text="; ".join(self.caveats), longest=_QUOTED), ".")
        return line if self.caveats else None


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a session says of its modes, or other arms."""

    items: tuple[Answer, ...]
    size: str = ""
    """Cases and runs that have trials: `12 tasks × 3 runs`."""


@dataclass(frozen=True, kw_only=True)
class Banner:
    """What must be known before what follows it."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Verbatim:
    """Text from another source, unchanged."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A labelled word of the head."""

    label: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Labelled words."""

    lines: tuple[tuple[Fact, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture in a file beside the document."""

    address: str
    about: str
    """Text for those who do not see the picture."""
    chart: "Drawing | None" = None
    """What is drawn in it."""


Block = Grid | Paragraph | Bullets | Answers | Banner | Verbatim | Facts | Picture


class Part(StrEnum):
    """What a section is for, where that is not its figures."""

    HEADLINE = "headline"
    WARNINGS = "warnings"
    SET_UP = "set-up"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, and what stands below it."""

    title: str
    blocks: tuple[Block, ...]
    folded: bool = False
    """A reader who wants it opens it."""
    part: Part | None = None


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """What stands in a second file, where there are files."""

    title: str
    sections: tuple[Section, ...]
    instead: tuple[Section, ...]
    """Sections that the first file has instead of it, before its folded sections."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A title, what must be known first, what it is about, and sections."""

    title: str
    banner: str | None
    head: tuple[tuple[Fact, ...], ...]
    """Line by line."""
    sections: tuple[Section, ...]
    apart: Attachment | None = None
    brief: tuple[Block, ...] = ()
    """Blocks that are shown at a terminal, where the rest is a file."""

    def add_notice(self, notice: str) -> "Document":
        """Put a sentence before what else must be known first; an empty one changes nothing."""
        return replace(self, banner=" ".join(filter(None, (notice, self.banner))) or None)


@dataclass(frozen=True, kw_only=True)
class RenderedDocument:
    """A document, and what its file has."""

    document: Document
    markdown: str
    details: str = ""
    """Text of a second file; empty where there is none."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Drawings by the name of their file."""
