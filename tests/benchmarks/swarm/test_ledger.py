"""What a session with a limit of its cost may still start."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.ledger import Ledger, make_ledger
from swarm_bench.benchmarks.swarm.run_plan import SwarmTrial, plan
from swarm_bench.benchmarks.swarm.running.swarm import SwarmBudget
from swarm_bench.benchmarks.swarm.running.trial import Execution
from swarm_bench.core.errors import CostLimitReached
from swarm_bench.core.outcome import Outcome, Usage
from swarm_bench.core.session.experiment import Task
from swarm_bench.core.session.prices import Price
from swarm_bench.core.session.records import Measurements, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.engine.budget import Budget
from tests.builders.experiments import experiment

PRICE = Price(input=1, cache_write=1, cache_read=1, output=1, table="prices.toml")
TOKENS: dict[str, Any] = {
    "input_tokens": 1_000_000, "cache_read": 0, "cache_create": 0, "output_tokens": 0
}  # fmt: skip


def record(cost: float | None, mode: str = "baseline", **values: Any) -> TrialRecord:
    own = {"wall_seconds": 1.0, "cause": Cause.FINISHED, **values}
    return TrialRecord(mode=mode, agent=1, task="t", cost=cost, **own)


def ended(trial: str, cost: float | None, cause: Cause = Cause.FINISHED) -> Execution:
    return Execution(
        trial=SwarmTrial(
            id=trial, run=1, arm="m", number=1, case=Task(id="t", title="t", prompt="t")
        ),
        outcome=Outcome(cause=cause, cost=cost, usage=Usage(output=1)),
        measured=Measurements(
            started_at=None, ended_at=datetime(2026, 1, 1, tzinfo=UTC), wall_seconds=1,
            exit_code=0, peak_memory_bytes=None, cpu_seconds=None, attempt=1, turns_counted=None,
        ),
        prompt="t", workspace="w", program_version=None,
    )  # fmt: skip


def rest(ledger: Ledger, mode: str = "baseline") -> tuple[float, float | None]:
    """Return what is left, and what the dearest of the mode cost."""
    return ledger.limit - ledger.total_cost, ledger.dearest.get(mode)


def test_a_trial_counts_with_the_dearest_of_its_mode() -> None:
    ledger = Ledger(10, {})
    assert rest(ledger) == (10, None)
    for cost in (2, 3, 1):
        ledger.add(record(cost))
    assert rest(ledger) == (4, 3)
    assert rest(ledger, "canopy") == (4, None)
    ledger.add(record(1.5, "canopy"))
    with pytest.raises(CostLimitReached, match=r"\$7.50 of --max-cost 10 .* cost \$3.00"):
        ledger.check("baseline")
    ledger.check("canopy")
    ledger.pay(2.5)
    with pytest.raises(CostLimitReached):
        ledger.check("another")


def test_money_is_spent_on_all_modes_alike_task_by_task() -> None:
    ledger, tasks = Ledger(10, {}), [["baseline", "canopy"]] * 8
    assert ledger.turn(tasks, 4) == 1, "nobody knows what they cost"
    ledger.add(record(1))
    assert ledger.turn(tasks, 4) == 1, "nobody knows what canopy costs"
    ledger.add(record(0.5, "canopy"))
    assert ledger.turn(tasks, 4) == 4, "eight more would cost 12"
    assert ledger.turn(tasks[:5], 4) == 5, "five surely cost no more than 8.5"
    ledger.add(record(3))
    assert ledger.turn(tasks[:2], 4) == 2, "which usually cost 2.5 each"
    assert ledger.turn(tasks, 4) == 2
    ledger.add(record(3, "canopy"))
    with pytest.raises(CostLimitReached, match=r"\$7.50 of --max-cost 10 .* about \$3.75"):
        ledger.turn(tasks, 4)
    assert ledger.turn([["baseline"], *tasks], 4) == 1, "of a task that one mode has had"


def test_sums_of_costs_may_reach_the_limit() -> None:
    ledger = Ledger(0.3, {})
    ledger.add(record(0.1))
    ledger.add(record(0.1))
    ledger.check("baseline")  # 0.1 + 0.1 is more than 0.2 by a little


def test_a_trial_without_a_cost_is_taken_for_the_dearest_of_its_mode() -> None:
    ledger = Ledger(10, {})
    ledger.add(record(None))
    ledger.add(record(None, wall_seconds=None))
    ledger.add(record(None, "canopy"))
    assert ledger.total_cost == 0
    ledger.add(record(2))
    assert ledger.total_cost == 4


def test_a_trial_that_had_no_price_is_priced_when_there_is_one() -> None:
    ledger = Ledger(10, {"gpt-9": PRICE})
    ledger.add_new(record(None, model="gpt-9-20260101", **TOKENS))
    assert rest(ledger) == (9, 1)


def test_nothing_starts_in_the_dark() -> None:
    ledger = Ledger(10, {})
    ledger.add(record(None))  # of another call: its price may be known by now
    ledger.add_new(record(None, cause=Cause.EXIT_CODE))
    ledger.check("baseline")
    ledger.add_new(record(None))
    with pytest.raises(CostLimitReached, match="gave an answer and no cost"):
        ledger.check("baseline")
    ledger.check("canopy")


def test_all_attempts_of_a_session_and_its_empty_prompts_count(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path)
    folder.records.append(record(1, trial="a", cause=Cause.INTERRUPTED))
    folder.records.append(record(2, trial="b"))
    folder.records.set_aside_reruns()
    folder.records.append(record(4, trial="a", attempt=2))
    (tmp_path / "overhead.jsonl").write_text('{"session": "s", "mode": "m", "prompt_cost": 8}\n')
    other = SessionFolder(tmp_path / "other")
    other.path.mkdir()
    other.records.append(record(16, trial="a"))
    assert make_ledger(100, {}, [folder]).total_cost == 15
    both = make_ledger(100, {}, [folder, other])
    assert rest(both) == (69, 16)


def test_a_trial_that_was_lost_with_its_node_may_have_cost_money() -> None:
    ledger = Ledger(10, {})
    ledger.add(record(2.0))
    ledger.add(record(None, cause=Cause.NODE_LOST, wall_seconds=None))
    assert ledger.total_cost == 4.0


def test_what_others_have_set_aside_is_not_there_for_a_block() -> None:
    ledger = Ledger(10, {})
    for mode in ("baseline", "canopy"):
        ledger.add(record(1.0, mode))
    here, there = (block.groups[0].trials for block in plan(experiment(runs=2))[:2])
    before = ledger.copy_for(there)
    with ledger.reserve(here):
        cost = sum(ledger.dearest[trial.arm] for trial in here)
        assert ledger.copy_for(there).paid == before.paid + cost
        assert ledger.copy_for(here).paid == before.paid  # its own is there for it
    assert ledger.copy_for(there).paid == before.paid


def test_trials_at_the_same_time_count_with_what_they_may_cost() -> None:
    purse = SwarmBudget(experiment(), "m", Budget(limit=5, dearest={"m": 2}))
    assert [purse.reserve(trial) for trial in "abc"] == [True, True, False]
    purse.settle(ended("a", 1))
    assert purse.reserve("c")
    purse.settle(ended("b", 2.5))
    purse.settle(ended("c", 0.5))
    assert not purse.reserve("d")


def test_the_first_trials_start_together_and_the_next_by_what_they_cost() -> None:
    purse = SwarmBudget(experiment(), "m", Budget(limit=4.5))
    assert [purse.reserve(trial) for trial in "abc"] == [True] * 3
    purse.settle(ended("a", 1))
    assert purse.reserve("d")  # the two that run may cost 1 each
    assert not purse.reserve("e")


def test_a_swarm_stops_when_an_answer_has_no_cost() -> None:
    purse = SwarmBudget(experiment(), "m", Budget(limit=5))
    assert purse.reserve("a")
    purse.settle(ended("a", None, Cause.EXIT_CODE))
    assert purse.reserve("b")
    purse.settle(ended("b", None))
    assert not purse.reserve("c")
    known = SwarmBudget(experiment(), "m", Budget(limit=5, dearest={"m": 2}))
    assert known.reserve("a")
    known.settle(ended("a", None))
    assert known.reserve("b")
    assert not known.reserve("c")


def test_without_a_limit_everything_starts_and_what_never_began_costs_nothing() -> None:
    purse = SwarmBudget(experiment(), "m", None)
    assert all(purse.reserve(str(number)) for number in range(100))
    limited = SwarmBudget(experiment(), "m", Budget(limit=5, dearest={"m": 5}))
    limited.settle(ended("never taken", 5))
    assert limited.reserve("a")


def test_no_line_lowers_what_was_spent() -> None:
    ledger = Ledger(10, {"m": PRICE})
    ledger.add(record(2))
    ledger.pay(-5.0)
    ledger.add(record(-5))
    ledger.add(record(None, model="m", **{**TOKENS, "input_tokens": -9_000_000}))
    assert ledger.total_cost == 2 + 2 * 2, "each counts as the dearest"
