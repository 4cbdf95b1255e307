from datetime import UTC, datetime
from typing import Any

import pytest

from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.records import SwarmRecord, Treatment, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.probes.registered import SHIPPED
from swarm_bench.retrieval.witnesses.agreement import Finding, compare
from tests.builders.golden import Sentences

NOW = datetime(2026, 11, 21, tzinfo=UTC)
QUERY, PACK, EXPAND = (
    f"mcp__canopy__canopy_{name}" for name in ("query", "evidence_pack", "expand")
)
BASELINE = Mode(name="baseline", source="x")
ALONE = Mode(name="canopy", source="x", servers={"canopy": {}}, probes=("feedback",))
SERVICE = ALONE.model_copy(
    update={"services": ("canopy-service",), "probes": ("feedback", "service")}
)


def trial(calls: dict[str, int] | None = None, **more: Any) -> TrialRecord:
    values = {"agent": 1, "cause": Cause.FINISHED, "started_at": NOW, "tool_failures": {}, **more}
    return TrialRecord(mode="canopy", task="t", tool_calls=calls, **values)


def swarm(
    feedback: tuple[int, int] | None = None,
    service: tuple[int, int] | None = None,
    *,
    agents: int = 1,
    **more: Any,
) -> SwarmRecord:
    """Its counters: query events and expand events, queries and expands."""
    change: dict[str, Any] = {}
    if feedback:
        change["feedback"] = {"query_events": feedback[0], "expand_events": feedback[1]}
    if service:
        change["service"] = {"queries": service[0], "expands": service[1]}
    values = {"before": dict.fromkeys(change, {"a": 0}), "after": change, "difference": change}
    return SwarmRecord(
        session="s", swarm="w", mode="canopy", run=1, agents=tuple(range(1, agents + 1)),
        **{**values, **more},
    )  # fmt: skip


def finding(
    mode: Mode, record: SwarmRecord, *trials: TrialRecord, external: bool = False
) -> Finding:
    return compare(mode, record, trials, SHIPPED, external=external)


@pytest.mark.parametrize(
    ("mode", "calls", "failures", "feedback", "service", "expected"),
    [
        (ALONE, {}, {}, (0, 0), None, ("agree", None)),
        (ALONE, {QUERY: 2, PACK: 1, EXPAND: 1}, {}, (3, 1), None, ("agree", None)),
        (ALONE, {PACK: 1, EXPAND: 1}, {}, (1, 4), None, ("explained", "once for each handle")),
        (ALONE, {PACK: 2}, {}, (3, 0), None, ("explained", "asks a second time")),
        (ALONE, {PACK: 2}, {}, (5, 0), None, ("contradict", "5 query events")),
        (ALONE, {QUERY: 2}, {}, (3, 0), None, ("contradict", "2 answered calls")),
        (ALONE, {QUERY: 2}, {}, (1, 0), None, ("contradict", "1 query event,")),
        (ALONE, {QUERY: 2}, {QUERY: 1}, (1, 0), None, ("agree", None)),
        (ALONE, {QUERY: 2}, {QUERY: 1}, (2, 0), None, ("explained", "fails")),
        (ALONE, {PACK: 1, EXPAND: 2}, {}, (1, 1), None, ("contradict", "1 expand event")),
        (ALONE, {PACK: 1}, {}, (1, 2), None, ("contradict", "2 expand events")),
        (ALONE, {EXPAND: 1}, {EXPAND: 1}, (0, 0), None, ("agree", None)),
        (ALONE, {EXPAND: 1}, {EXPAND: 1}, (0, 1), None, ("contradict", "1 that failed")),
        (SERVICE, {PACK: 2, EXPAND: 1}, {}, (2, 1), (2, 1), ("agree", None)),
        (SERVICE, {QUERY: 2}, {}, (4, 0), (2, 0), ("explained", "written twice")),
        (SERVICE, {QUERY: 2}, {}, (2, 0), (0, 0), ("explained", "canopy's own language")),
        (SERVICE, {QUERY: 1, EXPAND: 1}, {}, (2, 0), (1, 0), ("explained", "did not come from")),
        (SERVICE, {PACK: 1, EXPAND: 1}, {}, (1, 5), (1, 5), ("explained", "one by one")),
        (SERVICE, {PACK: 2}, {PACK: 1}, (1, 0), (2, 0), ("explained", "fails")),
        (SERVICE, {PACK: 2}, {}, (1, 0), (1, 0), ("contradict", "1 query request")),
        (SERVICE, {PACK: 2}, {}, (2, 0), (4, 0), ("contradict", "4 query requests")),
        (SERVICE, {QUERY: 3}, {}, (0, 0), (0, 0), ("contradict", "0 query events")),
        (SERVICE, {"Read": 3}, {}, (2, 0), (2, 0), ("contradict", "0 answered calls")),
        (ALONE, {"mcp__canopy__canopy_status": 3}, {}, (0, 0), None, ("agree", None)),
        (ALONE, {"mcp__wrapped__search": 3}, {}, (3, 0), None, ("explained", "not canopy's")),
    ],
)  # fmt: skip
def test_counts_that_the_transcripts_allow(
    mode: Mode, calls: Any, failures: Any, feedback: Any, service: Any, expected: Any
) -> None:
    verdict, word = expected
    found = finding(mode, swarm(feedback, service), trial(calls, tool_failures=failures))
    assert found.agreement == verdict
    assert bool(found.reasons) is (word is not None)
    assert word is None or any(word in sentence for sentence in found.reasons)


@pytest.mark.parametrize(
    ("mode", "calls", "feedback", "service", "expected"),
    [
        (ALONE, {QUERY: 1}, (0, 0), None, "agree"),
        (ALONE, {QUERY: 1}, (1, 0), None, "explained"),
        (ALONE, {QUERY: 1}, (2, 0), None, "contradict"),
        (ALONE, {PACK: 1}, (2, 0), None, "explained"),
        (ALONE, {EXPAND: 1}, (0, 0), None, "agree"),
        (ALONE, {EXPAND: 1}, (0, 3), None, "explained"),
        (ALONE, {EXPAND: 1}, (1, 0), None, "contradict"),
        (SERVICE, {QUERY: 1}, (2, 0), (1, 0), "explained"),
        (SERVICE, {QUERY: 1}, (2, 0), (2, 0), "contradict"),
        (SERVICE, {EXPAND: 1}, (0, 2), (0, 2), "explained"),
    ],
)
def test_a_call_that_nobody_answered_may_have_been_counted_or_not(
    mode: Mode, calls: Any, feedback: Any, service: Any, expected: str, golden: Sentences
) -> None:
    found = finding(mode, swarm(feedback, service), trial(calls, tool_unanswered=calls))
    assert found.agreement == expected
    golden(*found.reasons)


def test_beside_answered_calls_one_that_nobody_answered_widens_the_interval_by_one() -> None:
    given = trial({QUERY: 4}, tool_failures={QUERY: 1}, tool_unanswered={QUERY: 1})
    verdicts = [finding(ALONE, swarm((count, 0)), given).agreement for count in range(1, 6)]
    assert verdicts == ["contradict", "agree", "explained", "explained", "contradict"]


def test_the_calls_of_all_agents_are_taken_together() -> None:
    both = trial({PACK: 2}), trial({PACK: 1, EXPAND: 1})
    assert finding(ALONE, swarm((3, 1), agents=2), *both).agreement == "agree"


def test_packs_are_compared_where_the_service_counts_them() -> None:
    change = {"service": {"queries": 2, "evidence_packs": 2, "expands": 0}}
    record = swarm(before=change, after=change, difference=change)
    assert finding(SERVICE, record, trial({PACK: 2})).agreement == "agree"
    assert finding(SERVICE, record, trial({QUERY: 1, PACK: 1})).agreement == "contradict"


@pytest.mark.parametrize(
    ("trials", "external", "word"),
    [
        ([trial({PACK: 1}), trial(None)], False, "not all agents show their calls"),
        ([trial({PACK: 1}), trial({}, cause=Cause.TIMEOUT)], False, "cut off"),
        (
            [trial({PACK: 1}), trial({}, cause=Cause.MAX_TURNS, turns_counted=True)],
            False,
            "cut off",
        ),
        ([trial({PACK: 1}), trial({}, subagents=1)], False, "sub-agents"),
        ([trial({PACK: 1})], False, "run again"),
        ([trial({PACK: 1}), trial({})], True, "nobody knows whose"),
    ],
)
def test_there_may_be_more_counts_than_calls(
    trials: list[TrialRecord], external: bool, word: str
) -> None:
    found = finding(SERVICE, swarm((9, 0), (9, 0), agents=2), *trials, external=external)
    assert found.agreement == "explained"
    assert all(word in sentence for sentence in found.reasons)
    fewer = finding(SERVICE, swarm((0, 0), (0, 0), agents=2), *trials, external=external)
    assert fewer.agreement == "contradict"


@pytest.mark.parametrize("counted", [6, 12])
def test_a_service_that_others_may_ask_never_agrees(counted: int) -> None:
    record = swarm((6, 0), (counted, 0))
    mine = finding(SERVICE, record, trial({PACK: 6}))
    assert mine.agreement == ("agree" if counted == 6 else "contradict")
    shared = finding(SERVICE, record, trial({PACK: 6}), external=True)
    assert (shared.agreement, shared.moved) == ("explained", None)
    (sentence,) = shared.reasons
    assert sentence.startswith(f"The service counted {counted} query requests")
    assert "nobody knows whose calls" in sentence
    assert finding(SERVICE, swarm((0, 0), (0, 0)), trial({}), external=True).agreement == "agree"


def test_calls_that_were_cut_off_need_not_have_been_counted() -> None:
    cut = trial({PACK: 2}, cause=Cause.TIMEOUT)
    assert finding(ALONE, swarm((0, 0)), cut).agreement == "explained"
    assert finding(ALONE, swarm((2, 0), agents=2), cut, trial({PACK: 3})).agreement == "contradict"


def test_a_trial_that_never_began_called_nothing() -> None:
    never = trial(None, cause=Cause.NOT_STARTED, started_at=None)
    assert finding(ALONE, swarm((1, 0)), never).agreement == "contradict"
    assert finding(ALONE, swarm((0, 0)), never).agreement == "agree"


def test_a_database_that_was_never_made_is_a_count_of_nothing() -> None:
    gone: dict[str, Any] = {"feedback": None}
    record = swarm(before=gone, after=gone, difference=gone)
    assert finding(ALONE, record, trial({})) == Finding(agreement="agree", moved=False)
    assert finding(ALONE, record, trial({PACK: 1})).agreement == "contradict"


def test_counters_that_could_not_be_read_say_nothing() -> None:
    assert finding(ALONE, swarm(), trial({PACK: 1})) == Finding()
    lost: dict[str, Any] = {"feedback": None}
    record = swarm(before={"feedback": {"query_events": 0}}, after=lost, difference=lost)
    found = finding(ALONE, record, trial({PACK: 1}))
    assert (found.agreement, found.moved) == (None, None)
    assert "could not be read" in found.reasons[0]
    broken = {"feedback": {"query_events": None, "expand_events": None}}
    record = swarm(before=broken, after=broken, difference=broken)
    assert finding(ALONE, record, trial({PACK: 1})).agreement is None


def test_counters_that_went_down_are_not_compared(golden: Sentences) -> None:
    """A service that was started again while the agents ran."""
    anew = {"service": {"queries": -3, "expands": 1}}
    record = swarm(before=anew, after=anew, difference=anew)
    found = finding(SERVICE, record, trial({PACK: 1}), external=True)
    assert (found.agreement, found.moved) == (None, None)
    golden(found.reasons[0])
    baseline = finding(BASELINE, record, trial({}), external=True)
    assert (baseline.agreement, baseline.moved) == (None, None)


def test_what_was_read_is_compared_and_what_was_not_is_said(golden: Sentences) -> None:
    """`/metrics` without `performance`: there is an answer, and no counter in it."""
    change: dict[str, Any] = {
        "feedback": {"query_events": 1, "expand_events": 0},
        "service": {"query_cache_hit_rate": None},
    }
    record = swarm(before=change, after=change, difference=change)
    found = finding(SERVICE, record, trial({PACK: 1}))
    assert found.agreement == "agree"
    golden(*found.reasons)
    # It is no contradiction beside one.
    assert len(finding(SERVICE, record, trial({PACK: 3})).reasons) == 1


def test_where_nothing_is_given_nothing_may_be_counted(golden: Sentences) -> None:
    none: dict[str, Any] = {"feedback": None}
    quiet = swarm(before=none, after=none, difference=none)
    assert finding(BASELINE, quiet, trial({})) == Finding(agreement="agree", moved=False)
    asked = finding(BASELINE, swarm((2, 1), before=none), trial({}))
    assert (asked.agreement, asked.moved) == ("contradict", True)
    golden(asked.reasons[0])
    appeared = finding(BASELINE, swarm((0, 0), before=none), trial({}))
    assert (appeared.agreement, appeared.moved) == ("contradict", True)
    assert "appeared" in appeared.reasons[0]
    was_there = finding(BASELINE, swarm((0, 0)), trial({}))
    assert (was_there.agreement, was_there.moved) == ("agree", False)


def test_a_database_without_a_count_proves_no_use_by_agents_that_show_all_they_had() -> None:
    """An agent can make the file, and would take the verdict from everybody."""
    none: dict[str, Any] = {"feedback": None}
    unreadable = {"feedback": {"query_events": None, "expand_events": None}}
    made = [
        swarm((0, 0), before=none, agents=2),
        swarm(before=none, after=unreadable, difference=unreadable, agents=2),
    ]
    clean = trial({"Read": 1}, retrieval=Treatment.NOT_GIVEN)
    for record in made:
        found = finding(BASELINE, record, clean, clean)
        assert (found.agreement, found.moved) == ("contradict", False)
        assert "does not prove use" in found.reasons[0]
        for other in (
            trial(None, retrieval=Treatment.NOT_GIVEN),
            trial({}, retrieval=Treatment.UNKNOWN),
            trial({}, retrieval=Treatment.NOT_GIVEN, cause=Cause.TIMEOUT),
        ):
            assert finding(BASELINE, record, clean, other).moved is True
        assert finding(BASELINE, record, clean).moved is True
    counted = swarm((1, 0), before=none, agents=2)
    assert finding(BASELINE, counted, clean, clean).moved is True


def test_a_service_of_others_that_is_asked_beside_the_baseline_proves_nothing(
    golden: Sentences,
) -> None:
    found = finding(BASELINE, swarm(None, (2, 0)), trial({}), external=True)
    assert (found.agreement, found.moved) == ("contradict", False)
    golden(found.reasons[0])


def test_what_cannot_be_read_in_the_place_of_a_database_tells_nothing(golden: Sentences) -> None:
    """As a pipe or a folder of an agent's."""
    none: dict[str, Any] = {"feedback": None}
    unread: dict[str, Any] = {"feedback": {"query_events": None, "expand_events": None}}
    found = finding(BASELINE, swarm(before=none, after=unread, difference=none), trial(None))
    assert found.agreement == "contradict"
    golden(found.reasons[0])


@pytest.mark.parametrize(("before", "after"), [({}, {}), (None, {}), ({}, {"query_events": 2})])
def test_readings_that_failed_are_no_counts_of_0_and_no_file_that_appeared(
    before: Any, after: Any
) -> None:
    record = swarm(
        before={"feedback": before}, after={"feedback": after}, difference={"feedback": None}
    )
    with_tool = finding(ALONE, record, trial({QUERY: 2}))
    assert (with_tool.agreement, with_tool.moved) == (None, None)
    assert "could not be read" in with_tool.reasons[0]
    assert finding(BASELINE, record, trial({})).agreement is None
