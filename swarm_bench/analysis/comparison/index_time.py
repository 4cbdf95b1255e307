"""How long a mode's index took, and whether its agents' time has it in it."""

from statistics import median

from swarm_bench.analysis.selection import Selection
from swarm_bench.core.figures import total
from swarm_bench.core.report.ratios import Indexing
from swarm_bench.core.session.records import SwarmRecord


def compute_indexing(selection: Selection, mode: str) -> Indexing | None:
    """Take the medians over the mode's swarms; `None` for a mode without a tool."""
    if not selection.has_tool(mode):
        return None
    swarms = selection.select_swarms(mode)
    is_before = _is_before(selection, mode)
    return Indexing(
        before=_compute_median([_add_seconds(swarm, is_before) for swarm in swarms]),
        within=None if is_before else _compute_median([swarm.index_seconds for swarm in swarms]),
        missing=sum(_is_unknown(swarm, is_before) for swarm in swarms),
        copied=sum(swarm.index_copied is True for swarm in swarms),
    )


def _is_unknown(swarm: SwarmRecord, indexed: bool) -> bool:
    """Tell whether nothing shows what indexing took. A first call stands for the index where
    nothing else makes one."""
    return swarm.index_seconds is None and (indexed or swarm.warm_up_seconds is None)


def _add_seconds(swarm: SwarmRecord, indexed: bool) -> float | None:
    """Add up the seconds before the agents: a first call may index too."""
    parts = [swarm.index_seconds if indexed else None, swarm.warm_up_seconds]
    return total(part for part in parts if part is not None)


def _compute_median(seconds: list[float | None]) -> float | None:
    present = [second for second in seconds if second is not None]
    return median(present) if present else None


def _is_before(selection: Selection, mode: str) -> bool:
    experiment = selection.data.experiment
    if mode not in {defined.name for defined in experiment.modes}:
        return False
    definition = experiment.mode(mode)
    return bool(definition.services) or experiment.prepares(definition)
