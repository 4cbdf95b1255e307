"""Whole summaries, compared with what they were when somebody last looked at them.

`RENEW=1 pytest tests/reports/test_golden.py` writes them anew; then read the difference.
"""

import os
from pathlib import Path

import pytest

from swarm_bench.analysis.script_folder import read_script_folder
from swarm_bench.analysis.summary import summarise
from swarm_bench.core.experiment import Experiment
from swarm_bench.core.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.reports.markdown import render

TESTS = Path(__file__).parents[1]
SESSION = TESTS / "golden" / "session"
SCRIPT = TESTS / "analysis" / "data" / "script"


def read_session() -> SessionData:
    experiment = Experiment.model_validate_json((SESSION / "experiment.json").read_bytes())
    trials = (SESSION / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    swarms = (SESSION / "retrieval.jsonl").read_text(encoding="utf-8").splitlines()
    per_mode = experiment.runs * experiment.agents
    return SessionData(
        experiment=experiment,
        trials=tuple(TrialRecord.model_validate_json(line) for line in trials),
        swarms=tuple(SwarmRecord.model_validate_json(line) for line in swarms),
        planned={mode.name: per_mode for mode in experiment.modes},
    )


@pytest.mark.parametrize("name", ["session", "script"])
def test_the_summary_is_the_one_that_was_looked_at(name: str) -> None:
    data = read_session() if name == "session" else read_script_folder(SCRIPT)
    found = render(summarise(data))
    golden = TESTS / "golden" / f"{name}-summary.md"
    if "RENEW" in os.environ:
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")
