from swarm_bench.analysis.calibration import calibration
from swarm_bench.analysis.summary import summarise
from swarm_bench.core.experiment import Mode
from swarm_bench.core.records import SessionData
from swarm_bench.reports.calibration import render_calibration
from tests.analysis.conftest import make_session, make_trial

ARMS = ("canopy", "canopy-again")


def test_a_zero_is_named_and_is_not_missing() -> None:
    """Of one task: the first run cost nothing in the first arm; nobody called a tool."""
    trials = tuple(
        make_trial(
            "canopy", run=run, task_id="a", cost=0.0 if (run, mode) == (1, "canopy") else 0.5,
            tool_calls={},
        ).model_copy(update={"mode": mode})
        for run in (1, 2)
        for mode in ARMS
    )  # fmt: skip
    experiment = make_session(make_trial("canopy"), runs=2).experiment
    assert experiment is not None
    modes = tuple(Mode(name=mode, source="test") for mode in ARMS)
    changed = experiment.model_copy(update={"modes": modes, "benchmark": "calibrate"})
    data = SessionData(experiment=changed, trials=trials, swarms=())
    text = render_calibration(summarise(data), calibration(data))
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("|")}
    assert "1 of 2 (1 with 0)" in rows["Cost"]
    cells = [cell.strip() for cell in rows["Tool calls"].strip("|").split("|")]
    assert cells[1:] == ["1.00×", "1.00×", "1.00×", "all 2"]
    assert "there is no ratio to 0" in text
