"""What `report.html` shows: the document of `summary.md`, and what only a page has room for."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from swarm_bench.core.report.document import Document, Tone, Value
from swarm_bench.core.treatment.conversation import Conversation

PAGE = "report.html"
MARKER = "swarm-bench report"
"""Generator that a page names in its head, so that no other file is ever replaced."""
_TASK_PAGE = "report-task-{}.html"
_IS_TASK_PAGE = re.compile(r"report-task-[1-9][0-9]*\.html")


def name_task_page(number: int | str) -> str:
    """Return the name of the page of a task, from 1."""
    return _TASK_PAGE.format(number)


def is_page(name: str) -> bool:
    """Tell whether a file of that name is a page of a session, or of one of its tasks."""
    return name == PAGE or _IS_TASK_PAGE.fullmatch(name) is not None


@dataclass(frozen=True, kw_only=True)
class MatrixEntry:
    """A trial in a cell."""

    value: Value | str
    """What it found, or how it ended where nothing says that."""
    tone: Tone | None
    name: str
    """The trial in words: `canopy, run 2, agent 3`."""
    trial: int | None = None
    """Its number among the transcripts of its task, from 0; `None` without a transcript."""


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """A task, with its trials by arm."""

    title: str
    cells: tuple[tuple[MatrixEntry, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Tasks and arms, with what each trial found."""

    title: str
    about: str
    case: str
    """Header of the tasks."""
    arms: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bar:
    """The time in which an agent ran, or a phase of its swarm."""

    begin: float
    """Seconds since the first bar begins, like the end."""
    end: float
    tone: Tone | None
    label: str
    trial: tuple[int, int] | None = None
    """Numbers of its task and, within that, of the trial, from 0; `None` for what is no agent."""


@dataclass(frozen=True, kw_only=True)
class Lane:
    """The agents of one swarm."""

    label: str
    bars: tuple[Bar, ...]
    phases: tuple[Bar, ...] = ()
    """What stood before and after them."""


@dataclass(frozen=True, kw_only=True)
class TimelineLegend:
    """What bars are called."""

    agents: Mapping[Tone | None, str]
    """Labels by tone."""
    calls: str
    phases: str


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """A session in time."""

    title: str
    about: str
    begin: float
    """Time when the first bar begins, in seconds of the epoch."""
    seconds: float
    """Length of the session."""
    lanes: tuple[Lane, ...]
    legend: TimelineLegend


@dataclass(frozen=True, kw_only=True)
class ShownTrial:
    """What a reader wants to see of a trial. A figure that nothing gave is `None`."""

    name: str
    arm: str
    run: int
    outcome: str
    figures: tuple[tuple[str, Value | str], ...] = ()
    """Labelled figures of the trial, and scores that are words."""
    turns: tuple[int | None, ...] = ()
    """Tokens by request of the main conversation."""
    conversation: Conversation | None = None
    """Its calls, with arguments as text; `None` without calls to show: `remarks` say why."""
    spans: tuple[tuple[float, float], ...] = ()
    """When its calls were open, in seconds of the epoch, as far as that is known."""
    last: str | None = None
    """What was said after the last call of a trial without an answer."""
    answer: str | None = None
    is_markdown: bool = False
    """Whether whoever answered writes Markdown."""
    scored: str | None = None
    """Text that was scored; `None` when that is the answer itself, or nothing was."""
    errors: str = ""
    """End of its standard error."""
    key: tuple[tuple[str, bool], ...] = ()
    """Files of the answer key, each with whether the answer names it."""
    cited: tuple[tuple[str, bool | None], ...] = ()
    """Files that the answer names, each with whether the repository has it, as far as that is
    known."""
    notes: tuple[tuple[str, str], ...] = ()
    """Long texts among the scores, with their keys."""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ShownTask:
    """A task, and its trials as they are shown side by side."""

    title: str
    prompt: str
    trials: tuple[ShownTrial, ...]


@dataclass(frozen=True, kw_only=True)
class SessionPage:
    """A page on a session."""

    document: Document
    command: str = ""
    """Command that repeats the session; empty where its experiment does not tell it."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the programs that ran the session, by their names."""
    matrix: Matrix | None = None
    timeline: Timeline | None = None
    tasks: Iterable[ShownTask] = field(default=())
    """The tasks, in the order of the rows of the matrix, or none; read once."""
