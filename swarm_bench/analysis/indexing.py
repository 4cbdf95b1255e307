"""How long a mode's index took, and whether its agents' time has it in it."""

from statistics import median

from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report import Indexing


def indexing(selection: Selection, mode: str) -> Indexing | None:
    """The medians over the mode's swarms; `None` for a mode without a tool."""
    if not selection.has_tool(mode):
        return None
    swarms = selection.swarms_of(mode)
    known = [swarm.index_seconds for swarm in swarms if swarm.index_seconds is not None]
    seconds = median(known) if known else None
    before = _is_before(selection, mode)
    return Indexing(
        before=seconds if before else None,
        within=None if before else seconds,
        missing=len(swarms) - len(known),
    )


def _is_before(selection: Selection, mode: str) -> bool:
    experiment = selection.data.experiment
    if experiment is None or mode not in {one.name for one in experiment.modes}:
        return False
    asked = experiment.mode(mode)
    return bool(asked.services) or experiment.prepares(asked)
