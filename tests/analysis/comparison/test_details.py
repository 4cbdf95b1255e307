"""What stands behind the effects: checked against scipy."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from swarm_bench.core.report.details import Details, EffectDetail
from tests.builders.keyed import PAID
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_trial

TASKS: list[dict[str, Any]] = [
    {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is {n}?", "key": {"files": [f"{n}.py"]}}
    for n in range(8)
]
TOKENS = {
    "baseline": (1000, 1200, 900, 1500, 1100, 1300, 800, 1000),
    "canopy": (700, 1000, 910, 900, 800, 1000, 700, 950),
    "canopy-service": (990, 1250, 800, 1510, 1000, 1350, 805, 990),
}
RIGHT = {
    "baseline": (1, 1, 0, 1, 0, 1, 1, 1),
    "canopy": (1, 1, 1, 1, 1, 1, 1, 1),
    "canopy-service": (0, 1, 0, 1, 0, 1, 1, 1),
}


def details(runs: int = 1) -> Details:
    trials = [
        make_trial(
            mode,
            task_id=task["id"],
            run=run,
            effective_tokens=TOKENS[mode][number],
            scores={"file_recall": RIGHT[mode][number], "files_all_found": RIGHT[mode][number]},
            **PAID,
        )
        for mode in TOKENS
        for number, task in enumerate(TASKS)
        for run in range(1, runs + 1)
    ]
    found = summarise(make_session(*trials, tasks=TASKS, runs=runs)).headline.details
    assert found is not None
    return found


def of(mode: str, key: str) -> EffectDetail:
    every = details().effects
    return next(one for one in every if (one.mode, one.metric.key) == (mode, key))


def logs(mode: str) -> list[float]:
    pairs = zip(TOKENS[mode], TOKENS["baseline"], strict=True)
    return [math.log(own / reference) for own, reference in pairs]


def test_other_estimates_and_the_signs_of_the_tasks() -> None:
    tokens, ratios = of("canopy", "effective_tokens"), logs("canopy")
    averages = [(a + b) / 2 for at, a in enumerate(ratios) for b in ratios[at:]]
    assert tokens.middle == pytest.approx(math.exp(np.median(averages)))
    assert tokens.middle is not None
    assert tokens.interval is not None
    assert tokens.interval[0] < tokens.middle < tokens.interval[1] < 1
    assert (tokens.below, tokens.equal, tokens.above) == (7, 0, 1)
    test = stats.permutation_test((ratios,), np.mean, permutation_type="samples")
    assert tokens.p == pytest.approx(test.pvalue)
    assert tokens.floor == 2 / 2**8


def test_only_the_primary_metric_is_adjusted_for_all_modes() -> None:
    tests = [stats.ttest_1samp(logs(mode), 0).pvalue for mode in ("canopy", "canopy-service")]
    assert of("canopy", "effective_tokens").adjusted == pytest.approx(2 * tests[0])
    assert of("canopy-service", "effective_tokens").adjusted == pytest.approx(tests[1])
    assert of("canopy", "cost").adjusted is None


def test_right_answers_have_intervals_where_each_task_was_asked_once() -> None:
    baseline, canopy, service = details().yes_or_no
    wilson = stats.binomtest(6, 8).proportion_ci(method="wilson")
    assert (baseline.passed, baseline.tasks, baseline.p) == (6, 8, None)
    assert baseline.interval == pytest.approx((wilson.low, wilson.high))
    assert (canopy.passed, canopy.p) == (8, 0.25)  # two gained: twice half of a quarter
    assert service.p == pytest.approx(0.5)
    assert details(runs=2).yes_or_no == ()
