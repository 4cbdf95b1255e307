import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.analysis.comparison.legend import BY_RULES
from swarm_bench.analysis.statistics.formulas import compute_detectable, compute_difference_sd
from swarm_bench.core.report.calibration import Calibration, Noise
from swarm_bench.core.session.designs import CALIBRATE
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.answers import text_of
from tests.builders.golden import Sentences
from tests.builders.reports import calibration

Make = Callable[..., TrialRecord]
Session = Callable[..., SessionData]
ARMS = ("canopy", "canopy-again")


@pytest.fixture
def calibrated(trial: Make, session: Session) -> Callable[..., Calibration]:
    """Of two tasks and two runs; `figures` gives the changes of a trial from its arm, run and
    agent."""

    def calibrated(figures: Callable[[int, int, int], dict[str, Any]]) -> Calibration:
        trials = [
            trial(
                "canopy", run=run, agent=agent, task_id="ab"[agent - 1], **figures(arm, run, agent)
            ).model_copy(update={"mode": mode})
            for arm, mode in enumerate(ARMS)
            for run in (1, 2)
            for agent in (1, 2)
        ]
        changes = {
            "design": CALIBRATE,
            "agents": 2,
            "runs": 2,
            "modes": [{"name": mode, "source": "test", "servers": {"canopy": {}}} for mode in ARMS],
        }
        experiment = session(trial()).experiment
        changed = experiment.model_validate({**experiment.model_dump(), "order": (), **changes})
        return calibration(SessionData(experiment=changed, trials=tuple(trials), swarms=()))

    return calibrated


def row(found: Calibration, key: str) -> Noise:
    return {row.metric.key: row for row in found.rows}[key]


def test_without_its_tool_a_mode_has_no_noise_floor(
    calibrated: Callable[..., Calibration],
    golden: Sentences,
) -> None:
    found = calibrated(lambda arm, *_: {"retrieval": "not-connected"} if arm else {})
    assert found.no_floor is not None
    golden(found.no_floor)
    assert calibrated(lambda *_: {}).no_floor is None


def test_what_never_differs_is_still(calibrated: Callable[..., Calibration]) -> None:
    found = row(calibrated(lambda *_: {}), "effective_tokens")
    assert found.still
    assert (found.pairs, found.identical, found.tasks, found.missing) == (4, 4, 2, 0)
    assert (found.effect, found.largest, found.spread) == (1, 1, 1)


def test_arms_that_are_apart_by_a_factor(calibrated: Callable[..., Calibration]) -> None:
    """Task a: 10 against 20, task b: 10 against 5; the same in both runs."""

    def figures(arm: int, _: int, agent: int) -> dict[str, Any]:
        return {"cost": 10.0 * (1 if arm == 0 else (2, 0.5)[agent - 1])}

    found = row(calibrated(figures), "cost")
    assert not found.still
    assert found.identical == 0
    assert found.effect == pytest.approx(1)
    assert found.largest == pytest.approx(2)
    assert found.spread == 1
    assert found.interval is not None
    assert found.interval.low < 1e-2


def test_the_spread_of_runs(calibrated: Callable[..., Calibration]) -> None:
    """Two runs that are apart by e: a standard deviation of 1 / sqrt(2) on the log scale."""
    found = row(calibrated(lambda _, run, __: {"cost": 2.718281828459045**run}), "cost")
    assert found.effect == pytest.approx(1)
    assert found.spread == pytest.approx(2.718281828459045**0.5**0.5)
    assert found.planned is not None
    assert found.planned.low == pytest.approx(1 / found.planned.high)
    # More tasks and more runs find smaller differences.
    highs = [one.high for one in found.grid if one]
    assert highs[:3] == sorted(highs[:3], reverse=True)
    assert highs[::3] == sorted(highs[::3], reverse=True)


def test_scores_are_differences(calibrated: Callable[..., Calibration]) -> None:
    found = row(calibrated(lambda arm, *_: {"references": 3 + arm}), "references")
    assert (found.relative, found.effect, found.largest, found.spread) == (False, 1, 1, 0)


def test_no_ratio_is_taken_to_zero(calibrated: Callable[..., Calibration]) -> None:
    """In the first run both arms have 0; in the second one the first arm of task a has."""

    def figures(arm: int, run: int, agent: int) -> dict[str, Any]:
        return {"cost": 0.0 if run == 1 or (arm, agent) == (0, 1) else 3.0}

    found = row(calibrated(figures), "cost")
    assert (found.pairs, found.identical, found.missing, found.zeros) == (4, 3, 0, 3)
    assert (found.tasks, found.effect, found.still) == (1, 1, False)


def test_zero_throughout_never_differs(calibrated: Callable[..., Calibration]) -> None:
    found = row(calibrated(lambda *_: {"tool_calls": {}}), "tool_calls")
    assert (found.pairs, found.identical, found.missing) == (4, 4, 0)
    assert found.still
    assert found.effect is None


def test_what_one_arm_lacks_is_missing_and_no_zero(calibrated: Callable[..., Calibration]) -> None:
    found = calibrated(lambda arm, *_: {"cost": None if arm else 3.0})
    assert "cost" in {metric.key for metric in found.unknown}


def test_a_tool_without_its_time_makes_the_sum_unknown(
    calibrated: Callable[..., Calibration],
) -> None:
    def figures(arm: int, *_: int) -> dict[str, Any]:
        return {"tool_calls": {"Read": 2, "Grep": 1}, "tool_seconds": {"Read": 0.5}}

    found = calibrated(figures)
    assert "tool_seconds" in {metric.key for metric in found.unknown}
    assert row(found, "tool_calls").still


def test_a_failed_trial_is_counted_and_left_out(calibrated: Callable[..., Calibration]) -> None:
    def figures(arm: int, run: int, agent: int) -> dict[str, Any]:
        failed = {"status": "agent-failed", "cause": "error-result"}
        return failed if (arm, run, agent) == (1, 2, 2) else {}

    found = calibrated(figures)
    assert (found.excluded, row(found, "cost").missing, row(found, "cost").pairs) == (1, 1, 3)
    assert row(found, "completed").identical == 3


def test_the_headline_says_what_is_noise_and_what_less_takes(
    calibrated: Callable[..., Calibration],
) -> None:
    first, cost = calibrated(lambda _, run, __: {"cost": 1.05**run}).answers
    percent = re.fullmatch(r": differences below (\d+) % may be chance", cost.claim)
    tasks = re.fullmatch(r"Showing that a tool saves 10 % takes about (\d+) tasks\.", cost.figures)
    assert cost.subject == "Cost"
    assert percent
    assert tasks
    noise = compute_difference_sd(math.log(1.05) / math.sqrt(2), 2)
    assert int(percent[1]) == round((math.exp(compute_detectable(noise, 2) or 0) - 1) * 100)
    single = math.hypot(0.2, noise)  # a tool's help differs between tasks too
    number = int(tasks[1])
    seen, less = compute_detectable(single, number), compute_detectable(single, number - 1)
    assert (seen or 0) <= -math.log(0.9) < (less or 0)
    assert first.claim == ": no noise in effective tokens"
    assert "Nothing varied" in first.figures


def test_where_nothing_varied_the_headline_says_so(calibrated: Callable[..., Calibration]) -> None:
    (only,) = calibrated(lambda *_: {}).answers
    assert "Nothing varied" in only.figures
    assert "never varied" in only.evidence


def test_what_fixed_rules_spent_is_apart(calibrated: Callable[..., Calibration]) -> None:
    found = calibrated(lambda _, run, __: {"fixed_rules": True, "cost": 1.1**run})
    spent = found.spent_by_rules
    apart = {row.metric.key for row in spent}
    assert {"effective_tokens", "num_turns", "result_lines"} <= apart
    assert "cost" not in {row.metric.key for row in (*spent, *found.rows)}, "nobody is billed"
    assert not apart & {row.metric.key for row in found.rows}
    assert BY_RULES in found.answers[0].evidence
    verdict_lines = " ".join(text_of(replace(it, evidence="")) for it in found.answers)
    assert not re.search("[Cc]ost|tokens", verdict_lines)
    assert calibrated(lambda *_: {}).spent_by_rules == ()


def test_without_its_tool_nothing_is_said_of_noise(calibrated: Callable[..., Calibration]) -> None:
    found = calibrated(lambda _, run, __: {"retrieval": "not-connected", "cost": 1.1**run})
    (only,) = found.answers
    assert only.claim == ": no noise floor"


def test_no_savings_can_be_shown_with_two_tasks(
    calibrated: Callable[..., Calibration],
) -> None:
    answer, *_ = calibrated(lambda _, run, __: {"effective_tokens": 1000 + 50 * run}).answers
    assert "may be chance" in answer.claim
    assert "saving" not in answer.evidence
