"""What would run, for a person to look at before it does."""

from collections.abc import Iterator
from dataclasses import dataclass

from tabulate import tabulate

from swarm_bench.core.session.experiment import Experiment, Repository
from swarm_bench.reports.plan.commands import Launches, command_lines, origin_lines
from swarm_bench.reports.plan.modes import mode_lines
from swarm_bench.reports.text import plain

SHOWN = 60
"""Trials that a plan lists; a longer one says how many more there are."""
FEW = 5
"""Names of what is left out that the sentences on it have."""
PlanRow = tuple[int, str, int, str, bool]
"""Run, mode, agent, title of the task, whether it is done."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A session before it runs."""

    experiment: Experiment
    rows: tuple[PlanRow, ...]
    """The trials in the order they run."""
    longest: float
    """An upper bound of the time that what is left takes, in seconds."""
    launches: Launches
    warnings: tuple[str, ...]
    """What may go wrong, as sentences: how the agents authenticate, and what they share."""

    @property
    def remaining(self) -> int:
        """Trials that are still to run."""
        return sum(not row[4] for row in self.rows)


def render_plan(planned: Planned) -> str:
    """Write the trials in the order they run, the services, and an upper bound of the time."""
    experiment, rows, remaining = planned.experiment, planned.rows, planned.remaining
    repository, limits = experiment.repository, experiment.limits
    services = {name for mode in experiment.modes for name in mode.services}
    started = ", ".join(sorted(services)) or "none"
    lines = [
        f"Repository: {plain(repository.path)} ({repository.files} files, "
        f"{repository.bytes / 1e6:.3f} MB{_commit(repository)})",
        *(f"Left out:   {plain(sentence)}" for sentence in repository.left_out),
        *_omitted(repository),
        f"Agent:      {experiment.agent.name} {experiment.agent.version or ''}".rstrip(),
        f"Model:      {experiment.model_label}",
        *(f"Warning:    {plain(sentence)}" for sentence in planned.warnings),
        *_options(experiment),
        *command_lines(planned.launches),
        f"Trials:     {remaining} to run, {len(rows) - remaining} done",
        *_cost(planned),
        f"Agents:     {experiment.trials_per_mode} per mode and run, at most "
        f"{experiment.at_once} at the same time{_shared(experiment)}",
        f"Tasks:      {experiment.suite}, {experiment.tasks_asked} of {len(experiment.tasks)}",
        f"Budget:     {limits.max_turns} turns and {limits.timeout:g} s per agent",
        *_controls(experiment),
        *_overhead(experiment),
        f"Services:   {experiment.service_url or started}",
        *mode_lines(experiment),
        f"Seed:       {experiment.seed}",
        f"Time:       at most {hours(planned.longest)}, if every agent and index takes all it may",
        *origin_lines(experiment, planned.launches),
        "",
    ]
    cells = [
        (run, mode, agent, plain(task), "yes" if done else "no")
        for run, mode, agent, task, done in rows[:SHOWN]
    ]
    table = tabulate(cells, headers=["Run", "Mode", "Agent", "Task", "Done"], tablefmt="simple")
    more = f"and {len(rows) - SHOWN} more in the same way\n" if len(rows) > SHOWN else ""
    return "\n".join(lines) + table + "\n" + more


def _omitted(repository: Repository) -> Iterator[str]:
    """Yield all names, where the sentences do not have them."""
    if len(repository.omitted) > FEW:
        yield from (f"            {plain(name)}" for name in repository.omitted)


def cost(planned: Planned, trials: int) -> str:
    """Say how many trials of its agent are paid for; empty when none is."""
    paid = planned.launches.paid
    if paid is False or not trials:
        return ""
    noun = "trial" if trials == 1 else "trials"
    agent = plain(planned.experiment.agent.name)
    if paid:
        return f"{trials} paid {noun} of {agent}"
    return f"{trials} {noun} of {agent}, which may be paid for"


def _cost(planned: Planned) -> list[str]:
    text = cost(planned, planned.remaining)
    return [f"Cost:       {text}"] if text else []


def _controls(experiment: Experiment) -> Iterator[str]:
    """Say what each arm of `--controls` adds to the price."""
    label = "Controls:"
    for mode in experiment.modes:
        if mode.control_of:
            each, runs = experiment.trials_per_mode, experiment.runs
            trials = "trial" if each == 1 else "trials"
            what = f"{mode.control_kind}, of {', '.join(mode.control_of)}"
            yield (
                f"{label:12}{plain(mode.name)} ({plain(what)}) adds {each} {trials} per run, "
                f"{each * runs} in all"
            )
            label = ""


def _overhead(experiment: Experiment) -> list[str]:
    if experiment.replayed is not None:
        return []
    return ["Overhead:   one short request per mode beside the trials, if the agent reports tokens"]


def _shared(experiment: Experiment) -> str:
    size = experiment.swarm_size
    return f", {size} in a workspace" if size else ""


def _options(experiment: Experiment) -> list[str]:
    options = {
        "Arguments": " ".join(experiment.agent_args),
        "Variables": ", ".join(experiment.agent_env),
        "Settings": "the user's own" if experiment.inherit_settings else "",
        "Faults": ", ".join(experiment.faults),
        "Index": "warm: built before the agents start" if experiment.index == "warm" else "",
    }
    return [f"{label + ':':12}{plain(value)}" for label, value in options.items() if value]


def _commit(repository: Repository) -> str:
    return f", commit {repository.commit[:12]}" if repository.commit else ", a plain folder"


def hours(seconds: float) -> str:
    """Write `1 h 5 min`."""
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
