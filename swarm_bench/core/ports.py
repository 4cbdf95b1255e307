"""The roles that swarm-bench is made of. Read this page and you know the program."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from swarm_bench.core.outcome import (
    Activity,
    AgentExit,
    AgentRequest,
    Launch,
    Outcome,
    Retrieved,
)
from swarm_bench.core.treatment.counting import Expected, Transcripts

if TYPE_CHECKING:
    # Scout's process imports this page, and would pay a quarter of a second for pydantic.
    from swarm_bench.core.session.experiment import Program
    from swarm_bench.core.session.tasks import AnswerKey, Task
    from swarm_bench.core.treatment.counters import Counters

Score = bool | int | float | str | None
SCORED_CHARACTERS = 1 << 20
"""Characters of an answer that are scored, from its beginning."""


@dataclass(frozen=True)
class Missing:
    """A score that cannot be computed."""

    why: str
    """A clause."""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What an agent program can do that not all of them can."""

    takes_mcp: bool = True
    """False when it cannot be given MCP servers: it fits modes without a tool."""
    reports_usage: bool = True
    """False when an empty prompt says nothing about what its requests take."""


@runtime_checkable
class Agent(Protocol):
    """An agent program. Two pure translations; the process is run elsewhere."""

    name: str

    @property
    def capabilities(self) -> Capabilities:
        """Stated by each adapter; `Capabilities()` is a program that can do all of it."""
        ...

    def launch(self, request: AgentRequest) -> Launch:
        """Say how to start the program. May write files below `request.home`."""
        ...

    def activity(self, line: bytes) -> Activity | None:
        """Read a line of its output for the live view and the budget of turns, if it says anything.
        Lines of standard error come here too."""
        ...

    def outcome(self, exit: AgentExit) -> Outcome:
        """Read what the finished process left. Never raises on what the program printed."""
        ...

    def program(self, model: str | None) -> "Program":
        """Find the program, with its version if it has any. Raises `UsageError` when the program is
        not there, or when it is known not to have the model; the message says what to do."""
        ...


@runtime_checkable
class TakesArgument(Protocol):
    """What makes an agent out of a file or folder that is named after it: `--agent replay:DIR`."""

    argument: str
    """Name for the argument that stands there, in a word."""


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What an adapter gets from its program, a clause each; `docs/agents.md` is made from it.

    `None` means that it cannot be had: the record has `null`.
    """

    tested_version: str
    """The version that the adapter was verified with, as the program itself says it."""
    turn_limit: str | None
    cost: str | None
    cache_tokens: str | None
    tool_calls: str | None
    compactions: str | None
    isolation: str | None
    limits: tuple[str, ...] = ()
    """One sentence on each thing that the program cannot do, or does unlike the others."""
    supported: str | None = None
    """Versions that are expected to work like the tested one, as PEP 440 writes a range."""
    keys: tuple[str, ...] = ()
    """Variables each of which can let the program in at a provider."""
    keyless: bool = False
    """Whether it has models that need no key."""
    login: tuple[str, ...] = ()
    """Paths below the user's home where the program keeps a log-in, for `--inherit-settings`."""
    memory_mb: int | None = None
    """Most memory that one agent took in the main job, in megabytes."""
    searches_with: str | None = None
    """Program that must be on the PATH, as the agent's own searches fail without it."""


@runtime_checkable
class Described(Protocol):
    """An agent that says what its adapter gives. Those of other packages need not."""

    abilities: Abilities


class Tree(Hashable, Protocol):
    """The files of a repository at one commit."""

    @property
    def files(self) -> frozenset[str]:
        """Paths relative to the root, with `/`."""
        ...

    @property
    def sizes(self) -> Mapping[str, int]:
        """Bytes of each file, by path."""
        ...

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; `None` when it is not there, or too large to look at."""
        ...


@dataclass(frozen=True, kw_only=True)
class ScoreContext:
    """What a scorer may look at."""

    text: str
    """The answer; empty when there is none."""
    workspace: str
    """Path the agent worked in, so that absolute references can be resolved."""
    files: frozenset[str]
    """Paths of the files in the snapshot, relative to its root, with `/`."""
    key: "AnswerKey | None" = None
    """Key of a right answer; `None` when none is known."""
    tree: Tree | None = None
    """The snapshot itself; `None` when it is gone."""
    retrieved: tuple[Retrieved, ...] | None = None
    """Results that the agent's tool calls named, in their order; `None` when its transcript does
    not show that."""
    prompt: str = ""
    """Prompt of the task: what stands in it is no answer."""
    others: "tuple[Task, ...]" = ()
    """Tasks of the session's other groups: what finds their answers too has not read the
    question."""

    @property
    def beginning(self) -> str:
        """Return as much of the answer as is examined word by word: an endless one would take
        minutes."""
        return self.text[:SCORED_CHARACTERS]


@runtime_checkable
class Scorer(Protocol):
    """Turns an answer into named numbers, checks or labels. A frozen dataclass; its fields are
    its parameters."""

    name: str
    """Name under which the scorer's failures are reported."""
    version: int

    @property
    def keys(self) -> tuple[str, ...]:
        """All names that it may give. Those of the shipped scorers are keys of the record; any
        other scorer's stand in the record's `scores`."""
        ...

    def score(self, context: ScoreContext) -> Mapping[str, "Score | Missing"]:
        """Score the answer, by name. What it raises is recorded as its failure, and its scores are
        missing then; so is a name that it does not state, and a value that is no score."""
        ...


@dataclass(frozen=True, kw_only=True)
class ProbeContext:
    """Location of a swarm's counters."""

    workspace: Path
    service_url: str | None
    """URL of the service that runs beside the agents, or of `--service-url`."""
    key: str | None = None
    """Key that the service requires."""


Reading = Mapping[str, Any]
"""Reading of a probe at one moment, or the change between two; it can be written as JSON."""


@runtime_checkable
class Probe(Protocol):
    """Reads counters of the retrieval tool, before and after a swarm. Other packages register their
    probes as `swarm_bench.probes`; a mode file names one as `module:Class`. It is made without
    arguments."""

    name: str
    """Name by which mode files ask for the probe, and under which its readings are stored."""
    file: str
    """Its file beside those of the agents, without `.json`; it ends with `-metrics`."""

    @property
    def counters(self) -> "Counters":
        """What its figures mean."""
        ...

    def reads(self, context: ProbeContext) -> bool:
        """Tell whether there is something that it could read."""
        ...

    async def snapshot(self, context: ProbeContext) -> Reading | None:
        """Read the counters now; `None` when the tool has not made any."""
        ...

    def difference(self, before: Reading | None, after: Reading | None) -> Reading | None:
        """Compute what happened in between, in numbers; a figure that cannot be determined is
        `None`, and so is all of it without a reading."""
        ...

    def content(
        self, before: Reading | None, after: Reading | None, change: Reading
    ) -> dict[str, Any]:
        """Return what is written to its file, after the name of the mode."""
        ...

    def expected(self, transcripts: Transcripts) -> Mapping[str, Expected]:
        """Say what each of its counters may show for the calls in the transcripts. Those that it
        omits are not compared."""
        ...


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A model's wish to call a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What came back from a tool call."""

    id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a conversation. A user message carries a prompt or tool results, an
    assistant message text and tool calls."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered to a model."""

    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=dict)

    def of_server(self, server: str) -> "ToolSpec":
        """Return it under the name that agents give to a tool of an MCP server."""
        return replace(self, name=f"mcp__{server}__{self.name}")


class Model(Protocol):
    """Who thinks. One call is one request, and one turn of an agent."""

    name: str
    fixed_rules: bool
    """Whether it is no language model, but a fixed policy."""

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Message:
        """Return the assistant's next message; without calls in it, it is the answer."""
        ...
