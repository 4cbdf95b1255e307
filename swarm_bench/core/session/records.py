"""What is stored of an experiment while it runs: one line per trial, one per swarm.

A figure that was not given is `None`; nothing here turns that into 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import Field

from swarm_bench.core.figures import Amount, Count
from swarm_bench.core.outcome import Reported
from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.base import (
    RULES,
    SCHEMA_VERSION,
    NodeName,
    SchemaVersion,
    StoredRecord,
)
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.judgements import Verdict
from swarm_bench.core.session.scores import OwnScores
from swarm_bench.core.status import Cause, Status
from swarm_bench.core.stored import Moment, Stored, StoredScore
from swarm_bench.core.treatment.evidence import Agreement as Agreement
from swarm_bench.core.treatment.evidence import Evidence as Evidence
from swarm_bench.core.treatment.evidence import Treatment as Treatment
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.core.treatment.tool_answers import ToolAnswers


def _is_none(value: object) -> bool:
    return value is None


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """What we measured of a trial from outside."""

    started_at: Moment | None = None
    """`None` when the trial never began."""
    ended_at: Moment | None = None
    wall_seconds: Amount | None = None
    """Seconds from the start of the process to the end of its tree, by our clock; `None` when no
    process ran."""
    exit_code: Count | None = None
    """`None` also where the program had answered and was ended because it did not end."""
    peak_memory_bytes: Count | None = None
    """Largest sampled sum over the process tree."""
    cpu_seconds: Amount | None = None
    """Sampled over the process tree; what ran between two samples only is missing."""
    attempt: int = 1
    turns_counted: bool | None = None
    """True when we counted the turns in the stream and kept the budget, as the agent does not;
    `None` when no process ran."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What an agent spent, as far as it is computed from what it reported."""

    duration_s: Amount | None = None
    num_turns: Count | None = None
    input_tokens: Count | None = None
    cache_read: Count | None = None
    cache_create: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    """Reported tokens: input + cache creation + output."""
    effective_tokens: Count | None = None
    """Reported tokens + cache read."""
    compacted: Count | None = None
    """1 when the requests reached the budget; a proxy, not a context compaction."""
    api_seconds: Amount | None = None
    all_in_tokens: Count | None = None
    """Effective tokens with the requests of sub-agents and compactions."""
    turn_usage: list[dict[str, Count | None]] | None = None
    """Per request of the main conversation: input, cache_read, cache_create, output."""


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """What the rehearsal server saw of an agent; nothing without one."""

    rehearsal_requests: Count | None = None
    """Requests that asked it to answer; without those to count tokens."""
    rehearsal_faults: Count | None = None
    rehearsal_request_tokens: Count | None = None
    """Tokens of the first request that offered tools."""
    rehearsal_tool_tokens: Count | None = None
    """Tokens of the descriptions of all tools among them."""
    rehearsal_mcp_tokens: Count | None = None
    """Tokens of the mode's MCP servers among them."""
    rehearsal_tools: list[str] | None = None
    """Names of the tools that were offered in any request, as the model sees them."""


_KEYS = """
mode agent task duration_ms duration_s num_turns input_tokens cache_read cache_create
output_tokens total_tokens effective_tokens cost result_lines compacted schema_version session
trial attempt run task_id status cause detail exit_code program program_version model fixed_rules
started_at ended_at wall_seconds api_seconds peak_memory_bytes cpu_seconds tool_calls
tool_failures tool_unanswered tool_seconds tool_result_tokens tool_answers unusable_tools
names_cut permission_denials retries compactions subagents all_in_tokens turn_usage requests
turns_counted mcp_calls mcp_servers retrieval evidence backend cost_estimated cost_unreliable
price_table token_counter rehearsal rehearsal_requests rehearsal_faults rehearsal_request_tokens
rehearsal_tool_tokens rehearsal_mcp_tokens rehearsal_tools replayed references references_distinct
references_existing answer_digest headings bullets fences grounded structured unscored_characters
scores missing_scores score_failures node
"""


class _InOrder:
    """Has the keys of a line in their order, which is that in which they came: scripts written for
    canopy's own benchmark read the first ones. A key that is not among them stands behind them."""

    __annotations__ = dict.fromkeys(_KEYS.split(), object)


class TrialRecord(StoredRecord, Reported, Spending, Measurements, Rehearsed, _InOrder):  # type: ignore[misc]
    """One line of `metrics.jsonl`."""

    labels: ClassVar = frozenset({"retrieval", "evidence"})
    own_scores: ClassVar = OwnScores
    schema_version: SchemaVersion = SCHEMA_VERSION
    session: str | None = None
    trial: str | None = None
    """Stable id: the same mode, task, agent and run have the same one in every session."""
    mode: str
    run: int = 1
    agent: int
    """Number of the agent in its swarm, from 1."""
    task: str
    task_id: str | None = None
    status: Status | None = None
    cause: Cause | None = None
    program: str | None = None
    backend: str | None = None
    """The retrieval program of the mode, with its version; `None` when the mode gives no tool."""
    rehearsal: bool | None = None
    """True when fixed rules behind a loopback server answered instead of a model."""
    replayed: str | None = None
    """Id of the session whose recording was played again."""
    tool_answers: dict[str, ToolAnswers] | None = None
    """Answers without an error, by tool of an MCP server."""
    mcp_calls: Count | None = None
    mcp_servers: Mapping[str, str] | None = None
    retrieval: Treatment | None = None
    """The one label that the witnesses lead to."""
    evidence: Evidence | None = None
    result_lines: Count | None = None
    references: Count | None = None
    """Mentions of file paths in the answer, as canopy's script counts them."""
    references_distinct: Count | None = None
    references_existing: Count | None = None
    """Distinct mentions that name a file of the snapshot."""
    answer_digest: str | None = None
    """Equal for equal answers."""
    headings: Count | None = None
    bullets: Count | None = None
    fences: Count | None = None
    grounded: bool | None = None
    structured: bool | None = None
    unscored_characters: Count | None = None
    """Characters at the end of an answer that are not scored, as it is longer than what is scored
    of one."""
    scores: dict[str, StoredScore] | None = Field(default=None, exclude_if=_is_none)
    """Scores of all other scorers, under the names that they state; `None` where one failed. In
    lines without any there is no such key, and the same holds for the next field."""
    missing_scores: dict[str, str] | None = Field(default=None, exclude_if=_is_none)
    """Reason why a score could not be computed, by its key."""
    score_failures: dict[str, str] | None = Field(default=None, exclude_if=_is_none)
    """Reason why the scores of a scorer are missing, by its name."""
    node: NodeName = None

    @property
    def arm(self) -> str:
        """The kernel's word for the mode."""
        return self.mode

    @property
    def case(self) -> str:
        """The kernel's word for what tells its task from others."""
        return self.task_id or self.task

    @property
    def number(self) -> int:
        """The kernel's word for the number of the agent."""
        return self.agent

    @property
    def task_key(self) -> str:
        """What tells its task from others: the id, and the prompt where there is none."""
        return self.task_id or self.task

    @property
    def decided_by_rules(self) -> bool:
        """Whether no language model decided what it spent."""
        by_name = self.fixed_rules is None and self.model == RULES
        return bool(self.fixed_rules or self.rehearsal or by_name)

    @property
    def is_billed(self) -> bool:
        """Return whether the user may have been charged what it cost."""
        return not (self.decided_by_rules or self.replayed)


class SwarmRecord(Stored):
    """One line of `retrieval.jsonl`: what happened around the agents of one swarm."""

    schema_version: SchemaVersion = SCHEMA_VERSION
    session: str
    swarm: str
    mode: str
    run: int
    attempt: int = 1
    agents: tuple[int, ...]
    """Numbers of the agents that ran in it."""
    started_at: Moment | None = None
    """`None` in what canopy's script wrote, like every time here."""
    ended_at: Moment | None = None
    workspace_seconds: Amount | None = None
    service_seconds: Amount | None = None
    """Time from starting the services until they answered."""
    index_seconds: Amount | None = None
    """Service: from the request to `ready`. Standalone: from the first to the last change of the
    index file while the agents ran, which their time includes; of a preparation, what it took
    before they started."""
    index_bytes: Count | None = None
    """Bytes by which the clone and the home of the servers had grown when the agents started, if an
    index was built meanwhile."""
    index_copied: bool | None = None
    """True when the preparation was copied from an earlier clone; its seconds are those of then."""
    warm_up_seconds: Amount | None = None
    """Seconds of the mode's first call, outside of its agents' time."""
    brought: tuple[str, ...] = ()
    """Folders that the mode's tool makes for itself (`may_create`) and that the repository has."""
    unexpected: tuple[str, ...] = ()
    """The first paths that changed in the clone before the agents started, beyond `may_create`."""
    unexpected_count: Count | None = None
    """Number of such files; `None` when they were not looked for."""
    instructions_changed: tuple[str, ...] = ()
    """Files that agents or git take instructions from, and that changed while the agents ran."""
    teardown_failure: str | None = None
    """Reason why the mode's teardown failed, as a clause."""
    backend: str | None = None
    """The retrieval program; a service that names itself, by that name."""
    before: dict[str, dict[str, Any] | None] = {}
    """Counters by probe; `None` when the tool had not made any."""
    after: dict[str, dict[str, Any] | None] = {}
    difference: dict[str, dict[str, Any] | None] = {}
    counters: Agreement | None = None
    """How the counters fit the transcripts of the swarm's agents; `None` when nothing can tell."""
    counters_why: tuple[str, ...] = ()
    """A sentence for each contradiction, and for each difference that is explained."""
    service_healthy: bool | None = None
    """`None` when the mode has no service."""
    failure: str | None = None
    """Reason why the swarm could not run or broke off."""
    node: NodeName = None


@dataclass(frozen=True, kw_only=True)
class SessionData:
    """A session as the analysis reads it."""

    experiment: Experiment
    trials: tuple[TrialRecord, ...]
    swarms: tuple[SwarmRecord, ...]
    overhead: tuple[Overhead, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    """Verdicts of models that were asked to compare answers, as far as the lines are as they were
    written. The last one on a pair and order counts."""
    planned: Mapping[str, int] = field(default_factory=dict)
    """Trials that the plan has, by mode; empty when there is no plan."""
    audit: Audit | None = None
    planted: tuple[str, ...] = ()
    """Names of what replaced the session's files, and was set aside."""
    warnings: tuple[str, ...] = ()
    """Problems that were met while reading: broken lines, invalid bytes."""
