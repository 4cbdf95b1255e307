"""How many agents a session has, and how many of them share a workspace."""

from dataclasses import dataclass

from swarm_bench.analysis.wording import amount
from swarm_bench.app.setup.prepared import Benchmark
from swarm_bench.benchmarks.swarm.plan.resume import bring_back
from swarm_bench.config.settings import Resolved, Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.experiment_checks import MAX_TRIALS

AT_ONCE = 4
"""Agents that run at the same time when nobody says how many."""


def largest(settings: Settings) -> int:
    """The number of agents in the largest swarm, or of those that run at the same time when every
    task has one."""
    return max(settings.agents, default=AT_ONCE)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the experiment says of them, by its keys."""

    agents: int
    concurrency: int
    all_tasks: bool
    swarm_size: int | None = None


def sizes(resolved: Resolved, benchmark: Benchmark, tasks: int) -> Sizes:
    """Resolve the sizes of a session; `tasks` is how many the suite has.

    Every session of a series has the trials of the largest swarm, cut into swarms of its size: so
    they differ in what is shared, and not in the tasks.
    """
    if benchmark == "ab":
        return Sizes(agents=1, concurrency=1, all_tasks=True)
    settings, most = resolved.settings, largest(resolved.settings)
    at_once, every = settings.concurrency, settings.all_tasks or not settings.agents
    if at_once is not None and at_once > most and not every:
        if resolved.is_typed("concurrency"):
            raise UsageError(
                f"--concurrency {at_once} is more than the {amount(most, 'agent')} of a swarm; "
                f"give at most {most}"
            )
        at_once = most  # where it is a setting for other calls too, it is an upper bound
    if resolved.member is not None:
        if every and most > tasks:
            raise UsageError(
                f"--agents {most}: with --all-tasks a swarm has at most the {tasks} tasks of the "
                "suite; give smaller swarms"
            )
        size = resolved.member.size
        at_once = min(at_once or size, size)
        return Sizes(agents=most, concurrency=at_once, all_tasks=every, swarm_size=size)
    if len(settings.agents) > 1:
        raise UsageError(
            f"--agents {' '.join(map(str, settings.agents))}: this session has swarms of one size; "
            "give one number"
        )
    return Sizes(agents=most, concurrency=at_once or most, all_tasks=every)


def check_trials(resolved: Resolved, benchmark: Benchmark, modes: int, tasks: int) -> None:
    """Raises `UsageError` for more trials than a session can have."""
    found = sizes(resolved, benchmark, tasks)
    trials = (tasks if found.all_tasks else found.agents) * modes * resolved.settings.runs
    if trials > MAX_TRIALS:
        advice = "ask fewer tasks or lower" if found.all_tasks else "lower --agents or"
        raise UsageError(
            f"That is {trials:,} trials, and a session has at most {MAX_TRIALS:,}; {advice} --runs"
        )


def check_alike(new: Experiment, resolved: Resolved) -> None:
    """Raises `UsageError` when a session of a series would measure something else than the one
    before it: files can change while a series runs."""
    like = resolved.member.like if resolved.member else None
    if like is None:
        return
    repository, advice = like.repository, bring_back(like.repository)
    for what, how, now, then in (
        (f"the content of {repository.path}", advice, new.repository.tree, repository.tree),
        ("the tasks", "restore them", _tasks(new), _tasks(like)),
        ("the modes", "restore them", _modes(new), _modes(like)),
    ):
        if now != then:
            raise UsageError(
                f"Since the series began, {what} changed, and sizes that measure different things "
                f"cannot be compared; {how}, or begin a new series"
            )


def _tasks(experiment: Experiment) -> object:
    return experiment.tasks, experiment.answer_format


def _modes(experiment: Experiment) -> object:
    return {mode.name: mode.instructions for mode in experiment.modes}
