"""Two sessions, as data for a document."""

from collections.abc import Iterator
from pathlib import Path

from swarm_bench.analysis.comparison.pairs import stopped
from swarm_bench.analysis.diff.modes import Sessions, mode_diffs
from swarm_bench.analysis.diff.settings import changes, shared_modes
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount, listed
from swarm_bench.core.report.diff import Diff, SideFacts
from swarm_bench.core.session.base import BaseExperiment

_DRIFT = (
    "These sessions ran at two times and were not randomised against each other: the provider, the "
    "machine or the network may have changed meanwhile, and no test can tell that from what you "
    "changed. To compare two {0}, run both in one session."
)
_BY_RULES = (
    "Fixed rules and no language model decided what was spent, so that is not compared: only what "
    "was found, and times."
)


def diff(a: Selection, b: Selection, paths: tuple[Path, Path]) -> Diff:
    """Compare two sessions that nothing forbids to compare."""
    second = b.data.experiment
    return Diff(
        sides=(
            facts(a.data.experiment, paths[0], len(a.trials)),
            facts(second, paths[1], len(b.trials)),
        ),
        common=(
            ("Agent", second.agent.label),
            ("Model", second.model_label),
            ("Tasks", str(second.tasks_asked)),
        ),
        arm="mode",
        case="task",
        changes=changes(a, b),
        caveats=tuple(_caveats(a, b)),
        modes=mode_diffs(Sessions(a, b)),
    )


def drift(what: str) -> str:
    """Say what no comparison of two times can tell; `what` could have been in one session."""
    return _DRIFT.format(what)


def facts(experiment: BaseExperiment, path: Path, trials: int) -> SideFacts:
    """Return what stands in the head of a session that has so many records."""
    return SideFacts(
        path=str(path),
        session=experiment.session,
        date=experiment.created_at.strftime("%Y-%m-%d %H:%M:%S %Z").strip(),
        trials=trials,
    )


def _caveats(a: Selection, b: Selection) -> Iterator[str]:
    yield drift("tools")
    for name, side in (("A", a), ("B", b)):
        planned = sum(side.data.planned.values())
        if planned > len(side.trials):
            yield (
                f"{name} is not complete: {planned - len(side.trials)} of {planned} planned trials "
                "have no record; --continue runs them."
            )
    ended = [sum(len(stopped(side, mode)) for mode in side.data.experiment.arms) for side in (a, b)]
    if any(ended):
        yield (
            f"A limit stopped {amount(ended[0], 'trial')} of A and {ended[1]} of B, which would "
            "have taken more: what they spent is too low by that."
        )
    if a.fixed_rules or b.fixed_rules:
        yield _BY_RULES
    if max(side.data.experiment.at_once for side in (a, b)) > 1:
        yield (
            "Agents that ran at the same time share their delays, so the intervals of times are "
            "too narrow."
        )
    versions = [side.data.experiment.agent.version for side in (a, b)]
    if versions == [None, None]:
        yield "The agent gives no version, so it may have changed between A and B."
    key = b.data.experiment.primary
    if key not in b.metrics:
        yield f"This version has no metric {key}, so nothing is compared as the primary one."
    shared = shared_modes(a, b)
    alone = [mode for side in (a, b) for mode in side.data.experiment.arms if mode not in shared]
    if alone:
        yield f"Modes of one session alone are not compared: {listed(alone)}."
