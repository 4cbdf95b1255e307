"""Conversion of the options into an experiment: every setting is put into its field here."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from swarm_bench.app.setup.agents import list_variable_names
from swarm_bench.app.setup.choosing import SessionInputs
from swarm_bench.app.setup.earlier import find_earlier_set_up
from swarm_bench.app.setup.resolving import anchor_paths
from swarm_bench.benchmarks.swarm.benchmark import SwarmBenchmark
from swarm_bench.benchmarks.swarm.run_plan import (
    bring_back,
    deal_blocks,
    draw_task_order,
    needs_own_copy,
)
from swarm_bench.config.layers import Resolved, Settings
from swarm_bench.core.entry_points import own_version
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.base import Slice
from swarm_bench.core.session.experiment import Experiment, Limits, Repository
from swarm_bench.retrieval.probes.registered import list_stored_counters
from swarm_bench.runtime import machine
from swarm_bench.runtime.workspaces.git import git


@dataclass(frozen=True, kw_only=True)
class _AgentSettings:
    """Settings for the agents' program and their provider: keys of the experiment."""

    model: str | None
    agent_args: tuple[str, ...]
    agent_env: tuple[str, ...]
    inherit_settings: bool
    faults: tuple[str, ...]


async def build_experiment(
    resolved: Resolved, inputs: SessionInputs, session: str, repository: Repository
) -> Experiment:
    """Make the experiment of a call; `session` is its id."""
    settings, suite = resolved.settings, inputs.suite
    experiment = Experiment(
        session=session,
        created_at=datetime.now(UTC),
        sealed=True,
        sealed_beside=True,
        benchmark=SwarmBenchmark.name,
        benchmark_version=SwarmBenchmark.version,
        design=inputs.design,
        repository=repository,
        modes=inputs.modes,
        suite=suite.name,
        tasks=suite.tasks,
        answer_format=suite.answer_format,
        made=suite.made,
        since=suite.since,
        scorers=suite.scorers,
        agent=inputs.program,
        index=settings.index,
        min_connected=settings.min_connected / 100,
        runs=settings.runs,
        limits=_build_limits(settings),
        seed=settings.seed,
        service_url=settings.service_url,
        counters=list_stored_counters(inputs.probes),
        prices=dict(inputs.prices),
        order=(),
        machine=machine.describe(),
        versions={"swarm-bench": own_version(), "git": await _read_git_version()},
        settings=anchor_paths(resolved.dump_settings()),
        slice=Slice.parse(settings.slice) if settings.slice else None,
        **vars(_collect_agent_settings(settings)),
        **vars(inputs.sizes),
    )
    experiment = _deal_blocks(experiment, settings)
    return (draw_task_order(experiment) if settings.until_clear else experiment).preregister()


def _deal_blocks(experiment: Experiment, settings: Settings) -> Experiment:
    """Deal its tasks into blocks, larger ones where an earlier session says that setting up takes
    long: not for a slice, whose plan is the same on every machine. A session that is continued
    keeps its own."""
    dealt = deal_blocks(experiment, settings.block_size)
    if settings.block_size is not None or settings.slice or dealt.orders_per_run <= 2:
        return dealt
    set_up = find_earlier_set_up(experiment, settings)
    least = set_up.find_least(experiment.arms, experiment.concurrency) if set_up else 0.0
    return deal_blocks(experiment, None, least) if least else dealt


def _collect_agent_settings(settings: Settings) -> _AgentSettings:
    return _AgentSettings(
        model=settings.model,
        agent_args=tuple(settings.agent_arg),
        agent_env=list_variable_names(settings),
        inherit_settings=settings.inherit_settings,
        faults=tuple(settings.fault),
    )


def _build_limits(settings: Settings) -> Limits:
    return Limits(
        max_turns=settings.max_turns,
        timeout=settings.timeout,
        index_timeout=settings.index_timeout,
    )


async def _read_git_version() -> str:
    return (await git("--version", cwd=Path.cwd())).decode().strip().removeprefix("git version ")


def check_same_measurement(new: Experiment, previous: Experiment) -> None:
    """Refuse a session of a series that would measure something else than the one before it: files
    can change while a series runs. Raises `UsageError`."""
    repository, advice = previous.repository, bring_back(previous.repository)
    content = new.repository.tree if needs_own_copy(previous) else repository.tree
    for subject, remedy, new_value, old_value in (
        (f"the content of {repository.path}", advice, content, repository.tree),
        ("the tasks", "restore them", _select_tasks(new), _select_tasks(previous)),
        ("the modes", "restore them", _select_modes(new), _select_modes(previous)),
    ):
        if new_value != old_value:
            raise UsageError(
                f"Since the series began, {subject} changed, and sizes that measure different "
                f"things cannot be compared; {remedy}, or start a new series"
            )


def _select_tasks(experiment: Experiment) -> object:
    return experiment.tasks, experiment.answer_format


def _select_modes(experiment: Experiment) -> object:
    return {mode.name: mode.instructions for mode in experiment.modes}
