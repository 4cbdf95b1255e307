"""A calibration as a document."""

from collections.abc import Iterable, Iterator
from typing import Any

from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.designs import CALIBRATE
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import calibration, render_calibration, summarise
from tests.builders.sessions import make_session, make_trial

ARMS = ("canopy", "canopy-again")


def calibrated(trials: Iterable[TrialRecord], **more: Any) -> SessionData:
    """Of both arms, in two runs."""
    experiment = make_session(make_trial("canopy"), runs=2).experiment
    servers: dict[str, Any] = {"canopy": {}}
    modes = tuple(Mode(name=mode, source="test", servers=servers) for mode in ARMS)
    changed = experiment.model_copy(update={"modes": modes, "design": CALIBRATE})
    return SessionData(experiment=changed, trials=tuple(trials), swarms=(), **more)


def in_both_arms(run: int, **changes: Any) -> Iterator[TrialRecord]:
    for mode in ARMS:
        trial = make_trial("canopy", run=run, task_id="a", trial=f"{mode}-{run}", **changes)
        yield trial.model_copy(update={"mode": mode})


def headline(data: SessionData) -> str:
    text = render_calibration(summarise(data), calibration(data))
    return text.partition("## Headline")[2].partition("\n## ")[0]


def test_what_qualifies_the_floor_stands_in_the_headline(golden: Sentences) -> None:
    """Records that were changed, of the second arm alone."""
    trials = [*in_both_arms(1, cost=0.4), *in_both_arms(2, cost=0.5)]
    whole = headline(calibrated(trials, audit=Audit(sealed=4)))
    assert "Cost: " in whole
    assert "changed" not in whole
    keys = frozenset(("canopy-again-" + run, 1) for run in "12")
    said = headline(calibrated(trials, audit=Audit(sealed=4, edited=keys)))
    (line,) = [line for line in said.splitlines() if "changed" in line]
    assert "in canopy-again, " in line
    golden(line)
    assert said.index(line) < said.index("Cost: "), "it is said with the first line"


def test_without_a_floor_the_other_arm_is_qualified_all_the_same(golden: Sentences) -> None:
    trials = [*in_both_arms(1), *in_both_arms(2)]
    barred = [
        one.model_copy(update={"retrieval": "not-connected"}) if one.mode == ARMS[1] else one
        for one in trials
    ]
    edited = frozenset({("canopy-1", 1)})
    said = headline(calibrated(barred, audit=Audit(sealed=4, edited=edited)))
    assert ": no noise floor.**" in said
    golden(said)


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
    data = calibrated(trials)
    text = render_calibration(summarise(data), calibration(data))
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("|")}
    assert "1 of 2 (1 with 0)" in rows["Cost"]
    cells = [cell.strip() for cell in rows["Tool calls"].strip("|").split("|")]
    assert cells[1:] == ["1.00×", "1.00×", "1.00×", "all 2"]
    assert "there is no ratio to 0" in text
