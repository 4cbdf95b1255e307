"""What would run, for a person to look at before it does: trials, mode files, workspaces, and the
sizes of a series."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from swarm_bench.analysis.planning.launches import Launches, list_commands, list_origins
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.report.document import Grid
from swarm_bench.core.report.plan import Entry, Plan
from swarm_bench.core.session.experiment import Experiment, Mode, Repository
from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.retrieval.modes.mode import drop_secrets
from swarm_bench.retrieval.modes.started import list_own_probes, write_server_lines
from swarm_bench.runtime.workspaces.omissions import sentences_on


@dataclass(frozen=True, kw_only=True)
class Workspaces:
    """What is still to be made."""

    swarms: Sequence[tuple[str, str | None]] = ()
    """The mode of each swarm, and the commit that its tasks are asked on."""
    indexing: Mapping[str, float] = field(default_factory=dict)
    """Seconds that the index of a swarm took so far, by mode, where that is known."""


def compute_median_indexing(swarms: Sequence[SwarmRecord]) -> dict[str, float]:
    """Return what an index took in each mode."""
    seconds: dict[str, list[float]] = {}
    for swarm in swarms:
        if swarm.index_seconds is not None:
            seconds.setdefault(swarm.mode, []).append(swarm.index_seconds)
    return {mode: median(of_mode) for mode, of_mode in seconds.items()}


def describe_workspaces(experiment: Experiment, workspaces: Workspaces) -> Iterator[Entry]:
    """Yield nothing for a session whose agents all work on what it copied when it began."""
    commits = {commit for _, commit in workspaces.swarms}
    if commits <= {None}:
        return
    of_commits = quantify(len(commits), "commit")
    texts = [f"{len(workspaces.swarms)}, of {of_commits}, each made when its agents start"]
    for mode in experiment.modes:
        of_mode = [commit for name, commit in workspaces.swarms if name == mode.name]
        if of_mode and (mode.servers or mode.services):
            seconds = workspaces.indexing.get(mode.name)
            duration = f", about {seconds:.1f} s each so far" if seconds is not None else ""
            texts.append(f"{mode.name}: {_describe_indexing(experiment, mode, of_mode)}{duration}")
    yield Entry(label="Workspaces", texts=tuple(texts))


def _describe_indexing(experiment: Experiment, mode: Mode, commits: Sequence[str | None]) -> str:
    if mode.services:
        return f"indexed {quantify(len(commits), 'time')}, before its agents start"
    if not experiment.prepares(mode):
        return f"its tool may index {quantify(len(commits), 'time')}, in its agents' time"
    copied = mode.prepare is not None and mode.prepare.copyable
    times = quantify(len(set(commits) if copied else commits), "time")
    return f"prepared {times}, before its agents start"


MAX_TRIALS = 60
"""Trials that a plan lists; a longer one says how many more there are."""
FEW = 5
"""Names of what is left out that the sentences on it have."""
PlanRow = tuple[int, str, int, str, bool]
"""Run, mode, agent, title of the task, whether it is done."""


@dataclass(frozen=True, kw_only=True)
class PlannedSession:
    """A session before it runs."""

    experiment: Experiment
    rows: tuple[PlanRow, ...]
    """The trials in the order they run."""
    longest: float
    """An upper bound of the time that what is left takes, in seconds."""
    launches: Launches
    warnings: tuple[str, ...]
    """Possible problems, as sentences: how the agents authenticate, and what they share."""
    workspaces: Workspaces = Workspaces()
    outlook: tuple[Entry, ...] = ()
    """Entries on what the session could show, and what it would cost."""

    @property
    def remaining(self) -> int:
        """Trials that are still to run."""
        return sum(not row[4] for row in self.rows)


def describe_plan(planned: PlannedSession, title: str = "") -> Plan:
    """Describe the trials in the order they run, the services, and an upper bound of the time."""
    rows = planned.rows
    cells = tuple(
        (str(run), mode, str(agent), task, "yes" if done else "no")
        for run, mode, agent, task, done in rows[:MAX_TRIALS]
    )
    headers = ("Run", "Mode", "Agent", "Task", "Done")
    return Plan(
        title=title,
        entries=tuple(_list_entries(planned)),
        trials=Grid(headers=headers, labels=len(headers), rows=cells),
        omitted=f"and {len(rows) - MAX_TRIALS} more in the same way"
        if len(rows) > MAX_TRIALS
        else "",
    )


def _list_entries(planned: PlannedSession) -> Iterator[Entry]:
    experiment, launches = planned.experiment, planned.launches
    yield from describe_cost(planned, planned.remaining)
    yield from planned.outlook
    yield from _describe_repository(experiment.repository)
    yield make_entry("Agent", f"{experiment.agent.name} {experiment.agent.version or ''}")
    yield make_entry("Model", experiment.model_label)
    yield from (make_entry("Warning", warning) for warning in planned.warnings)
    yield from (make_entry("Slice", note) for note in experiment.slice_notes)
    yield from _describe_options(experiment)
    yield from list_commands(launches)
    yield from _describe_trials(planned)
    yield from describe_workspaces(experiment, planned.workspaces)
    yield from _describe_controls(experiment)
    yield from _describe_overhead(experiment)
    started = sorted({name for mode in experiment.modes for name in mode.services})
    yield make_entry("Services", experiment.service_url or ", ".join(started) or "none")
    yield from list_mode_entries(experiment)
    yield make_entry("Seed", str(experiment.seed))
    yield make_entry(
        "Time",
        f"at most {format_hours(planned.longest)}, if every agent and index takes all it may",
    )
    yield from list_origins(experiment, launches)


def _describe_repository(repository: Repository) -> Iterator[Entry]:
    """Yield all names of what is omitted, where the sentences do not have them."""
    size = f"{quantify(repository.files, 'file')}, {_format_size(repository.bytes)}"
    yield make_entry("Repository", f"{repository.path} ({size}{_describe_commit(repository)})")
    yield from (make_entry("Left out", sentence) for sentence in sentences_on(repository))
    if len(repository.omitted) > FEW:
        yield make_entry("", *repository.omitted)
    if len(repository.answers or ()) > FEW:
        yield make_entry("", *(repository.answers or ()))


def _format_size(number: int) -> str:
    return quantify(number, "byte") if number < 1e6 else f"{number / 1e6:,.1f} MB"


def _describe_trials(planned: PlannedSession) -> Iterator[Entry]:
    experiment, remaining = planned.experiment, planned.remaining
    limits = experiment.limits
    may_end = experiment.until_clear and remaining and not experiment.replayed
    fewer = ", fewer where the verdict stands before" if may_end else ""
    yield make_entry("Trials", f"{remaining} to run{fewer}, {len(planned.rows) - remaining} done")
    yield make_entry(
        "Agents",
        f"{experiment.trials_per_mode} per mode and run, at most {experiment.at_once} at the "
        f"same time{_describe_sharing(experiment)}",
    )
    yield make_entry("Blocks", _describe_blocks(experiment))
    asked_tasks, all_tasks = experiment.tasks_asked, len(experiment.tasks)
    yield make_entry("Tasks", f"{experiment.suite}, {asked_tasks} of {all_tasks}")
    if experiment.made:
        yield make_entry("Tasks made", experiment.made)
    yield make_entry("Budget", f"{limits.max_turns} turns and {limits.timeout:g} s per agent")


def describe_cost(planned: PlannedSession, trials: int) -> Iterator[Entry]:
    """Say how many trials of its agent are paid for, if any is."""
    paid = planned.launches.paid
    if paid is False or not trials:
        return
    noun = "trial" if trials == 1 else "trials"
    text = f"{trials} paid {noun} of {planned.experiment.agent.name}"
    if paid is None:
        text = f"{trials} {noun} of {planned.experiment.agent.name}, which may be paid for"
    yield make_entry("Cost", text)


def _describe_controls(experiment: Experiment) -> Iterator[Entry]:
    """Say what each arm of `--controls` adds to the price."""
    trial_count, runs = experiment.trials_per_mode, experiment.runs
    trials = "trial" if trial_count == 1 else "trials"
    texts = tuple(
        f"{mode.name} ({mode.control_kind}, of {', '.join(mode.control_of)}) adds {trial_count} "
        f"{trials} per run, {trial_count * runs} in all"
        for mode in experiment.modes
        if mode.control_of
    )
    if texts:
        yield make_entry("Controls", *texts)


def _describe_overhead(experiment: Experiment) -> Iterator[Entry]:
    if experiment.replayed is None:
        text = "one short request per mode beside the trials, if the agent reports tokens"
        yield make_entry("Overhead", text)


def _describe_sharing(experiment: Experiment) -> str:
    size = experiment.swarm_size
    return f", {size} in a workspace" if size else ""


def _describe_blocks(experiment: Experiment) -> str:
    sizes = sorted({len(block) for block in experiment.agents_of_blocks})
    range_text = f"{sizes[0]} to {sizes[-1]} tasks"
    tasks = range_text if len(sizes) > 1 else quantify(sizes[0], "task")
    number = len(experiment.agents_of_blocks)
    turns = "every mode takes its turn in each" if experiment.blocks else "in one order for a run"
    return f"{number} per run, of {tasks}; {turns}"


def _describe_options(experiment: Experiment) -> Iterator[Entry]:
    options = {
        "Arguments": " ".join(experiment.agent_args),
        "Variables": ", ".join(experiment.agent_env),
        "Settings": "the user's own" if experiment.inherit_settings else "",
        "Faults": ", ".join(experiment.faults),
        "Index": "warm: built before the agents start" if experiment.index == "warm" else "",
    }
    yield from (make_entry(label, text) for label, text in options.items() if text)


def _describe_commit(repository: Repository) -> str:
    return f", commit {repository.commit[:12]}" if repository.commit else ", a plain folder"


def format_hours(seconds: float) -> str:
    """Write `1 h 5 min`."""
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def make_entry(label: str, *texts: str) -> Entry:
    """Make an entry of lines."""
    return Entry(label=label, texts=texts)


def list_mode_entries(experiment: Experiment) -> Iterator[Entry]:
    """Yield an entry for each mode that asks for something, with what it asks for."""
    for mode in map(drop_secrets, experiment.modes):
        parts = [
            Entry(label=label, texts=(text,)) for label, text in _list_requests(experiment, mode)
        ]
        if parts:
            yield Entry(label="Mode", texts=(mode.name,), parts=tuple(parts))


def _list_requests(experiment: Experiment, mode: Mode) -> Iterator[tuple[str, str]]:
    for name, line in write_server_lines(mode).items():
        yield f"server {name}", line
    if mode.prepare is not None:
        yield "prepare", _describe_preparation(experiment, mode)
    if mode.start_seconds != START_SECONDS:
        yield "start", f"its servers may take {mode.start_seconds:g} s"
    if mode.warm_up is not None:
        yield "warm up", f"{mode.warm_up.tool}, before the agents of each swarm start"
    if mode.teardown:
        yield "teardown", f"{shlex.join(mode.teardown)}, after each swarm"
    if mode.version:
        yield "version", shlex.join(mode.version)
    if mode.search is not None:
        yield "search", mode.search.tool
    yield from (("counters", probe) for probe in list_own_probes(mode))
    if mode.may_create:
        yield "may create", ", ".join(mode.may_create)
    if mode.keep:
        yield "keeps", f"{', '.join(mode.keep)} between runs"


def _describe_preparation(experiment: Experiment, mode: Mode) -> str:
    step = mode.prepare
    if step is None:
        return ""
    command = shlex.join(step.command) if step.command else f"the tool {step.tool}"
    if not experiment.prepares(mode):
        return f"{command}, not in this session (--index cold): the tool indexes by itself"
    phrase = "the first clone, copied into the others" if step.copyable else "each clone"
    return f"{command}, in {phrase}, at most {experiment.limits.index_timeout:g} s"


def describe_sizes(planned: Mapping[int, PlannedSession]) -> tuple[Plan, ...]:
    """Describe the plan of each size."""
    return tuple(describe_plan(session, f"Swarms of {size}") for size, session in planned.items())


def describe_together(planned: Mapping[int, PlannedSession]) -> tuple[Entry, ...]:
    """Say what the plans of all sizes come to."""
    remaining = sum(session.remaining for session in planned.values())
    done = sum(len(session.rows) for session in planned.values()) - remaining
    longest = format_hours(sum(session.longest for session in planned.values()))
    total = make_entry("All sizes", f"{remaining} trials to run, {done} done; at most {longest}")
    return (total, *describe_cost(next(iter(planned.values())), remaining))
