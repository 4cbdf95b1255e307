"""The parts of a trial's record, by the keys that they have there: no two have the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.core.treatment.evidence import Evidence, Treatment
from swarm_bench.core.treatment.tool_answers import ToolAnswers
from swarm_bench.engine.scoring import Scored


@dataclass(frozen=True, kw_only=True)
class About:
    """Which trial it was, of what, and how it ended."""

    session: str
    trial: str
    mode: str
    run: int
    agent: int
    task: str
    task_id: str
    status: Status
    cause: Cause
    detail: str | None
    program: str
    program_version: str | None
    model: str | None
    fixed_rules: bool | None
    backend: str | None
    replayed: str | None


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What we measured from outside."""

    started_at: datetime | None
    """`None` when the trial never began."""
    ended_at: datetime
    wall_seconds: float | None
    """`None` when no process ran."""
    exit_code: int | None
    peak_memory_bytes: int | None
    cpu_seconds: float | None
    attempt: int
    turns_counted: bool | None
    """True when we kept the turn budget; `None` when no process ran."""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What the agent reported of its time, its turns, its tokens and their cost."""

    duration_ms: float | None
    duration_s: float | None
    num_turns: int | None
    input_tokens: int | None
    cache_read: int | None
    cache_create: int | None
    output_tokens: int | None
    total_tokens: int | None
    effective_tokens: int | None
    cost: float | None
    compacted: int | None
    requests: int | None
    api_seconds: float | None
    cost_unreliable: bool | None
    all_in_tokens: int | None
    turn_usage: list[dict[str, int | None]] | None
    retries: int | None
    compactions: int | None
    subagents: int | None
    permission_denials: Mapping[str, int] | None


@dataclass(frozen=True, kw_only=True)
class Priced:
    """Who counted the tokens, and what made a cost of them."""

    rehearsal: bool | None
    cost_estimated: bool | None
    price_table: str | None
    token_counter: str | None


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What it did with its tools, and what that says of the mode's."""

    tool_calls: Mapping[str, int] | None
    tool_failures: Mapping[str, int] | None
    tool_unanswered: Mapping[str, int] | None
    tool_seconds: Mapping[str, float] | None
    tool_result_tokens: Mapping[str, int] | None
    tool_answers: Mapping[str, ToolAnswers] | None
    unusable_tools: Sequence[str] | None
    names_cut: int | None
    mcp_calls: int | None
    mcp_servers: Mapping[str, str] | None
    retrieval: Treatment
    evidence: Evidence


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """What the rehearsal server saw of an agent; nothing without one."""

    rehearsal_requests: int | None = None
    rehearsal_faults: int | None = None
    rehearsal_request_tokens: int | None = None
    rehearsal_tool_tokens: int | None = None
    rehearsal_mcp_tokens: int | None = None
    rehearsal_tools: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What is known of a trial beside its outcome."""

    scored: Scored = field(default_factory=Scored)
    rehearsed: Rehearsed = field(default_factory=Rehearsed)
    outside: tuple[str, ...] = ()
    """What else than its servers the agent reached, as sentences."""
    answers: tuple[str, ...] = ()
    """Where it may have read the answer, as sentences."""
    program_version: str | None = None
    """As the program said it when it was asked, for agents that do not say it."""
    replayed: str | None = None


@dataclass(frozen=True, kw_only=True)
class Parts:
    """All of a record."""

    about: About
    measured: Measured
    spent: Spent
    priced: Priced
    tools: Tools
    beside: Beside

    def record(self) -> TrialRecord:
        """Put them together. A key that two parts have is a `TypeError`, one that the record does
        not have a `ValidationError`."""
        scored = self.beside.scored
        return TrialRecord(
            **vars(self.about),
            **vars(self.measured),
            **vars(self.spent),
            **vars(self.priced),
            **vars(self.tools),
            **vars(self.beside.rehearsed),
            **vars(scored.own),
            unscored_characters=scored.unscored_characters,
            scores=scored.scores,
            missing_scores=scored.missing,
            score_failures=scored.failures,
        )
