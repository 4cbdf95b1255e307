"""Modes that never changed places, so that what the order did looks like what a mode did."""

from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import ModeTrials
from swarm_bench.analysis.comparison.verdicts import list_hypotheses
from swarm_bench.analysis.once import once
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.slices import Block
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.standing import Caveat


def find_constant_order(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Say that a mode ran after the reference in every block, or before it."""
    selection, mode = mode_trials.selection, mode_trials.mode
    if mode not in list_hypotheses(selection):
        return
    reference = selection.modes[0]
    shared_starts = [
        starts
        for starts in find_first_starts(selection).values()
        if {mode, reference} <= starts.keys()
    ]
    later = [starts[mode] > starts[reference] for starts in shared_starts]
    if later and len(set(later)) == 1:
        single = len(later) == 1
        blocks = "the only block" if single else f"each of {quantify(len(later), 'block')}"
        remedy = " (a second run swaps them)" if single else ""
        yield Caveat(
            qualification=f"it ran {'after' if later[0] else 'before'} {reference} in {blocks}, so "
            f"order and mode cannot be told apart{remedy}"
        )


@once
def find_first_starts(selection: Selection) -> dict[Block, dict[str, float]]:
    """Return when the first agent of each mode started, by block, where that is recorded."""
    starts: dict[Block, dict[str, float]] = {}
    for trial in selection.trials:
        if trial.started_at:
            at = trial.started_at.timestamp()
            of_block = starts.setdefault(selection.find_block(trial), {})
            of_block[trial.mode] = min(at, of_block.get(trial.mode, at))
    return starts
