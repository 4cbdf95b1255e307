"""What there is to choose from: modes, task suites, agents."""

from dataclasses import replace

from swarm_bench.app.agents import list_agents
from swarm_bench.benchmarks.suites import list_suites
from swarm_bench.core import settings
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.listing import Listing
from swarm_bench.models.rehearsal.faults import FAULTS
from swarm_bench.retrieval import modes
from swarm_bench.retrieval.backends import find_program, is_embedded

__all__ = ["fault_names", "list_agents", "list_modes", "list_suites"]


def fault_names() -> list[str]:
    """What the provider of the rehearsal can be made to do wrong."""
    return list(FAULTS)


def list_modes() -> list[Listing]:
    """Every mode file, with the canopy that would run in it."""
    return [_with_canopy(listing) for listing in modes.list_modes()]


def _with_canopy(listing: Listing) -> Listing:
    if listing.problem is not None:
        return listing
    (mode,) = modes.find_modes([listing.source])
    if not modes.uses(mode, "canopy_mcp"):
        return listing
    options = settings.load({}).settings
    try:
        found = [find_program("canopy-mcp", options.canopy_mcp)]
        if mode.services:
            found.append(find_program("canopy-service", options.canopy_service))
    except SwarmBenchError as error:
        return replace(listing, problem=str(error))
    runs = ["the embedded one" if is_embedded(program) else str(program) for program in found]
    return replace(listing, about=f"{listing.about} Runs {' with '.join(dict.fromkeys(runs))}.")
