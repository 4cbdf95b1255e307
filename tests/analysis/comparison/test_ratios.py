from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from swarm_bench.analysis.comparison.ratios import subtract
from swarm_bench.analysis.statistics.pairing import Pairs
from swarm_bench.core.report.ratios import Column, Ratio, Ratios
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.reports import summarise

Trial = Callable[..., TrialRecord]
Session = Callable[..., SessionData]


def ratios(data: SessionData) -> Ratios:
    found = summarise(data).headline.ratios
    assert found is not None
    return found


def ratio(found: Ratios, key: str) -> Ratio | None:
    return next(row for row in found.rows if row.metric.key == key).ratios[0]


def is_single(compared: Ratio | None, estimate: float) -> bool:
    """Tell whether it is the ratio of a single task, which has no interval."""
    assert compared is not None
    assert (compared.tasks, compared.interval) == (1, None)
    return compared.estimate == pytest.approx(estimate)


def test_a_ratio_of_geometric_means_with_its_interval(trial: Trial, session: Session) -> None:
    tokens = {
        ("baseline", "a"): (100, 110, 900),
        ("canopy", "a"): (55, 11, 77),
        ("baseline", "b"): (10, 20, 30),
        ("canopy", "b"): (40, 40, 40),
        ("baseline", "c"): (10, 10, 10),
        ("canopy", "c"): (7, 8, 9),
    }
    trials = [
        trial(
            mode, task=task, task_id=task, run=run, agent="abc".index(task) + 1, total_tokens=number
        )
        for (mode, task), numbers in tokens.items()
        for run, number in enumerate(numbers, start=1)
    ]
    found = ratios(session(*trials))
    logs = np.log([55 / 110, 40 / 20, 8 / 10])
    bounds = stats.ttest_1samp(logs, 0).confidence_interval()
    tokens_ratio = ratio(found, "total_tokens")
    assert tokens_ratio is not None
    assert tokens_ratio.estimate == pytest.approx(np.exp(logs.mean()))
    assert tokens_ratio.interval == pytest.approx((np.exp(bounds.low), np.exp(bounds.high)))
    assert (found.reference, found.columns) == ("baseline", (Column(mode="canopy"),))
    assert (found.tasks, found.runs) == (3, 3)


def test_a_task_without_the_figure_in_both_modes_is_not_in_it(
    trial: Trial, session: Session
) -> None:
    found = ratios(
        session(
            trial(task="a", cost=2.0),
            trial(task="b", agent=2, cost=None),
            trial(task="c", agent=3, cost=0.0),
            trial("canopy", task="a", cost=1.0),
            trial("canopy", task="b", agent=2, cost=1.0),
            trial("canopy", task="c", agent=3, cost=1.0),
        )
    )
    assert is_single(ratio(found, "cost"), 0.5)
    assert found.tasks == 3


def test_failed_and_contaminated_trials_are_left_out(trial: Trial, session: Session) -> None:
    found = ratios(
        session(
            trial(task="a", agent=1, num_turns=4),
            trial("canopy", task="a", agent=1, num_turns=8),
            trial(
                "canopy",
                task="a",
                agent=2,
                num_turns=1,
                status="agent-failed",
                cause="error-result",
            ),
            trial("canopy", task="a", agent=3, num_turns=400, retrieval="contaminated"),
        )
    )
    assert is_single(ratio(found, "num_turns"), 2)


def test_requests_are_compared_where_every_trial_has_them(trial: Trial, session: Session) -> None:
    """Claude Code's turns: one for each result of a tool, and calls of built-in tools come in
    parallel."""
    trials = [
        trial(num_turns=20, requests=4),
        trial(agent=2, num_turns=21, requests=5),
        trial("canopy", num_turns=3, requests=3),
    ]
    found = ratios(session(*trials))
    assert is_single(ratio(found, "requests"), 3 / 20**0.5)
    assert "num_turns" not in {row.metric.key for row in found.rows}
    unknown = trial("canopy", agent=2, num_turns=3)
    found = ratios(session(*trials, unknown))
    assert is_single(ratio(found, "num_turns"), 3 / 420**0.5)
    assert "requests" not in {row.metric.key for row in found.rows}
    died = trial("canopy", agent=2, status="agent-failed", cause="no-output", num_turns=1)
    assert ratio(ratios(session(*trials, died)), "requests") is not None


def test_budget_reached_stays_in_the_comparison(trial: Trial, session: Session) -> None:
    found = ratios(
        session(
            trial(num_turns=5),
            trial("canopy", agent=2, num_turns=15, result_lines=None),
            trial(
                "canopy",
                num_turns=15,
                status="budget-reached",
                cause="max-turns",
                result_lines=None,
            ),
        )
    )
    assert is_single(ratio(found, "num_turns"), 3)
    assert ratio(found, "result_lines") is None


def test_as_used_has_only_trials_that_used_the_tool_against_all_others(
    trial: Trial, session: Session
) -> None:
    found = ratios(
        session(
            trial(task="a", agent=1, total_tokens=100),
            trial(task="a", agent=2, total_tokens=300),
            trial("canopy", task="a", agent=1, total_tokens=100),
            trial("canopy", task="a", agent=2, total_tokens=500, retrieval="unused"),
        )
    )
    assert found.columns == (Column(mode="canopy"), Column(mode="canopy", as_used=True))
    tokens = next(row for row in found.rows if row.metric.key == "total_tokens")
    assert [one and one.estimate for one in tokens.ratios] == pytest.approx(
        [(5 / 3) ** 0.5, (1 / 3) ** 0.5]
    )


def test_as_used_of_a_reference_with_a_tool_has_only_what_used_it(
    trial: Trial, session: Session
) -> None:
    mode = "canopy-service"
    found = ratios(
        session(
            trial("canopy", task="a", agent=1, total_tokens=100),
            trial("canopy", task="a", agent=2, total_tokens=300, retrieval="unused"),
            trial(mode, task="a", agent=1, total_tokens=50),
            trial(mode, task="a", agent=2, total_tokens=350),
        )
    )
    assert found.reference_as_used
    assert found.columns == (Column(mode=mode), Column(mode=mode, as_used=True))
    tokens = next(row for row in found.rows if row.metric.key == "total_tokens")
    assert [one and one.estimate for one in tokens.ratios] == pytest.approx(
        [(7 / 12) ** 0.5, (7 / 4) ** 0.5]
    )


def test_a_reference_whose_tool_nobody_used_has_no_figures_as_used(
    trial: Trial, session: Session
) -> None:
    found = ratios(session(trial("canopy", retrieval="unused"), trial("canopy-service")))
    assert found.columns == (Column(mode="canopy-service"),)


@pytest.mark.parametrize(("differ", "has_interval"), [(2, False), (6, True)])
def test_where_too_few_tasks_differ_no_interval_of_a_score_is_shown(
    differ: int, has_interval: bool
) -> None:
    tasks = [f"t{n}" for n in range(12)]
    pairs = Pairs(
        relative=False,
        arm_values={task: 0.5 + 0.1 * (n < differ) for n, task in enumerate(tasks)},
        reference_values=dict.fromkeys(tasks, 0.5),
        unpaired=(),
        zeros=(),
    )
    change = subtract(pairs, 0.1)
    assert change
    assert (change.interval is not None) is has_interval
