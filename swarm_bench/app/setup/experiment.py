"""From what the options name to an experiment: here every setting gets its place in it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from swarm_bench.app.setup.agents import variable_names
from swarm_bench.app.setup.choosing import Chosen
from swarm_bench.app.setup.earlier import earlier_set_up
from swarm_bench.app.setup.resolving import anchored
from swarm_bench.benchmarks.swarm.benchmark import SwarmBenchmark
from swarm_bench.benchmarks.swarm.plan.blocks import in_drawn_order, with_blocks
from swarm_bench.benchmarks.swarm.plan.resume import bring_back, needs_own_copy
from swarm_bench.config.settings import Resolved, Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.registry import own_version
from swarm_bench.core.session.experiment import Experiment, Limits, Repository
from swarm_bench.retrieval.probes.registered import counters_stored
from swarm_bench.runtime import machine
from swarm_bench.runtime.workspaces.git import git


@dataclass(frozen=True, kw_only=True)
class _Handed:
    """What the agents' program is handed, and their provider: keys of the experiment."""

    model: str | None
    agent_args: tuple[str, ...]
    agent_env: tuple[str, ...]
    inherit_settings: bool
    faults: tuple[str, ...]


async def experiment_of(
    resolved: Resolved, chosen: Chosen, session: str, repository: Repository
) -> Experiment:
    """Make the experiment of a call; `session` is its id."""
    settings, suite = resolved.settings, chosen.suite
    experiment = Experiment(
        session=session,
        created_at=datetime.now(UTC),
        sealed=True,
        sealed_beside=True,
        benchmark=SwarmBenchmark.name,
        benchmark_version=SwarmBenchmark.version,
        design=chosen.design,
        repository=repository,
        modes=chosen.modes,
        suite=suite.name,
        tasks=suite.tasks,
        answer_format=suite.answer_format,
        made=suite.made,
        since=suite.since,
        scorers=suite.scorers,
        agent=chosen.program,
        index=settings.index,
        min_connected=settings.min_connected / 100,
        runs=settings.runs,
        limits=_limits(settings),
        seed=settings.seed,
        service_url=settings.service_url,
        counters=counters_stored(chosen.probes),
        prices=dict(chosen.prices),
        order=(),
        machine=machine.describe(),
        versions={"swarm-bench": own_version(), "git": await _git_version()},
        settings=anchored(resolved.stored()),
        **vars(_handed(settings)),
        **vars(chosen.sizes),
    )
    experiment = _in_blocks(experiment, settings)
    return (in_drawn_order(experiment) if settings.until_clear else experiment).with_beforehand()


def _in_blocks(experiment: Experiment, settings: Settings) -> Experiment:
    """Deal its tasks into blocks, larger ones where an earlier session says that setting up takes
    long. A session that is continued keeps its own."""
    dealt = with_blocks(experiment, settings.block_size)
    if settings.block_size is not None or dealt.orders_per_run <= 2:
        return dealt
    set_up = earlier_set_up(experiment, settings)
    least = set_up.least(experiment.arms, experiment.concurrency) if set_up else 0.0
    return with_blocks(experiment, None, least) if least else dealt


def _handed(settings: Settings) -> _Handed:
    return _Handed(
        model=settings.model,
        agent_args=tuple(settings.agent_arg),
        agent_env=variable_names(settings),
        inherit_settings=settings.inherit_settings,
        faults=tuple(settings.fault),
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_turns=settings.max_turns,
        timeout=settings.timeout,
        index_timeout=settings.index_timeout,
    )


async def _git_version() -> str:
    return (await git("--version", cwd=Path.cwd())).decode().strip().removeprefix("git version ")


def check_alike(new: Experiment, before: Experiment) -> None:
    """Refuse a session of a series that would measure something else than the one before it: files
    can change while a series runs. Raises `UsageError`."""
    repository, advice = before.repository, bring_back(before.repository)
    content = new.repository.tree if needs_own_copy(before) else repository.tree
    for what, how, now, then in (
        (f"the content of {repository.path}", advice, content, repository.tree),
        ("the tasks", "restore them", _tasks(new), _tasks(before)),
        ("the modes", "restore them", _modes(new), _modes(before)),
    ):
        if now != then:
            raise UsageError(
                f"Since the series began, {what} changed, and sizes that measure different things "
                f"cannot be compared; {how}, or start a new series"
            )


def _tasks(experiment: Experiment) -> object:
    return experiment.tasks, experiment.answer_format


def _modes(experiment: Experiment) -> object:
    return {mode.name: mode.instructions for mode in experiment.modes}
