"""How many workspaces a plan makes where tasks have commits of their own, and what is indexed in
them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.session.records import SwarmRecord


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
