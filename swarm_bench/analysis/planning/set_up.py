"""What setting up a mode takes, which every block has anew: a clone, services, an index."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.session.records import SwarmRecord

SHARE = 0.1
"""Of a mode's time in a block. Where setting up takes more, blocks are larger."""


@dataclass(frozen=True, kw_only=True)
class SetUp:
    """What a session shows of it, in seconds by mode, for those of which it shows that."""

    folder: str
    preparation: Mapping[str, float]
    """What a swarm took until its agents started."""
    trial: Mapping[str, float]
    """What its agents took for a task, as if one ran at a time."""

    def compute_share(self, mode: str, tasks: int, at_once: int) -> float:
        """Return which share of its time in a block of so many tasks setting up takes."""
        seconds = self.preparation[mode]
        return seconds / (seconds + tasks * self.trial[mode] / at_once)

    def find_least(self, modes: Iterable[str], at_once: int) -> float:
        """Return how many tasks a block needs for setting up to take no more than its share in any
        of these modes."""
        needed = [
            (1 / SHARE - 1) * self.preparation[mode] * at_once / self.trial[mode]
            for mode in modes
            if mode in self.preparation
        ]
        return max(needed, default=0.0)


def measure_set_up(folder: str, experiment: Experiment, swarms: Sequence[SwarmRecord]) -> SetUp:
    """Take the medians over the swarms of each mode."""
    preparation: dict[str, float] = {}
    trial: dict[str, float] = {}
    for mode in experiment.modes:
        of_mode = [swarm for swarm in swarms if swarm.mode == mode.name]
        indexes = _indexes_before(experiment, mode)
        times = [
            (seconds, (total_seconds - seconds) * min(experiment.concurrency, number) / number)
            for swarm in of_mode
            if (number := len(swarm.agents)) and not swarm.failure
            if (seconds := _add_seconds(swarm, indexes=indexes)) is not None
            if (total_seconds := _count_seconds(swarm)) > seconds
        ]
        if times:
            preparation[mode.name] = median(seconds for seconds, _ in times)
            trial[mode.name] = median(seconds for _, seconds in times)
    return SetUp(folder=folder, preparation=preparation, trial=trial)


def describe_set_up(experiment: Experiment, set_up: SetUp | None, swarms: Sequence[str]) -> Entry:
    """Say what setting up costs; `swarms` are the modes of those that are still to run."""
    return Entry(label="Set-up", texts=tuple(_write_texts(experiment, set_up, swarms)))


def _write_texts(
    experiment: Experiment, set_up: SetUp | None, swarms: Sequence[str]
) -> Iterator[str]:
    if set_up is None:
        yield (
            "a fresh clone for each mode and block, its services and index: what that takes is not "
            f"known, since no earlier session of {experiment.agent.name} on this repository shows "
            "it"
        )
        return
    clones = quantify(len(swarms), "fresh clone")
    yield f"{clones} to make, with services and index; as in {set_up.folder}:"
    tasks, at_once = experiment.agents_per_swarm, experiment.at_once
    for mode in experiment.arms:
        if mode not in set_up.preparation:
            yield f"{mode}: not known"
            continue
        seconds, number = set_up.preparation[mode], swarms.count(mode)
        share = set_up.compute_share(mode, tasks, at_once)
        yield (
            f"{mode}: {number} × {seconds:.1f} s, {share * 100:.0f} % of its time in a block of "
            f"{quantify(tasks, 'task')}"
        )


def _indexes_before(experiment: Experiment, mode: Mode) -> bool:
    """Tell whether each swarm of the mode waits for an index of its own."""
    copied = mode.prepare is not None and mode.prepare.copyable
    return bool(mode.services) or (experiment.prepares(mode) and not copied)


def _add_seconds(swarm: SwarmRecord, *, indexes: bool) -> float | None:
    """Add up what passed before its agents started; `None` where nobody knows."""
    if swarm.workspace_seconds is None:
        return None
    index = swarm.index_seconds if indexes else None
    parts = (swarm.workspace_seconds, swarm.service_seconds, index, swarm.warm_up_seconds)
    return sum(seconds for seconds in parts if seconds is not None)


def _count_seconds(swarm: SwarmRecord) -> float:
    """Return what the swarm took in all; 0 where nobody knows."""
    if swarm.started_at is None or swarm.ended_at is None:
        return 0.0
    return (swarm.ended_at - swarm.started_at).total_seconds()
