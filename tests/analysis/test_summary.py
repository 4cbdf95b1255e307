import gc
import weakref
from collections.abc import Callable
from dataclasses import replace

import pytest

from swarm_bench.core.report.report import Figure, Report
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import summarise

Trial = Callable[..., TrialRecord]
Swarm = Callable[..., SwarmRecord]
Session = Callable[..., SessionData]


def figure(report: Report, key: str, mode: str) -> Figure | None:
    row = next(row for table in report.tables for row in table.rows if row.metric.key == key)
    return row.figures[report.modes.index(mode)]


def value(report: Report, key: str, mode: str = "baseline") -> float | None:
    found = figure(report, key, mode)
    assert found is not None
    return found.value


def test_a_figure_is_the_median_over_runs_with_the_range(trial: Trial, session: Session) -> None:
    trials = [
        trial(run=run, agent=agent, total_tokens=tokens, duration_s=seconds)
        for run, agent, tokens, seconds in [
            (1, 1, 100, 5.0),
            (1, 2, 200, 9.0),
            (2, 1, 10, 1.0),
            (2, 2, 20, 2.0),
            (3, 1, 1000, 7.0),
            (3, 2, 2000, 6.0),
        ]
    ]
    report = summarise(session(*trials))
    assert figure(report, "total_tokens", "baseline") == Figure(
        value=300, low=30, high=3000, runs=3, missing=0
    )
    assert figure(report, "duration_s", "baseline") == Figure(
        value=7.0, low=2.0, high=9.0, runs=3, missing=0
    )


def test_what_was_not_given_is_missing_and_not_zero(
    trial: Trial, failed: Trial, session: Session
) -> None:
    report = summarise(
        session(trial(agent=1), failed("baseline", "exit-code", "agent-failed", agent=2))
    )
    assert figure(report, "effective_tokens", "baseline") == Figure(
        value=1000, low=1000, high=1000, runs=1, missing=1
    )
    assert value(report, "avg_output_lines") == 20
    assert value(report, "num_turns") == 4
    assert value(report, "tokens_per_agent") == 1000


def test_a_figure_that_nobody_gave_is_named_and_has_no_row(trial: Trial, session: Session) -> None:
    spent = summarise(session(trial(cost=None))).tables[0]
    assert "cost" in [metric.key for metric in spent.unknown]
    assert "cost" not in [row.metric.key for row in spent.rows]


def test_a_trial_without_an_answer_is_no_success(
    trial: Trial, failed: Trial, session: Session
) -> None:
    report = summarise(
        session(
            trial(agent=1),
            trial(agent=2, result_lines=1),
            trial(agent=3, compacted=1),
            failed("baseline", "timeout", "budget-reached", agent=4),
        )
    )
    assert value(report, "success_rate") == 0.25
    assert value(report, "null_results") == 2
    assert value(report, "grounded") == 0.75
    assert value(report, "structured") == 0.75


def test_an_answer_with_an_error_status_is_no_success(trial: Trial, session: Session) -> None:
    report = summarise(session(trial(status="agent-failed", cause="error-result")))
    assert value(report, "success_rate") == 0


def test_compactions_and_turn_limit_errors_stand_apart(
    trial: Trial, failed: Trial, session: Session
) -> None:
    report = summarise(
        session(
            trial(agent=1, compacted=1),
            failed("baseline", "max-turns", "budget-reached", agent=2, compacted=1, num_turns=15),
            trial(agent=3),
        )
    )
    assert (value(report, "compacted"), value(report, "out_of_turns")) == (2, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"cause": "service-failed", "status": "harness-failed"},
        {"cause": "interrupted", "status": "cancelled"},
        {"retrieval": "contaminated"},
    ],
)
def test_what_says_nothing_of_the_mode_is_left_out(
    trial: Trial, session: Session, changes: dict[str, str]
) -> None:
    report = summarise(session(trial(agent=1), trial(agent=2, total_tokens=5000, **changes)))
    assert figure(report, "total_tokens", "baseline") == Figure(
        value=100, low=100, high=100, runs=1, missing=1
    )
    assert value(report, "success_rate") == 1


def test_trials_that_have_not_run_are_missing_in_their_run(trial: Trial, session: Session) -> None:
    data = session(trial(agent=1), trial(agent=1, run=2), runs=2, planned={"baseline": 6})
    found = figure(summarise(data), "total_tokens", "baseline")
    assert found is not None
    assert found.missing == 4


def test_of_a_trial_that_ran_again_the_last_attempt_counts(trial: Trial, session: Session) -> None:
    report = summarise(
        session(
            trial(trial="x", attempt=2, total_tokens=7),
            trial(trial="x", attempt=1, total_tokens=9),
        )
    )
    assert value(report, "total_tokens") == 7
    assert len(report.trials) == 1


def test_counters_apply_to_the_modes_that_have_them(trial: Trial, session: Session) -> None:
    report = summarise(session(trial(), trial("canopy"), trial("canopy-service")))
    calls = {
        key: [one and one.value for one in row.figures]
        for row in report.tables[2].rows
        for key in [row.metric.key]
    }
    assert calls == {
        "tool_used": [None, 1, 1],
        "mcp_calls": [None, 2, 2],
        "local_queries": [None, 3, 3],
        "local_expands": [None, 3, 3],
        "service_queries": [None, None, 3],
        "service_packs": [None, None, 2],
        "service_expands": [None, None, 3],
        "index_seconds": [None, 2, 2],
    }


def test_counters_of_all_swarms_of_a_run_are_summed(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    """A broken-off swarm and the one that went on, or in `ab` one per task."""
    report = summarise(
        session(
            trial("canopy", agent=1),
            trial("canopy", agent=2),
            swarm("canopy", agents=(1,)),
            swarm("canopy", agents=(2,), attempt=2),
        )
    )
    assert figure(report, "local_queries", "canopy") == Figure(
        value=6, low=6, high=6, runs=1, missing=0
    )


def test_counters_are_missing_for_the_trials_they_do_not_cover(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    report = summarise(
        session(trial("canopy", agent=1), trial("canopy", agent=2), swarm("canopy", agents=(2,)))
    )
    found = figure(report, "local_queries", "canopy")
    assert found is not None
    assert found.missing == 1


def test_counters_of_trials_that_were_all_run_again_are_left_out(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    data = session(
        trial("canopy", attempt=2, trial="x"),
        swarm("canopy", agents=(1,), attempt=1, failure="interrupted"),
        swarm("canopy", agents=(1,), attempt=2),
    )
    assert value(summarise(data), "local_queries", "canopy") == 3


def test_a_single_mode_has_no_ratios(trial: Trial, session: Session) -> None:
    report = summarise(session(trial("canopy")))
    assert report.headline.ratios is None
    assert report.modes == ("canopy",)


def test_a_session_without_records_has_a_summary(session: Session, golden: Sentences) -> None:
    report = summarise(session(modes=("baseline", "canopy"), planned={"baseline": 2, "canopy": 2}))
    assert report.measured == 0
    golden(report.warnings[0])


def test_modes_stand_in_the_order_of_the_experiment(trial: Trial, session: Session) -> None:
    data = session(trial("baseline"), trial("canopy"), modes=("canopy", "baseline"))
    report = summarise(data)
    assert report.modes == ("canopy", "baseline")
    assert [one.mode for one in report.trials] == ["canopy", "baseline"]


def test_cost_is_marked_as_an_estimate(trial: Trial, session: Session) -> None:
    report = summarise(
        session(trial(cost_estimated=True, price_table="prices-1", token_counter="counter-1"))
    )
    assert [row.metric.key for row in report.tables[0].rows if row.estimated] == ["cost"]
    assert any("prices-1" in note and "estimate" in note for note in report.notes)
    assert any("counter-1" in note for note in report.notes)


def test_the_head_says_what_was_measured(trial: Trial, session: Session, golden: Sentences) -> None:
    data = session(
        trial(model="rules", program="scout"),
        trial("canopy"),
        retrieval={"canopy": {"name": "embedded canopy", "version": "1.0"}},
        order=[("canopy", "baseline")],
    )
    facts = {fact.label: fact.value for line in summarise(data).head for fact in line}
    golden(*(f"{label}: {value}" for label, value in facts.items()))
    golden(summarise(data).notes[0])


def test_the_head_says_how_agents_shared_and_when_the_index_was_built(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial(), trial("canopy"), index="warm", agents=8, swarm_size=2, concurrency=2)
    facts = {fact.label: fact.value for line in summarise(data).head for fact in line}
    golden(facts["Agents"])
    golden(facts["Index"])


def test_without_a_tool_there_is_no_index(trial: Trial, session: Session) -> None:
    facts = [fact.label for line in summarise(session(trial())).head for fact in line]
    assert "Index" not in facts


def test_what_was_not_copied_is_a_note(trial: Trial, session: Session, golden: Sentences) -> None:
    data = session(trial())
    left_out = ("the content of 1 submodule is left out (lib)", "2 files are left out (a, b)")
    repository = data.experiment.repository.model_copy(update={"left_out": left_out})
    changed = data.experiment.model_copy(update={"repository": repository})
    (note,) = summarise(replace(data, experiment=changed)).notes[:1]
    golden(note)


def test_a_session_goes_with_its_last_user(trial: Trial, session: Session) -> None:
    """No cycle of objects keeps it: to look for one in a large session takes seconds."""
    data = session(*[trial(mode=mode, agent=n) for mode in ("baseline", "canopy") for n in (1, 2)])
    kept = weakref.ref(data)
    gc.disable()
    try:
        summarise(data)
        del data
        assert kept() is None
    finally:
        gc.enable()
