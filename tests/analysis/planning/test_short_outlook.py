"""What is said of a session before its first trial."""

import re
from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.analysis.planning.chances import Bar, Truth, compute_chances, count_tasks
from swarm_bench.analysis.planning.forecast import Earlier, look_ahead
from swarm_bench.analysis.planning.outlook import VERDICT_PHRASES
from swarm_bench.analysis.planning.short_outlook import describe_in_short
from swarm_bench.analysis.statistics.verdict_rule import Verdict
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.session.designs import CALIBRATE
from swarm_bench.core.session.experiment import Experiment
from tests.analysis.planning.test_outlook import MANY, PLANNED, earlier
from tests.builders.golden import Sentences

WIDE = PLANNED.model_copy(update={"tasks": MANY, "runs": 1, "agents": len(MANY)})


def short(planned: Experiment, before: Earlier | None = None, **changes: Any) -> str | None:
    wanted = {"saving": 0.2, "fixed_rules": False, **changes}
    outlook = look_ahead(planned, before, METRICS, **wanted)
    return describe_in_short(outlook, METRICS) if outlook else None


@pytest.mark.parametrize("number", [5, 8, 23, 35, 60])
def test_it_is_two_sentences(number: int, golden: Sentences) -> None:
    text = short(WIDE.model_copy(update={"tasks": MANY[:number], "agents": number}))
    assert text
    golden(text)
    assert text.count(". ") <= 1
    assert ";" not in text


def test_by_an_earlier_session_it_is_the_chance_of_the_plan(golden: Sentences) -> None:
    before = earlier(runs=2, noise=0.3)
    planned = WIDE.model_copy(update={"tasks": MANY[:8], "agents": 8, "runs": 3})
    text = short(planned, before)
    assert text
    golden(text)
    assert "results/x" in text
    quiet = Truth(saving=0.2, spread=0.15)
    needed = count_tasks(quiet, 3, Bar(margin=0.1, quality_margin=0.1))
    assert f"With {needed} tasks" in text
    sure = short(WIDE.model_copy(update={"runs": 3}), before, saving=0.5)
    assert sure
    golden(sure)
    assert re.search(r"in (9|10) of 10", sure)


def test_the_range_is_that_of_what_is_assumed() -> None:
    text = short(WIDE)
    assert text
    low, high = map(int, re.findall(r"in (\d+) to (\d+) of 10", text)[0])
    bar = Bar(margin=0.1, quality_margin=0.1)
    quiet = compute_chances(Truth(saving=0.2, spread=0.3), len(MANY), 1, bar)
    assert round(10 * quiet[Verdict.HELPS]) == high
    assert low < high


def test_nothing_helps_where_nobody_knows_the_answers(golden: Sentences) -> None:
    tasks = tuple(task.model_copy(update={"key": None}) for task in MANY)
    text = short(WIDE.model_copy(update={"tasks": tasks}))
    assert text
    golden(text)
    assert f"say '{VERDICT_PHRASES[Verdict.HELPS]}' in" not in text


def test_by_fixed_rules_it_is_the_difference_in_answers(golden: Sentences) -> None:
    text = short(WIDE, fixed_rules=True)
    assert text
    golden(text)


def test_where_nothing_is_compared_there_is_nothing_to_say() -> None:
    assert short(WIDE.model_copy(update={"design": CALIBRATE})) is None
    alone = WIDE.model_copy(update={"modes": WIDE.modes[:1]})
    assert short(alone) is None
    before = earlier(runs=2)
    assert short(alone, replace(before, folder="results/y")) is None
