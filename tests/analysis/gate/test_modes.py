"""Limits on a session of the swarm benchmark."""

from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.analysis.gate.modes import make_gate
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.stored.limits import parse_limits
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.cli.sessions.gate import HELP
from swarm_bench.core.report.gate import Bound, Gate, Kind, State, Verdict
from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData, Treatment, TrialRecord
from swarm_bench.core.status import Cause, Status
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.sessions import make_failed, make_session, make_trial

RATIO = {Kind.MAX_RATIO: ["effective_tokens=1.05"]}


def tasks(number: int) -> list[dict[str, Any]]:
    return [
        {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is {n}?", "key": {"files": [f"{n}.py"]}}
        for n in range(number)
    ]


def trials(mode: str, ratio: float = 1.0, number: int = 8, **changes: Any) -> list[TrialRecord]:
    """Make one trial of each task; the mode takes `ratio` times the tokens, more or less."""
    return [
        make_trial(
            mode,
            agent=n + 1,
            task_id=f"t{n}",
            effective_tokens=round(1000 * (n + 1) * ratio * (1.1 if n % 2 else 0.9)),
            **{**PAID, "scores": {"file_recall": 0.7 + 0.02 * (n % 3)}, **changes},
        )
        for n in range(number)
    ]


BASELINE = [
    trial.model_copy(update={"effective_tokens": 1000 * trial.agent})
    for trial in trials("baseline")
]


def session(*records: list[TrialRecord], number: int = 8, **changes: Any) -> SessionData:
    every = [trial for of_mode in records for trial in of_mode]
    return make_session(*every, **{"tasks": tasks(number), "agents": number, **changes})


def judged(data: SessionData, typed: Any = RATIO, bound: Bound = Bound.ESTIMATE) -> Gate:
    limits = parse_limits(typed, METRICS, data.experiment.arms, {"recall"})
    return make_gate(Selection(data, METRICS), limits, bound)


def verdict(data: SessionData, typed: Any = RATIO, bound: Bound = Bound.ESTIMATE) -> Verdict:
    (only,) = judged(data, typed, bound).verdicts
    return only


def beside(data: SessionData, typed: Any = RATIO) -> list[str]:
    """What is said below the limits of the mode that is not the reference."""
    return [caveat.qualification for caveat in judged(data, typed).caveats["canopy"]]


@pytest.mark.parametrize(
    ("ratio", "estimate", "interval"),
    [
        (0.8, State.HOLDS, State.HOLDS),
        (1.0, State.HOLDS, State.INCONCLUSIVE),
        (1.1, State.VIOLATED, State.INCONCLUSIVE),
        (1.5, State.VIOLATED, State.VIOLATED),
    ],
)
def test_a_ratio_is_judged_by_its_estimate_or_by_its_interval(
    ratio: float, estimate: State, interval: State
) -> None:
    data = session(BASELINE, trials("canopy", ratio))
    by_estimate = verdict(data)
    assert by_estimate.state is estimate
    assert by_estimate.estimate == pytest.approx(ratio * 0.99**0.5, rel=1e-3)
    assert by_estimate.cases == 8
    assert verdict(data, bound=Bound.INTERVAL).state is interval


def test_a_mean_is_over_tasks_and_recall_stands_for_the_quality() -> None:
    data = session(BASELINE, trials("canopy"))
    own = verdict(data, {Kind.MIN: ["recall=0.6"]})
    assert (own.state, own.metric and own.metric.key) == (State.HOLDS, "file_recall")
    assert own.estimate == pytest.approx(0.7175)
    assert verdict(data, {Kind.MIN: ["baseline:file_recall=0.75"]}).state is State.VIOLATED
    assert verdict(data, {Kind.MAX: ["canopy:effective_tokens=4000"]}).state is State.VIOLATED


def test_a_limit_that_is_met_exactly_holds() -> None:
    third = [t.model_copy(update={"effective_tokens": 3}) for t in BASELINE]
    same = [t.model_copy(update={"effective_tokens": 3}) for t in trials("canopy")]
    data = session(third, same)
    assert verdict(data, {Kind.MAX_RATIO: ["effective_tokens=1"]}).state is State.HOLDS
    assert verdict(data, {Kind.MAX: ["effective_tokens=3"]}).state is State.HOLDS
    scored = trials("canopy", scores={"file_recall": 0.6})
    assert verdict(session(BASELINE, scored), {Kind.MIN: ["recall=0.6"]}).state is State.HOLDS


def test_it_is_on_every_mode_that_is_compared_and_on_no_control(golden: Sentences) -> None:
    modes = [trials(mode) for mode in ("told", "placebo", "canopy", "canopy-service")]
    data = session(BASELINE, *modes)
    assert [each.mode for each in judged(data).verdicts] == ["canopy", "canopy-service"]
    named = verdict(data, {Kind.MAX_RATIO: ["placebo:effective_tokens=9"]})
    assert named.state is State.MISSING
    golden(named.why)


def test_a_session_of_one_mode_has_no_ratio_and_means() -> None:
    data = session(BASELINE)
    assert (verdict(data).state, verdict(data).mode) == (State.MISSING, "")
    own = verdict(data, {Kind.MAX: ["effective_tokens=9000"]})
    assert (own.state, own.mode) == (State.HOLDS, "baseline")


def test_nothing_that_was_not_measured_holds() -> None:
    for records in (
        [],
        [make_failed("baseline", "exit-code", "agent-failed", task_id="t0")],
        [
            make_failed(mode, "workspace-failed", "harness-failed")
            for mode in ("baseline", "canopy")
        ],
        [*BASELINE, make_failed("canopy", "exit-code", "agent-failed", task_id="t0")],
    ):
        data = session(records, modes=("baseline", "canopy"))
        for typed in (RATIO, {Kind.MAX: ["cost=9"]}, {Kind.MIN: ["recall=0"]}):
            assert verdict(data, typed).state in (State.MISSING, State.INCONCLUSIVE), typed


def test_fixed_rules_decide_what_is_spent_and_no_limit_on_it_holds() -> None:
    rules: dict[str, Any] = {"fixed_rules": True, "model": "rules"}
    data = session(trials("baseline", **rules), trials("canopy", 0.5, **rules))
    assert "Fixed rules" in verdict(data).why
    assert verdict(data).state is State.MISSING


def test_the_first_example_of_the_help_holds_for_fixed_rules_too() -> None:
    example = next(line for line in HELP.splitlines() if line.startswith("  swarm-bench gate"))
    *_, option, limit = example.split()
    rules: dict[str, Any] = {"fixed_rules": True, "model": "rules"}
    data = session(trials("baseline", **rules), trials("canopy", 0.5, **rules))
    (held,) = judged(data, {Kind(option): [limit]}).verdicts
    assert held.state is State.HOLDS
    assert verdict(data).state is State.MISSING
    assert verdict(data, {Kind.MAX: ["cost=9"]}).state is State.MISSING
    assert verdict(data, {Kind.MIN: ["recall=0.5"]}).state is State.HOLDS


def test_records_that_were_changed_hold_nothing(golden: Sentences) -> None:
    data = session(BASELINE, trials("canopy", 0.5))
    planted = replace(data, planted=("planted-1-metrics.jsonl",))
    edited = replace(data, audit=Audit(edited=frozenset({(None, 1)})))
    for each in (planted, edited):
        assert verdict(each).state is State.MISSING
        golden(verdict(each).why)


def test_a_mode_that_the_witnesses_bar_is_missing_and_says_why(golden: Sentences) -> None:
    contaminated = [t.model_copy(update={"retrieval": Treatment.CONTAMINATED}) for t in BASELINE]
    barred = verdict(session(contaminated, trials("canopy")))
    assert barred.state is State.MISSING
    golden(barred.why)
    apart = trials("canopy", retrieval="not-connected")
    assert verdict(session(BASELINE, apart), {Kind.MIN: ["recall=0"]}).state is State.MISSING


def test_where_every_trial_is_contaminated_that_is_said_and_said_once(golden: Sentences) -> None:
    every = [
        trial.model_copy(update={"retrieval": Treatment.CONTAMINATED})
        for trial in [*BASELINE, *trials("canopy")]
    ]
    for typed in ({Kind.MIN: ["recall=0.5"]}, {Kind.MAX: ["effective_tokens=9"]}):
        held = judged(session(every), typed)
        (only,) = held.verdicts
        assert only.state is State.MISSING
        assert not held.notes
        assert not any(held.caveats.values())
        golden(only.why)


def test_a_reference_that_reached_the_tool_is_no_evidence_for_any_limit(golden: Sentences) -> None:
    reached = trials("baseline", evidence={"outside": ["It started codegraph."]})
    data = session(reached, trials("canopy"))
    for typed in (RATIO, {Kind.MIN: ["recall=0.5"]}, {Kind.MAX: ["effective_tokens=9000"]}):
        held = verdict(data, typed)
        assert held.state is State.MISSING
        golden(held.why)


def test_a_tool_that_no_agent_used_keeps_no_limit(golden: Sentences) -> None:
    held = verdict(session(trials("baseline"), trials("canopy", 0.8, retrieval="unused")))
    assert held.state is State.MISSING
    golden(held.why)


def test_too_few_tasks_are_inconclusive(golden: Sentences) -> None:
    one = session(BASELINE[:1], trials("canopy", number=1), number=1)
    assert verdict(one).state is State.INCONCLUSIVE
    some = session(BASELINE, trials("canopy", number=6))
    assert (verdict(some).state, verdict(some).estimate) == (State.INCONCLUSIVE, None)
    golden(verdict(some).why)
    five = session(BASELINE[:5], trials("canopy", 0.5, number=5), number=5)
    assert verdict(five).state is State.HOLDS
    assert verdict(five, bound=Bound.INTERVAL).state is State.INCONCLUSIVE


def test_tasks_that_were_planned_and_never_ran_count_as_missing() -> None:
    half = session(BASELINE[:4], trials("canopy", 0.5, number=4))
    assert verdict(half).state is State.INCONCLUSIVE


def test_a_figure_that_nothing_gives_is_missing_and_zeros_have_no_ratio(golden: Sentences) -> None:
    data = session(BASELINE, trials("canopy"))
    assert verdict(data, {Kind.MAX: ["api_seconds=9"]}).state is State.MISSING
    free = session(
        [t.model_copy(update={"cost": 0.0}) for t in BASELINE], trials("canopy", cost=0.0)
    )
    ratio = verdict(free, {Kind.MAX_RATIO: ["cost=1"]})
    assert ratio.state is State.MISSING
    golden(ratio.why)
    assert verdict(free, {Kind.MAX: ["cost=0.1"]}).state is State.HOLDS


def test_what_a_figure_hides_stands_beside_it(golden: Sentences) -> None:
    died = make_failed("canopy", "exit-code", "agent-failed", task_id="t0", agent=9, **PAID)
    less = trials("canopy", 0.5)
    golden(beside(session(BASELINE, [*less, died]))[0])
    limited = died.model_copy(
        update={"status": Status.PROVIDER_LIMITED, "cause": Cause.RATE_LIMITED}
    )
    lost = beside(session(BASELINE, [*less, limited]))
    golden(lost[0])
    alike = session(BASELINE, trials("placebo", 0.5), trials("canopy", 0.5))
    golden(verdict(alike).why)
    completed = verdict(session(BASELINE, [*less, died]), {Kind.MIN: ["completed=0.99"]})
    assert completed.state is State.VIOLATED


def test_what_a_mode_that_finds_less_spends_keeps_no_limit(golden: Sentences) -> None:
    gave_up = session(BASELINE, trials("canopy", 0.01, scores={"file_recall": 0.1}))
    held = verdict(gave_up)
    assert held.state is State.MISSING
    golden(held.why)
    assert verdict(gave_up, {Kind.MAX: ["effective_tokens=9"]}).state is State.MISSING
    assert verdict(gave_up, {Kind.MIN: ["recall=0.6"]}).state is State.VIOLATED


def test_what_a_limit_stopped_keeps_no_upper_limit(golden: Sentences) -> None:
    ended = trials("canopy", 0.5)
    ended[0] = ended[0].model_copy(update={"status": Status.BUDGET_REACHED})
    held = verdict(session(BASELINE, ended))
    assert held.state is State.INCONCLUSIVE
    golden(held.why)
    golden(beside(session(BASELINE, ended))[0])
    mean = verdict(session(BASELINE, ended), {Kind.MAX: ["effective_tokens=9000"]})
    assert mean.state is State.INCONCLUSIVE
    assert verdict(session(BASELINE, ended), {Kind.MIN: ["recall=0.6"]}).state is State.HOLDS
    again = [
        trial.model_copy(update={"run": run})
        for run in (2, 3)
        for trial in [*BASELINE, *trials("canopy", 0.5)]
    ]
    thrice = session(BASELINE, ended, again, runs=3)
    assert verdict(thrice).state is State.HOLDS  # two of its three runs ended by themselves


def test_where_one_mode_lost_more_trials_nothing_is_shown() -> None:
    lost = [
        trial.model_copy(update={"status": Status.PROVIDER_LIMITED, "cause": Cause.RATE_LIMITED})
        if trial.agent in (3, 8)
        else trial
        for trial in trials("canopy", 0.5, number=12)
    ]
    full = trials("baseline", number=12)
    data = session(full, lost, number=12)
    for typed in (RATIO, {Kind.MIN: ["recall=0.6"]}):
        held = verdict(data, typed)
        assert held.state is State.INCONCLUSIVE
        assert "2 of 12 trials of canopy" in held.why


def test_where_one_mode_lacks_more_records_nothing_is_shown(golden: Sentences) -> None:
    full = trials("baseline", number=12)
    whole: dict[str, Any] = {"number": 12, "planned": {"baseline": 12, "canopy": 12}}
    assert verdict(session(full, trials("canopy", 0.5, number=11), **whole)).state is State.HOLDS
    held = verdict(session(full, trials("canopy", 0.5, number=10), **whole))
    assert held.state is State.INCONCLUSIVE
    golden(held.why)


def test_spending_less_is_no_gain_where_whoever_finds_nothing_would_not_be_worse(
    golden: Sentences,
) -> None:
    hard = trials("baseline", scores={"file_recall": 0.05})
    nothing = session(hard, trials("canopy", 0.1, scores={"file_recall": 0.0}))
    held = verdict(nothing)
    assert held.state is State.MISSING
    golden(held.why)


@pytest.mark.parametrize(("ratio", "state"), [(1.0, State.INCONCLUSIVE), (0.8, State.HOLDS)])
def test_a_ratio_must_hold_where_answers_are_judged(ratio: float, state: State) -> None:
    """The mode gives up in the two tasks without a key."""
    asked = [task if n < 8 else {**task, "key": None} for n, task in enumerate(tasks(10))]
    reference = trials("baseline", number=10)
    gave_up = [
        trial.model_copy(update={"effective_tokens": 1000}) if trial.agent > 8 else trial
        for trial in trials("canopy", ratio, number=10)
    ]
    data = session(reference, gave_up, number=10, tasks=asked)
    assert verdict(data, {Kind.MAX_RATIO: ["effective_tokens=0.9"]}).state is state


def test_edited_settings_and_keys_are_not_passed_over(golden: Sentences) -> None:
    data = session(BASELINE, trials("canopy", 0.5))
    named = data.experiment.preregister()
    whole = replace(data, experiment=named)
    assert verdict(whole).state is State.HOLDS
    assert not judged(whole).notes
    margin = {"quality_margin": {"value": 1.0, "source": "default"}}
    edited = Experiment.model_validate(
        {**named.model_dump(), "settings": {**named.model_dump()["settings"], **margin}}
    )
    held = verdict(replace(data, experiment=edited))
    assert held.state is State.MISSING
    golden(held.why)
    tagged = tuple(task.model_copy(update={"weight": 9.0}) for task in named.tasks)
    others = replace(data, experiment=named.model_copy(update={"tasks": tagged}))
    golden(*judged(others).notes)


def test_a_tool_that_few_used_and_runs_that_were_added_are_said(golden: Sentences) -> None:
    some = trials("canopy", 0.5)
    some[1:] = [
        trial.model_copy(update={"retrieval": Treatment.UNUSED, "mcp_calls": 0})
        for trial in some[1:]
    ]
    data = session(BASELINE, some)
    assert verdict(data).state is State.HOLDS
    golden(*beside(data))
    named = data.experiment.preregister().beforehand
    assert named
    fewer = named.model_copy(update={"runs": 0}).add_checksum()
    grown = replace(data, experiment=data.experiment.model_copy(update={"beforehand": fewer}))
    assert any("extended after it began" in note for note in judged(grown).notes)


def test_the_worst_limit_decides() -> None:
    data = session(BASELINE, trials("canopy"))
    typed = {Kind.MAX_RATIO: ["effective_tokens=2", "cost=0.1", "api_seconds=1"]}
    states = [each.state for each in judged(data, typed).verdicts]
    assert states == [State.HOLDS, State.VIOLATED, State.MISSING]
    assert judged(data, typed).state is State.VIOLATED


def test_shares_that_are_all_equal_need_numbers_to_be_judged_by_their_interval(
    golden: Sentences,
) -> None:
    data = session(BASELINE, trials("canopy", scores={"file_recall": 1.0}))
    far = verdict(data, {Kind.MIN: ["recall=0.6"]}, Bound.INTERVAL)
    near = verdict(data, {Kind.MIN: ["recall=0.9"]}, Bound.INTERVAL)
    met = verdict(data, {Kind.MIN: ["recall=1"]}, Bound.INTERVAL)
    assert [each.state for each in (far, near, met)] == [
        State.HOLDS,
        State.INCONCLUSIVE,
        State.INCONCLUSIVE,
    ]
    golden(near.why)
    assert verdict(data, {Kind.MIN: ["recall=1"]}).state is State.HOLDS
    most = trials("canopy", scores={"file_recall": 1.0})
    most[0] = most[0].model_copy(update={"scores": {"file_recall": 0.99}})
    held = verdict(session(BASELINE, most), {Kind.MIN: ["recall=0.9"]}, Bound.INTERVAL)
    golden(held.why)


def test_recall_is_no_other_name_of_a_quality_that_no_key_is_about(golden: Sentences) -> None:
    named = {"quality": {"value": "grounded", "source": "command line"}}
    data = session(BASELINE, trials("canopy"), settings=named)
    own = verdict(data, {Kind.MIN: ["recall=0.6"]})
    assert own.state is State.MISSING
    golden(own.why)
    assert verdict(data, {Kind.MIN: ["file_recall=0.6"]}).state is State.HOLDS
