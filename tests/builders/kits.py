"""What a swarm is run with, of which a test says only what it is about."""

from pathlib import Path

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.core.events import Emit
from swarm_bench.core.ports import Agent
from swarm_bench.retrieval.tools import Site, Tools
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.workspaces.workspace import Snapshot
from tests.builders.experiments import experiment

KEY = "sk-escaped-0123456789"
"""Of the user's environment."""


def kit_for(
    agent: Agent, folder: Path, *, emit: Emit = lambda _: None, timeout: float | None = None
) -> Kit:
    made = experiment(modes=["baseline"], runs=1)
    if timeout is not None:
        limits = made.limits.model_copy(update={"timeout": timeout})
        made = made.model_copy(update={"limits": limits})
    kit = Kit(
        experiment=made,
        agent=agent,
        agent_spec=agent.name,
        snapshot=Snapshot(path=folder, repository=made.repository, files=frozenset()),
        artefacts=Artefacts(folder / "session", runs=1),
        tools=Tools(
            work=folder / "work",
            programs={},
            user_environment={"PATH": "/usr/bin:/bin", "OTHER_API_KEY": KEY},
        ),
        emit=emit,
    )
    kit.workspace.mkdir(parents=True)
    return kit


def surroundings_for(kit: Kit) -> SwarmContext:
    """Where the trials of its first mode run."""
    site = Site(tools=kit.tools, mode=kit.experiment.modes[0], workspace=kit.workspace)
    return SwarmContext(site=site, monitor=TreeMonitor(), attempts={})
