import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Grid, Interval, Scale, Value
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.report import Headline
from swarm_bench.core.report.standing import Standing
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.reports import has_qualifications, summarise
from tests.builders.sessions import make_session, make_trial

Trial = Callable[..., TrialRecord]
Swarm = Callable[..., SwarmRecord]
Session = Callable[..., SessionData]


def headline(data: SessionData) -> Headline:
    return summarise(data).headline


def standing(data: SessionData, mode: str = "canopy") -> Standing:
    return next(one for one in headline(data).standings if one.mode == mode)


def of_canopy(trial: Trial, *labels: str, **changes: Any) -> list[TrialRecord]:
    return [
        trial("canopy", agent=agent, retrieval=label, **changes)
        for agent, label in enumerate(labels, start=1)
    ]


def test_when_all_used_the_tool_nothing_qualifies_it(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    found = headline(session(trial(), trial("canopy"), trial("canopy-service")))
    assert not has_qualifications(found)
    assert found.all_used
    golden(*(f"{one.mode}: {one.treatment}" for one in found.standings))
    assert found.ratios is not None
    assert found.ratios.columns == (Column(mode="canopy"), Column(mode="canopy-service"))


def test_a_contaminated_reference_leaves_no_verdict(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial(agent=1), trial(agent=2, retrieval="contaminated"), trial("canopy"))
    found = headline(data)
    golden(found.no_verdict or "")
    assert found.ratios is None
    assert has_qualifications(found)
    golden(*(f"{one.mode}: {one.no_verdict}" for one in found.standings))


def test_counts_in_the_reference_leave_no_verdict_where_nobody_compared_them(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    counts = {"difference": {"service": {"queries": 2, "expands": 0}}}
    old = session(trial(), trial("canopy"), swarm("baseline", **counts))
    golden(headline(old).no_verdict or "")
    compared = session(trial(), trial("canopy"), swarm("baseline", counters="contradict", **counts))
    assert headline(compared).no_verdict is None


@pytest.mark.parametrize(
    ("connected", "least", "verdict"), [(9, 0.9, True), (8, 0.9, False), (3, 0.3, True)]
)
def test_too_few_connected_trials_leave_no_verdict_on_the_mode(
    connected: int, least: float, verdict: bool, trial: Trial, session: Session, golden: Sentences
) -> None:
    labels = ["unused"] * connected + ["not-connected"] * (10 - connected)
    data = session(
        trial(), *of_canopy(trial, *labels), trial("canopy-service"), min_connected=least
    )
    found = standing(data)
    assert (found.no_verdict is None) is verdict
    if not verdict:
        golden(found.no_verdict or "")
        ratios = headline(data).ratios
        assert ratios is not None
        assert ratios.columns == (Column(mode="canopy-service"),)


def test_a_reference_with_a_tool_must_be_connected_too(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial("canopy", retrieval="not-connected"), trial("canopy-service"))
    golden(headline(data).no_verdict or "")


def test_a_contaminated_control_has_no_verdict(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial(), trial("told", retrieval="contaminated"), trial("canopy"))
    golden(standing(data, "told").no_verdict or "")


def test_a_contaminated_trial_of_a_tool_mode_qualifies(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    seen = {"foreign": ["notes"], "connected": ["canopy"]}
    touched = trial("canopy", agent=2, retrieval="contaminated", evidence=seen)
    found = standing(session(trial(), trial("canopy"), touched))
    assert found.no_verdict is None
    golden(*found.qualifications)


@pytest.mark.parametrize(("failed_calls", "verdict"), [(2, False), (1, True)])
def test_a_contaminated_trial_that_called_in_vain_was_not_connected(
    failed_calls: int, verdict: bool, trial: Trial, session: Session
) -> None:
    seen = {"foreign": ["notes"], "connected": [], "calls": 2, "failed": failed_calls}
    touched = trial("canopy", agent=2, retrieval="contaminated", evidence=seen)
    found = standing(session(trial(), trial("canopy"), touched))
    assert (found.no_verdict is None) is verdict


def test_a_mode_without_a_comparable_trial_has_no_verdict(
    trial: Trial, failed: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial(), failed("canopy", "exit-code", "agent-failed"), trial("canopy-service"))
    golden(standing(data).no_verdict or "")


def test_a_mode_whose_trials_are_all_contaminated_says_so(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial(), *of_canopy(trial, "contaminated", "contaminated"))
    golden(standing(data).no_verdict or "")


def test_trials_without_an_answer_qualify_also_the_reference(
    trial: Trial, failed: Trial, session: Session
) -> None:
    def with_limits(mode: str) -> list[TrialRecord]:
        stopped = (("max-turns", 2), ("timeout", 3))
        ends = [failed(mode, cause, "budget-reached", agent=at) for cause, at in stopped]
        return [trial(mode, agent=1), *ends]

    found = headline(session(*with_limits("baseline"), *with_limits("canopy")))
    said = "2 of 3 trials in the ratios ended without an answer (1 ran out of turns, 1 timed out)"
    assert [said in one.qualifications for one in found.standings] == [True, True]
    assert found.ratios is not None


def test_a_mode_without_any_answer_has_no_verdict(
    trial: Trial, failed: Trial, session: Session, golden: Sentences
) -> None:
    stopped = failed("canopy", "max-turns", "budget-reached")
    broken = failed("canopy", "exit-code", "agent-failed", agent=2)
    golden(standing(session(trial(), stopped, broken)).no_verdict or "")
    data = session(failed("baseline", "timeout", "budget-reached"), trial("canopy"))
    golden(headline(data).no_verdict or "")


def test_nothing_measured_is_no_verdict(failed: Trial, session: Session, golden: Sentences) -> None:
    limited = failed("baseline", "rate-limited", "provider-limited")
    golden(headline(session(limited)).no_verdict or "")
    golden(headline(session(modes=("baseline",))).no_verdict or "")


def test_who_did_not_use_the_tool_qualifies(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial(), *of_canopy(trial, "used", "unused", "unused"))
    found = headline(data)
    golden(standing(data).treatment)
    golden(*standing(data).qualifications)
    assert not found.all_used
    assert found.ratios is not None
    assert [one.as_used for one in found.ratios.columns] == [False, True]


def test_what_nobody_used_has_no_figures_as_used(trial: Trial, session: Session) -> None:
    found = headline(session(trial(), *of_canopy(trial, "unused", "unused")))
    assert found.ratios is not None
    assert found.ratios.columns == (Column(mode="canopy"),)
    assert not found.all_used


def test_agents_that_show_nothing_are_not_barred(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    found = standing(session(trial(), *of_canopy(trial, "unknown", "unknown")))
    assert (found.no_verdict, found.treatment) == (None, "")
    golden(*found.qualifications)


def test_a_trial_that_shows_nothing_qualifies(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    found = standing(session(trial(), *of_canopy(trial, "used", "unknown")))
    assert found.no_verdict is None
    golden(*found.qualifications)


def test_failed_calls_of_its_tools_qualify(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    calls = {"mcp__canopy__find": 4, "Grep": 9}
    failures = {"mcp__canopy__find": 1, "Grep": 5}
    data = session(trial(), trial("canopy", tool_calls=calls, tool_failures=failures))
    golden(*standing(data).qualifications)


def test_calls_that_were_never_answered_qualify(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    find = "mcp__canopy__find"
    calls: dict[str, Any] = {"tool_calls": {find: 2}, "tool_unanswered": {find: 1, "Grep": 3}}
    failed: dict[str, Any] = {"tool_calls": {find: 3}, "tool_failures": {find: 1}}
    said = standing(session(trial(), trial("canopy", **calls))).qualifications
    golden(*said)
    both = trial("canopy", **calls), trial("canopy", agent=2, **failed, tool_unanswered={find: 1})
    golden(*standing(session(trial(), *both)).qualifications)


def test_a_contradiction_qualifies_and_an_explanation_does_not(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    def with_counters(verdict: str) -> Headline:
        why = {"counters": verdict, "counters_why": ["So."]}
        return headline(session(trial(), trial("canopy"), swarm("canopy", **why)))

    golden(*with_counters("contradict").standings[0].qualifications)
    assert not has_qualifications(with_counters("explained"))


def test_a_start_event_that_contradicts_qualifies(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    said = trial("canopy", evidence={"start": "contradict", "why": ["It was failed."]})
    golden(*standing(session(trial(), said)).qualifications)


def test_counters_that_were_not_compared_qualify(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    found = standing(session(trial(), trial("canopy"), swarm("canopy", counters=None)))
    golden(*found.qualifications)


@pytest.mark.parametrize(
    "service",
    [None, {"query_cache_hit_rate": None}, {"queries": 2, "expands": None}, {"queries": -2}],
)
def test_one_counter_of_two_that_was_not_compared_qualifies(
    service: dict[str, Any] | None, trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    change = {"feedback": {"query_events": 3, "expand_events": 3}, "service": service}
    record = swarm("canopy-service", difference=change, after=change, before=change)
    golden(
        *standing(
            session(trial(), trial("canopy-service"), record), "canopy-service"
        ).qualifications
    )


def test_a_database_that_nobody_had_reason_to_make_qualifies_nothing(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    none: dict[str, Any] = {"feedback": None}
    record = swarm("canopy", difference=none, after=none, before=none)
    found = headline(session(trial(), trial("canopy"), record))
    assert not has_qualifications(found)
    assert "counters" in found.standings[-1].treatment
    broken = swarm("canopy", difference=none, after={"feedback": {"query_events": None}})
    assert has_qualifications(headline(session(trial(), trial("canopy"), broken)))


def test_a_server_slow_to_start_qualifies(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    overhead = [{"mode": "canopy", "server_seconds": {"canopy": 6.24, "quick": 5.0}}]
    golden(*standing(session(trial(), trial("canopy"), overhead=overhead)).qualifications)


def test_tools_without_a_use_qualify_where_the_mode_was_not_used(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    unusable = {"unusable_tools": ["b", "a"]}
    assert not has_qualifications(headline(session(trial(), trial("canopy", **unusable))))
    golden(*standing(session(trial(), *of_canopy(trial, "unused", **unusable))).qualifications)


@pytest.mark.parametrize(
    ("shown", "qualified"),
    [
        ({"mcp_servers": {"canopy": "failed", "other": "connected"}}, True),
        ({"mcp_servers": {"canopy": "pending", "other": "connected"}}, False),
    ],
)
def test_one_server_of_several_that_was_not_connected_qualifies(
    shown: dict[str, Any], qualified: bool, trial: Trial, session: Session
) -> None:
    said = trial("canopy", evidence={"connected": ["other"]}, **shown)
    assert has_qualifications(headline(session(trial(), said))) is qualified


def test_failed_trials_of_the_reference_qualify(
    trial: Trial, failed: Trial, session: Session, golden: Sentences
) -> None:
    data = session(
        trial(agent=1),
        failed("baseline", "exit-code", "agent-failed", agent=2),
        failed("baseline", "rate-limited", "provider-limited", agent=3),
        trial("canopy"),
        planned={"baseline": 4, "canopy": 1},
    )
    golden(*standing(data, "baseline").qualifications)


def test_a_server_without_counters_has_two_witnesses(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    data = session(trial(), trial("canopy"), swarm("canopy", counters=None, difference={}))
    bare = tuple(mode.model_copy(update={"probes": ()}) for mode in data.experiment.modes)
    experiment = data.experiment.model_copy(update={"modes": bare})
    found = headline(SessionData(experiment=experiment, trials=data.trials, swarms=data.swarms))
    assert not has_qualifications(found)
    assert "transcripts alone" in found.standings[-1].treatment


def test_the_words_on_counters_are_for_each_mode(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    bare = swarm("canopy-service", counters=None, difference={})
    data = session(trial(), trial("canopy"), trial("canopy-service"), bare)
    modes = tuple(
        mode.model_copy(update={"probes": ()}) if mode.name == "canopy-service" else mode
        for mode in data.experiment.modes
    )
    experiment = data.experiment.model_copy(update={"modes": modes})
    found = headline(SessionData(experiment=experiment, trials=data.trials, swarms=data.swarms))
    assert not has_qualifications(found)
    assert ["counters" in it.treatment for it in found.standings] == [True, False]


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


def details(runs: int = 1) -> list[Grid]:
    """The tables of the section that a statistician reads."""
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
    return [block for block in found.blocks if isinstance(block, Grid)]


def of(mode: str, key: str) -> tuple[Any, ...]:
    """The cells of a metric of a mode: the estimate, its interval, three counts, and three p."""
    names = (mode, METRICS[key].title)
    return next(row[2:] for row in details()[0].rows if row[:2] == names)


def logs(mode: str) -> list[float]:
    pairs = zip(TOKENS[mode], TOKENS["baseline"], strict=True)
    return [math.log(own / reference) for own, reference in pairs]


def test_other_estimates_and_the_signs_of_the_tasks() -> None:
    middle, interval, *signs, p, floor, _ = of("canopy", "effective_tokens")
    ratios = logs("canopy")
    averages = [(a + b) / 2 for at, a in enumerate(ratios) for b in ratios[at:]]
    assert middle.value == pytest.approx(math.exp(np.median(averages)))
    assert interval.low < middle.value < interval.high < 1
    assert [it.value for it in signs] == [7, 0, 1]
    test = stats.permutation_test((ratios,), np.mean, permutation_type="samples")
    assert p.value == pytest.approx(test.pvalue)
    assert floor.value == 2 / 2**8


def test_only_the_primary_metric_is_adjusted_for_all_modes() -> None:
    tests = [stats.ttest_1samp(logs(mode), 0).pvalue for mode in ("canopy", "canopy-service")]
    assert of("canopy", "effective_tokens")[-1].value == pytest.approx(2 * tests[0])
    assert of("canopy-service", "effective_tokens")[-1].value == pytest.approx(tests[1])
    assert of("canopy", "cost")[-1] is None


def test_right_answers_have_intervals_where_each_task_was_asked_once() -> None:
    _, shares = details()
    (share, tasks, interval, none), canopy, service = ([*row[2:]] for row in shares.rows)
    wilson = stats.binomtest(6, 8).proportion_ci(method="wilson")
    assert isinstance(share, Value)
    assert isinstance(tasks, Value)
    assert isinstance(interval, Interval)
    assert (share.value, tasks.value, none) == (6 / 8, 8, None)
    assert (interval.low, interval.high) == pytest.approx((wilson.low, wilson.high))
    twice_gained = Value(scale=Scale.PROBABILITY, value=0.25)  # twice half of a quarter
    assert (canopy[0], canopy[-1]) == (Value(scale=Style.PERCENT, value=1.0), twice_gained)
    assert isinstance(service[-1], Value)
    assert service[-1].value == pytest.approx(0.5)
    assert len(details(runs=2)) == 1
