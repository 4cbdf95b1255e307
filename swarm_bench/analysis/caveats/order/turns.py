"""Modes that never changed places, so that what the order did looks like what a mode did."""

from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.comparison.verdicts import hypotheses
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.slices import Block
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.standing import Caveat


def always_in_one_order(treated: Treated) -> Iterator[Caveat]:
    """Say that a mode ran after the reference in every block, or before it."""
    selection, mode = treated.selection, treated.mode
    if mode not in hypotheses(selection):
        return
    reference = selection.modes[0]
    own, other = _begun(selection, mode), _begun(selection, reference)
    later = [own[block] > other[block] for block in own.keys() & other.keys()]
    if later and len(set(later)) == 1:
        single = len(later) == 1
        blocks = "the only block" if single else f"each of {amount(len(later), 'block')}"
        remedy = " (a second run swaps them)" if single else ""
        yield Caveat(
            qualification=f"it ran {'after' if later[0] else 'before'} {reference} in {blocks}, so "
            f"order and mode cannot be told apart{remedy}"
        )


def _begun(selection: Selection, mode: str) -> dict[Block, float]:
    """Return when the first agent of the mode started in each block, where that is recorded."""
    begun: dict[Block, float] = {}
    for trial in selection.of(mode):
        if trial.started_at is not None:
            at, block = trial.started_at.timestamp(), selection.block_of(trial)
            begun[block] = min(at, begun.get(block, at))
    return begun
