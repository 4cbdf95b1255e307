"""Whether the figures of a mode can be relied on."""

from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.void import no_evidence
from swarm_bench.analysis.selection import Selection


def unreliable(selection: Selection, mode: str) -> str:
    """Say why no figure of a mode can be relied on; empty where one can."""
    if barred := barred_by(selection, mode):
        return f"There is no verdict on {mode}: {barred}"
    why = no_evidence(selection, mode)
    return f"There is no evidence on {mode}: {why}." if why else ""
