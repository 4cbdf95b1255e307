"""A session whose records say otherwise than the stored output of its agents."""

import shutil
from pathlib import Path

from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.retrieval.modes.secrets import make_storable
from tests.builders.sessions import make_experiment, make_trial

_SAMPLE = Path(__file__).parents[1] / "agents/samples/claude-code/success_stream.jsonl"


def store_contradicted(path: Path, experiment: Experiment | None = None) -> None:
    """Store a session of eight tasks by Claude Code, whose records have fewer tokens for canopy
    than the streams."""
    names = "abcdefgh"
    folder = SessionFolder(path)
    folder.make()
    folder.write_experiment(
        make_storable(
            experiment
            or make_experiment(
                ("baseline", "canopy"),
                agents=len(names),
                agent={"name": "claude", "version": "2.1.329"},
                tasks=[{"id": name, "title": name, "prompt": f"Explain {name}."} for name in names],
            )
        )
    )
    for mode, tokens in (("baseline", 1000), ("canopy", 100)):
        (path / mode).mkdir()
        for agent, name in enumerate(names, 1):
            shutil.copy(_SAMPLE, path / mode / f"agent-{agent}.stream.jsonl")
            (path / mode / f"agent-{agent}.stderr.log").touch()
            own = {"agent": agent, "task": name, "trial": f"{mode}-{name}", "wall_seconds": 2.0}
            folder.records.append(make_trial(mode, effective_tokens=tokens, **own))
