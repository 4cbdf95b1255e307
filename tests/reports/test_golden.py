"""Whole summaries, compared with what they were when somebody last looked at them."""

from pathlib import Path

import pytest

from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.importers.canopy_script.folder import read_script_folder
from tests.builders.golden import GOLDEN, hold
from tests.builders.reports import render, summarise

TESTS = Path(__file__).parents[1]
SCRIPT = TESTS / "importers" / "canopy_script" / "data" / "script"


def read_session(folder: Path) -> SessionData:
    def lines(name: str) -> list[str]:
        file = folder / name
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    experiment = Experiment.from_json((folder / "experiment.json").read_bytes())
    per_mode = experiment.runs * experiment.agents
    return SessionData(
        experiment=experiment,
        trials=tuple(map(TrialRecord.from_json, lines("metrics.jsonl"))),
        swarms=tuple(map(SwarmRecord.from_json, lines("retrieval.jsonl"))),
        overhead=tuple(map(Overhead.from_json, lines("overhead.jsonl"))),
        planned={mode.name: per_mode for mode in experiment.modes},
    )


@pytest.mark.parametrize("name", ["session", "witnesses", "script"])
def test_the_summary_is_the_one_that_was_looked_at(name: str) -> None:
    """`session` is from before there were witnesses, controls and overhead."""
    folder = GOLDEN / name
    data = read_script_folder(SCRIPT) if name == "script" else read_session(folder)
    hold(f"{name}-summary.md", render(summarise(data)))
