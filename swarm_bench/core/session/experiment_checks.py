"""What an experiment must hold that was read from a file: it may come from somebody else, and its
names become names of folders."""

from collections.abc import Sequence

from swarm_bench.core.session.base import MAX_TRIALS, SESSION
from swarm_bench.core.session.experiment import MODE_NAME, PROBE_NAME, Experiment, Limits, Mode


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
