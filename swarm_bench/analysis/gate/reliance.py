"""Whether the figures of a mode can be relied on."""

from swarm_bench.analysis.adherence.treated import treated_in
from swarm_bench.analysis.caveats.afterwards import edited
from swarm_bench.analysis.caveats.integrity import (
    changed,
    changed_beside,
    contradicted_by_streams,
    set_aside,
)
from swarm_bench.analysis.comparison.headline import barred_by
from swarm_bench.analysis.selection import Selection, once


@once
def unreliable(selection: Selection, mode: str) -> str:
    """Say why no figure of a mode can be relied on; empty where one can."""
    if barred := barred_by(selection, mode):
        return f"There is no verdict on {mode}: {barred}"
    treated = treated_in(selection, mode)
    if treated.idle:
        return f"No agent of {mode} used its tool, so its figures say nothing of it."
    for kind in (changed, changed_beside, contradicted_by_streams):
        for caveat in kind(treated):
            return f"The records are not to be relied on: {mode}: {caveat.qualification}."
    for clause in set_aside(selection):
        return f"The records are not to be relied on: {clause}."
    return next(edited(selection), "")
