"""A session as it is exported trial by trial: what was asked, what was answered, and the way
there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.report.trials import Entry
from swarm_bench.core.treatment.conversation import Conversation

TranscriptState = Literal["read", "missing", "too-large", "unreadable", "not-shown", "none"]
"""Whether the calls of a trial are there: its files are lost, too large to read, or make the
adapter fail; the agent's adapter shows no calls, or is none that is registered; or there is nothing
to read, as no program ran."""
Kind = Literal["agent", "model", "search", "other"]
"""Who answered."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """A part of what was asked."""

    role: Literal["system", "user", "agent"]
    text: str


@dataclass(frozen=True, kw_only=True)
class ExportedTrial:
    """A trial. What it does not tell is `None`."""

    row: Mapping[str, Entry]
    """Its columns of the table of trials."""
    prompt: tuple[Message, ...] = ()
    """What was asked; empty where it is not known."""
    answer: str | None = None
    scored: str | None = None
    """Text of the answer that was scored; `None` when that is the answer itself, or nothing was."""
    usage: Usage = Usage()
    cost: float | None = None
    """US dollars."""
    is_billed: bool = True
    """Whether the user may have been charged the cost; otherwise it is what a price table says."""
    agent: str | None = None
    """Program that answered, or the searched tool."""
    agent_version: str | None = None
    model: str | None = None
    """The model, as its provider or the agent names it."""
    requested_model: str | None = None
    scores: Mapping[str, Any] = field(default_factory=dict)
    turns: Sequence[Usage] = ()
    """Tokens of each request of the main conversation."""
    conversation: Conversation | None = None
    transcript: TranscriptState = "none"
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Stored facts that only its kind of session has: the label and the evidence of retrieval."""

    @property
    def id(self) -> str:
        """What tells it from other trials of the session."""
        return str(self.row["trial"])

    @property
    def score(self) -> float | None:
        """The score of the table."""
        value = self.row.get("score")
        return value if isinstance(value, int | float) else None


@dataclass(frozen=True, kw_only=True)
class ExportedSession:
    """A session, and its trials, which are read one by one."""

    id: str
    benchmark: str
    kind: Kind
    created_at: datetime
    version: str | None
    """Version of swarm-bench that ran it."""
    runs: int
    planned: Mapping[str, int]
    """Trials that the plan has, by arm."""
    models: Mapping[str, str]
    """Model that an arm asks for, or that alone answered in it; none where that is not known."""
    verdicts: Mapping[str, str]
    """What the headline says of an arm, as a clause."""
    caveats: Mapping[str, Sequence[Caveat]]
    data: str
    """Suite or data set."""
    score_title: str | None
    """Title of the score; `None` where there is none."""
    rows: Sequence[Mapping[str, Entry]]
    """All rows of the table of trials."""
    read_trials: Callable[[str | None], Iterator[ExportedTrial]]
    """Reads the trials of an arm, or of all."""

    @property
    def arms(self) -> tuple[str, ...]:
        """Its arms, also those without a trial so far."""
        return tuple(dict.fromkeys([*self.planned, *(str(row["arm"]) for row in self.rows)]))
