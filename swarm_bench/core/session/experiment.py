"""An experiment: modes x tasks x runs with budgets and a seed, resolved once and frozen.

Stored as `experiment.json`. Programs write it, so unknown keys are tolerated when reading.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, NewType

from pydantic import AliasChoices, BeforeValidator, Field, PlainSerializer

from swarm_bench.core.controls import ControlKind as ControlKind
from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.session.base import MAX_TRIALS, SESSION
from swarm_bench.core.session.base import Setting as Setting
from swarm_bench.core.session.base import stable_id as stable_id
from swarm_bench.core.session.designs import Design, find_benchmark_name, find_design
from swarm_bench.core.session.preregistration import LookedAt
from swarm_bench.core.session.prices import Price
from swarm_bench.core.session.tasks import Task as Task
from swarm_bench.core.stored import Moment, Stored
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.core.treatment.mode_parts import Preparation as Preparation
from swarm_bench.core.treatment.mode_parts import Purpose as Purpose
from swarm_bench.core.treatment.mode_parts import SearchTool as SearchTool
from swarm_bench.core.treatment.mode_parts import ToolCall as ToolCall

NOT_STORED = "(not stored)"
"""Text in the place of a secret."""
REHEARSAL = "rehearsal"
"""Name of the model that is none: `--model rehearsal`."""
MODE_NAME = re.compile(r"(?!run-\d+$)\w[\w.-]{0,63}(?<!\.md)(?<!\.json)(?<!\.jsonl)")
"""A mode's name names a folder beside `run-1` and the session's own files."""
PROBE_NAME = re.compile(r"[\w.-]{1,100}(:[\w.]{1,100})?")
"""A registered one, or `module:Class`."""


class Mode(Stored):
    """A retrieval set-up: one side of the comparison. Placeholders are not yet filled in."""

    name: str
    source: str
    """Place that the mode was read from."""
    description: str = ""
    servers: dict[str, dict[str, Any]] = {}
    """MCP servers by name, as an `mcpServers` file has them."""
    instructions: str = ""
    """Text put before the task in the prompt."""
    control: str = ""
    """The instructions as they are worded for an agent without the tool (`--controls`)."""
    control_of: tuple[str, ...] = ()
    """Modes that this one is a control of, with their instructions; empty for any other mode."""
    control_kind: ControlKind = "instructions"
    """Substitute for the tool that a control gives its agents; nothing in any other mode."""
    prepare: Preparation | None = Field(
        default=None, validation_alias=AliasChoices("prepare", "index")
    )
    """Preparation of its clones; `index` in older sessions."""
    start_seconds: float = START_SECONDS
    """Seconds that one of its servers may take to connect."""
    warm_up: ToolCall | None = None
    """A call outside of its agents' time, for what only the first one costs."""
    teardown: tuple[str, ...] = ()
    """A command that runs after its agents, however they ended."""
    version: tuple[str, ...] = ()
    """A command that prints the version of its tool."""
    search: SearchTool | None = None
    """Call by which its tool is asked a question; `None` when its file does not say."""
    may_create: tuple[str, ...] = ()
    """Files that its tool may put into a clone, as lines of a `.gitignore`."""
    keep: tuple[str, ...] = ()
    """Folders below the home or the cache of its servers that one swarm hands on to the next."""
    services: tuple[str, ...] = ()
    """Names of the services that must run beside the agents."""
    probes: tuple[str, ...] = ()
    """Names of the counters to read before and after."""

    @property
    def is_placebo(self) -> bool:
        """Whether its tools answer with irrelevant places on purpose."""
        return bool(self.control_of) and self.control_kind == "placebo"

    @property
    def can_be_prepared(self) -> bool:
        """Whether its clones can be made ready before the agents start, beside an index service."""
        if self.prepare is None:
            return False
        return self.prepare.when == "always" or bool(self.servers and not self.services)


class Repository(Stored):
    """What the agents work on, as it was when the session began."""

    path: str
    kind: Literal["git", "folder"]
    commit: str | None = None
    """`None` for a plain folder."""
    dirty: bool = False
    """True when uncommitted changes were taken along (`--dirty`)."""
    tree: str
    """Git's hash of the content, with the files of `answers`."""
    files: int
    """Number of files that agents see of it, without those."""
    bytes: int
    left_out: tuple[str, ...] = ()
    """A sentence on each kind of what was not taken along."""
    omitted: tuple[str, ...] = ()
    """Paths of what these sentences name, at most 1,000."""
    answers: tuple[str, ...] | None = None
    """At most 1,000 files with answer keys, which are in no clone; `None` if they were not looked
    for."""
    answers_since: Moment | None = None
    """Time when an older session began to leave them out of clones; `None` elsewhere."""

    @property
    def clean_commit(self) -> str | None:
        """The commit, if agents work on it as it is."""
        return None if self.dirty else self.commit


class Program(Stored):
    """A program that takes part, and its version when it gives one."""

    name: str
    version: str | None = None
    path: str | None = None
    tested: str | None = None
    """The version that our adapter was verified with; `None` when that was none in particular."""
    model: str | None = None
    """Model that answers where no model is asked for, if that is known before it does."""
    note: str | None = None
    """Note for readers, as a clause without its name."""

    @property
    def label(self) -> str:
        """Name and version in one."""
        return f"{self.name} {self.version}" if self.version else self.name


class Limits(Stored):
    """Budgets of the experiment. Times in seconds."""

    max_turns: int
    timeout: float
    index_timeout: float
    output_bytes: int = 64 * 1024 * 1024


StoredDesign = Annotated[
    Design, BeforeValidator(find_design), PlainSerializer(lambda design: design.name)
]


class Experiment(LookedAt):
    """Everything that decides what the swarm benchmark runs. Equal experiments make equal plans."""

    origin: ClassVar[str] = ""
    """Note for readers on results that another program wrote; empty for those of ours."""
    sealed_beside: bool = False
    """Whether the lines on swarms and on overhead have one too."""
    benchmark: Annotated[str, BeforeValidator(find_benchmark_name)]
    design: StoredDesign = Field(validation_alias=AliasChoices("design", "benchmark"))
    """Design; in older sessions the value of `benchmark`."""
    repository: Repository
    modes: tuple[Mode, ...]
    """The first one is the reference of the ratios."""
    suite: str
    tasks: tuple[Task, ...] = Field(min_length=1)
    answer_format: str = ""
    """Format that the suite asks of every answer; put after each task in the prompt."""
    made: str = ""
    """Description of how a program made the suite; empty for one that a person wrote."""
    scorers: tuple[str, ...] | None = None
    """Names of those that the suite asks for, `module:Class` too; `None` for all there are."""
    since: date | None = None
    """Tasks that were written before may be in a model's training data."""
    agent: Program
    model: str | None = None
    agent_args: tuple[str, ...] = ()
    """Words handed to the program as they are."""
    agent_env: tuple[str, ...] = ()
    """Names of the variables that the program gets beyond the common ones; values are secrets."""
    inherit_settings: bool = False
    """The agents used the user's own settings, memory files and hooks."""
    faults: tuple[str, ...] = ()
    """Faults of a provider that the rehearsal server played."""
    replayed: str | None = None
    """Id of the session whose recording was played; no agent ran."""
    agents: int = Field(ge=1)
    """Agents of one swarm, unless every task gets one."""
    all_tasks: bool = False
    swarm_size: int | None = None
    """Agents that share a workspace and its services; the trials of a mode are cut into swarms of
    this size. `None`: no size was asked for."""
    blocks: tuple[tuple[int, ...], ...] | None = None
    """Numbers of the agents of each block of a run: every mode has a swarm of them, one mode after
    the other. The blocks of all runs are alike. `None` in older sessions, whose modes have one
    order for all swarms of a run."""
    index: Literal["cold", "warm"] = "cold"
    """Whether a standalone index is built in its agents' time, or before."""
    min_connected: float = 0.9
    """Share of a mode's trials that must have been connected to its tool, for there to be a
    verdict on it."""
    limits: Limits
    service_url: str | None = None
    counters: dict[str, Counters] = {}
    """Counters by probe, for the probes that do not come with swarm-bench."""
    prices: dict[str, Price] | None = None
    """Prices by model, for the tokens of agents that report no cost. `None` in older sessions."""
    retrieval: dict[str, Program] = {}
    """Retrieval back end by mode; a mode without one is not in it."""
    tool_purposes: dict[str, dict[str, Purpose | None]] = {}
    """Purposes of the tools that the servers of a mode offered, by mode and by the name that agents
    give the tool; `None` where the purpose cannot be told."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The kernel's word for the names of the modes."""
        return tuple(mode.name for mode in self.modes)

    @property
    def cases(self) -> tuple[Task, ...]:
        """The kernel's word for the tasks."""
        return self.tasks

    @property
    def rehearsal(self) -> bool:
        """Whether fixed rules behind a loopback server answered in the place of a model."""
        return self.model == REHEARSAL

    @property
    def model_label(self) -> str:
        """The model that was asked for, or what is known of it otherwise."""
        return self.model or self.agent.model or "the agent's default"

    @property
    def trials_per_mode(self) -> int:
        """Return the number of trials of a mode in one run."""
        one_per_task = self.all_tasks or self.design.agent_at_a_time
        return len(self.tasks) if one_per_task else self.agents

    @property
    def agents_per_swarm(self) -> int:
        """The most that share a workspace."""
        return max(map(len, self.agents_of_blocks))

    @property
    def at_once(self) -> int:
        """The most agents that run at the same time."""
        return min(self.concurrency, self.agents_per_swarm)

    @property
    def agents_by_commit(self) -> dict[str | None, list[int]]:
        """Numbers of the agents of a mode and run that work on each commit; `None` for what was
        copied when the session began, where that is no commit."""
        session_commit, tasks = self.repository.clean_commit, self.tasks
        agents: dict[str | None, list[int]] = {}
        for agent in range(1, self.trials_per_mode + 1):
            commit = tasks[(agent - 1) % len(tasks)].commit or session_commit
            agents.setdefault(commit, []).append(agent)
        return agents

    @property
    def agents_of_blocks(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the agents of each block of a run; in older sessions of each of its swarms."""
        if self.blocks is not None:
            return self.blocks
        size = 1 if self.design.agent_at_a_time else self.swarm_size or self.trials_per_mode
        return tuple(cut(self.agents_by_commit.values(), size))

    @property
    def orders_per_run(self) -> int:
        """How many orders were drawn for a run."""
        return 1 if self.blocks is None else len(self.blocks)

    @property
    def tasks_asked(self) -> int:
        """How many of the tasks an agent gets; fewer than there are when agents are fewer."""
        return min(self.trials_per_mode, len(self.tasks))

    def prepares(self, mode: Mode) -> bool:
        """Whether the clones of the mode are made ready before its agents start."""
        needed = mode.prepare is not None and mode.prepare.when == "always"
        return mode.can_be_prepared and (needed or self.index == "warm")

    def mode(self, name: str) -> Mode:
        """Return the mode of that name. Raises `KeyError` if the experiment has none."""
        for mode in self.modes:
            if mode.name == name:
                return mode
        raise KeyError(name)


def cut(of_commits: Iterable[Sequence[int]], size: int) -> Iterator[tuple[int, ...]]:
    """Cut the agents of each commit into swarms of that size; the last one may be smaller."""
    for agents in of_commits:
        for first in range(0, len(agents), size):
            yield tuple(agents[first : first + size])


Storable = NewType("Storable", Experiment)
"""An experiment without keys and logins: no other is written to a file."""


def check_stored(experiment: Experiment) -> None:
    """Raise `ValueError` for what no session of ours can be; its text follows the file's name."""
    if not SESSION.fullmatch(experiment.session):
        raise ValueError("has an id that cannot name a folder")
    _check_modes(experiment.modes)
    if experiment.design.mode_twice and len(experiment.modes) != 2:
        raise ValueError("compares a mode with itself, but does not have two modes")
    _check_plan(experiment)


def _check_modes(modes: Sequence[Mode]) -> None:
    names = [mode.name for mode in modes]
    if not names or len(set(names)) < len(names):
        raise ValueError("needs modes, with different names")
    if not all(MODE_NAME.fullmatch(name) for name in names):
        raise ValueError("has a mode whose name cannot name a folder")
    if not all(PROBE_NAME.fullmatch(probe) for mode in modes for probe in mode.probes):
        raise ValueError("has a mode with counters that cannot be any")


def _check_plan(experiment: Experiment) -> None:
    tasks = [task.id for task in experiment.tasks]
    if not tasks or len(set(tasks)) < len(tasks):
        raise ValueError("needs tasks, with different ids")
    if min(experiment.agents, experiment.concurrency, experiment.runs) < 1:
        raise ValueError("has no agents or no runs")
    if experiment.trials_per_mode * len(experiment.modes) * experiment.runs > MAX_TRIALS:
        raise ValueError(f"has more than {MAX_TRIALS:,} trials")
    if experiment.blocks is not None:
        _check_blocks(experiment, experiment.blocks)
    names = sorted(mode.name for mode in experiment.modes)
    are_complete = [sorted(order) == names for order in experiment.order]
    if len(are_complete) != experiment.runs * experiment.orders_per_run or not all(are_complete):
        raise ValueError("has an order that does not fit its modes, blocks and runs")
    if not 0 < experiment.limits.output_bytes <= _largest_output():
        raise ValueError("has an output limit that is larger than any")


def _check_blocks(experiment: Experiment, blocks: Sequence[Sequence[int]]) -> None:
    commits = {
        agent: commit for commit, agents in experiment.agents_by_commit.items() for agent in agents
    }
    if not all(blocks):
        raise ValueError("has a block without agents")
    if sorted(agent for block in blocks for agent in block) != sorted(commits):
        raise ValueError("has blocks that do not have each of its agents once")
    if any(len({commits[agent] for agent in block}) > 1 for block in blocks):
        raise ValueError("has a block whose tasks are on several commits")


def _largest_output() -> int:
    limit: int = Limits.model_fields["output_bytes"].default
    return limit
