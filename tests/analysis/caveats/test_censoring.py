"""A verdict where limits stopped some trials."""

from typing import Any

from swarm_bench.core.report.standing import Standing
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause, Status
from tests.analysis.comparison.test_verdicts import BASELINE, TASKS, trials
from tests.builders.answers import text_of
from tests.builders.golden import Sentences
from tests.builders.reports import summarise
from tests.builders.sessions import make_session

STOPPED: dict[str, Any] = {"status": Status.BUDGET_REACHED, "cause": Cause.TIMEOUT}


def standing(baseline: list[TrialRecord], canopy: list[TrialRecord]) -> Standing:
    report = summarise(make_session(*baseline, *canopy, tasks=TASKS, runs=3))
    return next(one for one in report.headline.standings if one.mode == "canopy")


def with_stopped(records: list[TrialRecord], tasks: int, **changes: Any) -> list[TrialRecord]:
    """Stop all runs but the first of so many tasks."""
    names = [task["id"] for task in TASKS[:tasks]]
    return [
        trial.model_copy(update={**STOPPED, **changes})
        if trial.task_id in names and trial.run > 1
        else trial
        for trial in records
    ]


def test_a_saving_by_trials_that_were_stopped_is_not_shown(golden: Sentences) -> None:
    found = standing(BASELINE, with_stopped(trials("canopy", 0.7), 7))
    golden(text_of(found.answer))
    some = "14 of 36 trials in the ratios ended without an answer (14 timed out)"
    assert found.qualifications == (some,)


def test_a_figure_that_a_stopped_trial_does_not_report_is_no_way_out(golden: Sentences) -> None:
    canopy = with_stopped(trials("canopy", 0.7), 7, effective_tokens=None)
    golden(text_of(standing(BASELINE, canopy).answer))


def test_a_saving_that_stands_with_stopped_trials_as_the_worst_says_so(golden: Sentences) -> None:
    found = standing(BASELINE, with_stopped(trials("canopy", 0.7), 1))
    assert text_of(found.answer).startswith("helps: It used ")
    golden(found.qualifications[-1])


def test_where_the_reference_was_stopped_a_saving_stands_and_a_loss_does_not(
    golden: Sentences,
) -> None:
    saving = standing(with_stopped(BASELINE, 7), trials("canopy", 0.7))
    assert text_of(saving.answer).startswith("helps: ")
    golden(saving.qualifications[-1])
    loss = standing(with_stopped(BASELINE, 7), trials("canopy", 1.4))
    golden(text_of(loss.answer))


def test_what_a_limit_stopped_in_both_is_not_equivalent(golden: Sentences) -> None:
    even, same = trials("baseline", wobble=0), trials("canopy", wobble=0)
    assert text_of(standing(even, same).answer).startswith("makes no difference: ")
    found = standing(with_stopped(even, 2), with_stopped(same, 2))
    golden(text_of(found.answer))


def test_by_fixed_rules_nothing_is_said_of_what_was_spent() -> None:
    rules: dict[str, Any] = {"fixed_rules": True, "model": "rules"}
    found = standing(
        trials("baseline", **rules), with_stopped(trials("canopy", recall=0.9, **rules), 7)
    )
    assert text_of(found.answer).startswith("finds more: ")
    assert len(found.qualifications) == 1
