"""What there is to choose from: modes, task suites, agents."""

from swarm_bench.benchmarks.suites import list_suites
from swarm_bench.core import registry
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.listing import Listing
from swarm_bench.core.ports import Agent
from swarm_bench.retrieval.modes import list_modes

__all__ = ["list_agents", "list_modes", "list_suites"]


def list_agents() -> list[Listing]:
    """Every registered agent, with its version or why it cannot be used."""
    return [_agent(plugin) for plugin in registry.plugins("agents")]


def _agent(plugin: registry.Plugin) -> Listing:
    try:
        agent: Agent = registry.load("agents", plugin.name)()
        program = agent.program(None)
    except SwarmBenchError as error:
        return Listing(name=plugin.name, about="", source=plugin.distribution, problem=str(error))
    about = f"{program.name} {program.version or '(version unknown)'}"
    return Listing(name=plugin.name, about=about, source=plugin.distribution)
