"""An agent that the provider turned away ends a session: the others would be turned away too."""

from datetime import UTC, datetime
from typing import Any

import pytest

from swarm_bench.benchmarks.swarm.store import check_authorized, prove
from swarm_bench.core.errors import NoCredit, NotAuthorized
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.session.records import Evidence, SwarmRecord, Treatment, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.probes.registered import SHIPPED
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences
from tests.builders.sessions import make_failed


@pytest.mark.parametrize(
    ("cause", "error"), [("not-authorized", NotAuthorized), ("no-credit", NoCredit)]
)
def test_it_ends_for_want_of_a_key_or_of_money(cause: str, error: type[Exception]) -> None:
    turned_away = make_failed("baseline", cause, "provider-limited", detail="pay first")
    with pytest.raises(error, match="pay first") as raised:
        check_authorized(experiment(), [turned_away])
    assert type(raised.value) is error


def test_it_does_not_end_for_what_passes() -> None:
    check_authorized(experiment(), [make_failed("baseline", "rate-limited", "provider-limited")])


NOW = datetime(2026, 11, 21, tzinfo=UTC)
PACK = "mcp__canopy__canopy_evidence_pack"
TOOL: dict[str, Any] = {"servers": {"canopy": {}}, "probes": ("feedback",)}


def with_mode(name: str, **more: Any) -> Experiment:
    modes = (Mode(name=name, source="x", **more),)
    return experiment(modes=[name]).model_copy(update={"modes": modes})


def swarm(mode: str, queries: int | None, agents: int = 1) -> SwarmRecord:
    change = None if queries is None else {"query_events": queries, "expand_events": 0}
    return SwarmRecord(
        session="s", swarm="w", mode=mode, run=1, agents=tuple(range(1, agents + 1)),
        before={"feedback": None}, after={"feedback": change}, difference={"feedback": change},
    )  # fmt: skip


def trial(label: Treatment, calls: dict[str, int] | None = None, **more: Any) -> TrialRecord:
    values = {"agent": 1, "cause": Cause.FINISHED, "started_at": NOW, **more}
    return TrialRecord(
        mode="m", task="t", retrieval=label, evidence=Evidence(), tool_calls=calls, **values
    )


def labels(trials: list[TrialRecord]) -> list[Treatment | None]:
    return [trial.retrieval for trial in trials]


def why(trial: TrialRecord) -> str:
    return " ".join(trial.evidence.why) if trial.evidence else ""


def test_what_the_counters_say_stands_in_the_records_of_swarm_and_trials() -> None:
    given = trial(Treatment.USED, {PACK: 2})
    proved, (amended,) = prove(with_mode("canopy", **TOOL), swarm("canopy", 3), [given], SHIPPED)
    assert (proved.counters, amended.retrieval) == ("explained", Treatment.USED)
    assert amended.evidence is not None
    assert amended.evidence.counters == "explained"
    assert amended.evidence.why == proved.counters_why
    assert "asks a second time" in why(amended)


def test_a_blind_agent_that_was_alone_used_the_tool_if_it_was_asked(golden: Sentences) -> None:
    one = with_mode("canopy", **TOOL)
    _, (amended,) = prove(one, swarm("canopy", 3), [trial(Treatment.UNKNOWN)], SHIPPED)
    assert amended.retrieval is Treatment.USED
    golden(why(amended))
    _, (quiet,) = prove(one, swarm("canopy", 0), [trial(Treatment.UNKNOWN)], SHIPPED)
    assert quiet.retrieval is Treatment.UNKNOWN
    _, several = prove(one, swarm("canopy", 3, agents=2), [trial(Treatment.UNKNOWN)] * 2, SHIPPED)
    assert labels(several) == [Treatment.UNKNOWN] * 2
    shared = one.model_copy(update={"service_url": "http://127.0.0.1:3000"})
    _, (asked,) = prove(shared, swarm("canopy", 3), [trial(Treatment.UNKNOWN)], SHIPPED)
    assert asked.retrieval is Treatment.UNKNOWN


def test_a_use_that_the_tool_never_saw_is_not_proved() -> None:
    one = with_mode("canopy", **TOOL)
    proved, (amended,) = prove(
        one, swarm("canopy", None), [trial(Treatment.USED, {PACK: 2})], SHIPPED
    )
    assert (proved.counters, amended.retrieval) == ("contradict", Treatment.UNKNOWN)
    assert "saw none of the calls" in why(amended)
    proved, (less,) = prove(one, swarm("canopy", 1), [trial(Treatment.USED, {PACK: 2})], SHIPPED)
    assert (proved.counters, less.retrieval) == ("contradict", Treatment.USED)


@pytest.mark.parametrize("label", [Treatment.NOT_GIVEN, Treatment.UNKNOWN])
def test_counters_that_move_where_nothing_is_given_contaminate(label: Treatment) -> None:
    baseline = with_mode("baseline")
    proved, (alone,) = prove(baseline, swarm("baseline", 2), [trial(label, {})], SHIPPED)
    assert (proved.counters, alone.retrieval) == ("contradict", Treatment.CONTAMINATED)
    assert "2 query events" in why(alone)
    assert "cannot be told" not in why(alone)
    both = [trial(label, {}), trial(label, None, cause=Cause.NOT_STARTED, started_at=None)]
    _, amended = prove(baseline, swarm("baseline", 2, agents=2), both, SHIPPED)
    assert labels(amended) == [Treatment.CONTAMINATED]  # the other one never began
    assert "cannot be told which" in why(amended[0])
    quiet, (still,) = prove(baseline, swarm("baseline", None), [trial(label, {})], SHIPPED)
    assert (quiet.counters, still.retrieval) == ("agree", label)


def test_a_mode_without_counters_keeps_its_labels() -> None:
    other = with_mode("other", servers={"files": {}})
    record = swarm("other", None).model_copy(update={"before": {}, "after": {}, "difference": {}})
    proved, (amended,) = prove(
        other, record, [trial(Treatment.USED, {"mcp__files__read": 1})], SHIPPED
    )
    assert (proved.counters, proved.counters_why) == (None, ())
    assert amended == trial(Treatment.USED, {"mcp__files__read": 1})
