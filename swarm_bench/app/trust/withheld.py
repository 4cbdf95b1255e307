"""The agent of a call, as far as it may be loaded and started."""

from swarm_bench.app.trust.demands import is_agent_free, may_load
from swarm_bench.benchmarks.agents.finding import find_agent, identify
from swarm_bench.config.settings import Resolved
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Agent, Capabilities
from swarm_bench.core.session.experiment import Program


class WithheldAgent:
    """Stand-in for an agent whose code may not be loaded: it has a name and starts nothing."""

    capabilities = Capabilities()

    def __init__(self, spec: str) -> None:
        self.name = spec

    def launch(self, request: AgentRequest) -> Launch:
        """Start nothing: all of it but the name raises `NotImplementedError`."""
        raise NotImplementedError(self.name)

    def activity(self, line: bytes) -> Activity | None:
        raise NotImplementedError(self.name)

    def outcome(self, exit: AgentExit) -> Outcome:
        raise NotImplementedError(self.name)

    def program(self, model: str | None) -> Program:
        raise UsageError(f"The agent {self.name} was not loaded; add --trust")


def load_agent(resolved: Resolved) -> Agent:
    """Make the agent that the options name, or what stands for one that may not be loaded."""
    spec = resolved.settings.agent
    return find_agent(spec) if may_load(resolved) else WithheldAgent(spec)


def identify_program(agent: Agent, resolved: Resolved) -> Program:
    """Describe the agent's program. One that may not be started, as it would be for its version, is
    that of the session which is continued, or has a name only."""
    settings = resolved.settings
    if is_agent_free(resolved):
        return identify(agent, settings.agent, settings.model)
    return resolved.session.agent if resolved.session else Program(name=settings.agent)
