"""What a swarm is run with, of which a test says only what it is about."""

from pathlib import Path

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.overhead_lines import OverheadLines
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.benchmarks.swarm.scorers import Trees
from swarm_bench.benchmarks.swarm.store import OneSwarmStore, SwarmStore
from swarm_bench.core.events import Emit
from swarm_bench.core.ports import Agent, Scorer
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


def store_for(kit: Kit, *scorers: Scorer, node: str | None = None) -> OneSwarmStore:
    """What stores the deliveries of its first swarm."""
    folder = SessionFolder(kit.artefacts.root)
    folder.make()
    store = SwarmStore(
        to_continue="swarm-bench compare --continue out",
        experiment=kit.experiment,
        folder=folder,
        overhead=OverheadLines(folder),
        trees=Trees(repository=kit.experiment.repository, copy=kit.snapshot, recorded_files={}),
        scorers=scorers,
        page=lambda _, text: text or "",
        probes={},
        secrets=kit.secrets,
        emit=kit.emit,
        scoring=kit.reader_limiter,
    )
    return OneSwarmStore(store, plan(kit.experiment)[0].groups[0], node)
