from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.analysis.caveats.no_verdict import explain_no_verdict
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from tests.builders.golden import Sentences
from tests.builders.reports import has_qualifications, summarise

Trial = Callable[..., TrialRecord]
Swarm = Callable[..., SwarmRecord]
Session = Callable[..., SessionData]

NO_COUNTS = {"feedback": {"query_events": 0, "expand_events": 0}}


def warnings(data: SessionData) -> list[str]:
    return list(summarise(data).warnings)


def test_a_good_session_has_none(trial: Trial, session: Session) -> None:
    data = session(trial(), trial("canopy"), trial("canopy-service"), planned={"baseline": 1})
    assert not has_qualifications(summarise(data).headline)
    assert warnings(data) == []
    assert summarise(data).retrieval_exercised is True


@pytest.mark.parametrize("cause", [cause for cause in Cause if cause is not Cause.FINISHED])
def test_every_cause_is_counted_and_said(
    cause: Cause, trial: Trial, failed: Trial, session: Session
) -> None:
    consequence = CONSEQUENCES[cause]
    bad = failed("baseline", cause, consequence.status, agent=2, detail="Because of this.")
    found = "\n".join(warnings(session(trial(agent=1), bad)))
    assert f"baseline: 1 of 2 trials {consequence.of(1)} (agent 2); " in found
    assert "Because of this." in found
    assert ("--continue" in found) is consequence.rerun


def test_an_answer_with_an_odd_end_is_counted_and_said(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    (warning,) = warnings(session(trial(agent=1), trial(agent=2, detail="It did not end")))
    golden(warning)


def test_trials_without_a_record_are_named(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial(), modes=("baseline", "canopy"), planned={"baseline": 1, "canopy": 4})
    (warning,) = warnings(data)
    golden(warning)


def test_nothing_measured_comes_first(failed: Trial, session: Session, golden: Sentences) -> None:
    data = session(failed("baseline", "workspace-failed", "harness-failed"))
    golden(warnings(data)[0])
    assert summarise(data).measured == 0


def test_a_contaminated_baseline_is_said(trial: Trial, session: Session, golden: Sentences) -> None:
    found = warnings(session(trial(retrieval="contaminated"), trial(agent=2), trial("canopy")))
    golden(found[0])


def test_agents_that_reached_answers_are_left_out_and_the_mode_is_still_judged(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    there = {"answers": ["It reached the task file (transcript)."]}
    data = session(trial(retrieval="contaminated", evidence=there), trial(agent=2), trial("canopy"))
    golden(warnings(data)[0])
    assert explain_no_verdict(Selection(data), "baseline") is None
    by_a_tool = trial(retrieval="contaminated", evidence={"foreign": ["mcp__notes__search"]})
    assert explain_no_verdict(Selection(session(by_a_tool, trial("canopy"))), "baseline")


def test_counts_in_the_baseline_are_contamination(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    counted = swarm(
        "baseline", counters=None, difference={"feedback": {"query_events": 2, "expand_events": 1}}
    )
    golden(*warnings(session(trial(), counted)))


def test_a_service_that_counted_nothing_is_said_plainly(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    idle = swarm("canopy-service", run=2, difference={"service": {"queries": 0, "expands": 0}})
    data = session(
        trial("canopy-service", run=1), trial("canopy-service", run=2, retrieval="unknown"), idle
    )
    found = warnings(data)
    golden(found[0])
    assert summarise(data).retrieval_exercised is False


def test_witnesses_that_disagree_are_said(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    old = swarm("canopy", difference=NO_COUNTS, counters=None)
    found = warnings(session(trial("canopy"), old))
    golden(found[0])


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("unused", "did not use"),
        ("not-connected", "were not connected to the retrieval tool: they ran without it"),
    ],
)
def test_trials_that_did_not_use_the_tool_are_counted(
    label: str, said: str, trial: Trial, session: Session
) -> None:
    found = warnings(session(trial("canopy", agent=1), trial("canopy", agent=2, retrieval=label)))
    assert found == [one for one in found if f"canopy: 1 of 2 trials {said}" in one]
    assert len(found) == 1


def test_lost_counters_are_said(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    lost = swarm("canopy", difference={"feedback": None}, counters=None)
    found = warnings(session(trial("canopy"), lost))
    golden(*found)


def test_a_failed_swarm_is_said_unless_a_later_attempt_made_it_good(
    trial: Trial, failed: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    broken = swarm("canopy", agents=(1,), difference={}, failure="The disk is full.")
    bad = failed("canopy", "workspace-failed", "harness-failed")
    golden(*warnings(session(bad, broken)))
    later = swarm("canopy", agents=(1,), attempt=2)
    assert warnings(session(trial("canopy"), broken, later)) == []


def test_differing_models_are_said(trial: Trial, session: Session, golden: Sentences) -> None:
    found = warnings(session(trial(model="m1"), trial(agent=2, model="m2")))
    golden(*found)


def test_what_was_met_while_reading_is_passed_on(trial: Trial, session: Session) -> None:
    assert warnings(session(trial(), warnings=("Line 3 is torn.",))) == ["Line 3 is torn."]


@pytest.mark.parametrize(
    ("labels", "exercised"),
    [
        (["used", "unused"], True),
        (["unused", "not-connected"], False),
        (["unknown", "unused"], None),
    ],
)
def test_without_counters_the_transcripts_tell(
    labels: list[str], exercised: bool | None, trial: Trial, swarm: Swarm, session: Session
) -> None:
    trials = [
        trial("canopy", agent=agent, retrieval=label) for agent, label in enumerate(labels, start=1)
    ]
    data = session(*trials, swarm("canopy", difference={"feedback": None}))
    assert summarise(data).retrieval_exercised is exercised


def test_a_service_that_others_may_ask_shows_no_exercise(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    def exercised(**changes: str) -> bool | None:
        asked = swarm("canopy-service", difference={"service": {"queries": 3, "expands": 0}})
        trials = trial("canopy-service", retrieval="unused")
        return summarise(session(trials, asked, **changes)).retrieval_exercised

    assert exercised() is True
    assert exercised(service_url="http://127.0.0.1:3000") is False


def test_without_a_tool_there_is_nothing_to_exercise(trial: Trial, session: Session) -> None:
    assert summarise(session(trial())).retrieval_exercised is None


def test_answers_that_the_rehearsal_server_did_not_give_are_said(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    asked = trial(agent=1, rehearsal=True, rehearsal_requests=4, model="rehearsal")
    data = session(asked, trial(agent=2, rehearsal=True, model="rehearsal"))
    (said,) = [one for one in warnings(data) if "rehearsal server" in one]
    golden(said)
    assert "(agent 2)" in said


def test_prices_that_nobody_knows_are_said(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    data = session(trial(agent=1, cost_unreliable=True, model="gpt-x"), trial(agent=2))
    golden(*warnings(data))


def test_a_trial_that_the_provider_cut_off_is_not_said_to_have_ignored_its_tool(
    failed: Trial, session: Session, golden: Sentences
) -> None:
    limited = failed("canopy", "rate-limited", "provider-limited", retrieval="unused")
    said = warnings(session(limited))
    golden(*said)
    assert not any("never called" in one for one in said)


def test_a_tool_that_never_works_is_said(trial: Trial, session: Session, golden: Sentences) -> None:
    broken = trial(agent=1, tool_calls={"grep": 3, "bash": 2}, tool_failures={"grep": 3, "bash": 1})
    said = warnings(session(broken, trial(agent=2)))
    golden(*said)
    assert not any("bash" in one for one in said)


def test_servers_that_were_not_connected_are_named(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    lost = trial("canopy", retrieval="not-connected", mcp_servers={"canopy": "failed"})
    golden(*warnings(session(lost)))


def test_what_contaminated_is_named(trial: Trial, session: Session, golden: Sentences) -> None:
    seen = trial(retrieval="contaminated", evidence={"foreign": ["mcp__notes__search"]})
    (said,) = [one for one in warnings(session(seen)) if "contaminated" in one]
    golden(said)


def test_a_contradiction_is_said_once_with_how_often(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    wrong = {"counters": "contradict", "counters_why": ["The counters have 3, the calls 9."]}
    data = session(
        trial("canopy", run=1),
        trial("canopy", run=2),
        trial("canopy", run=3),
        swarm("canopy", run=1, **wrong),
        swarm("canopy", run=2, **wrong),
        swarm("canopy", run=3, counters="explained", counters_why=["Known."]),
    )
    golden(*warnings(data))


def test_a_start_event_that_contradicts_the_transcript_is_said(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    said = {"start": "contradict", "why": ["canopy was failed, and answered."]}
    golden(*warnings(session(trial("canopy", evidence=said))))


def test_a_difference_that_a_rule_explains_is_no_warning(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    known = swarm("canopy", counters="explained", counters_why=["Queries count twice."])
    late = trial("canopy", evidence={"start": "explained", "why": ["It connected later."]})
    assert warnings(session(late, known)) == []


def test_counters_that_were_not_compared_are_said(
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
) -> None:
    golden(*warnings(session(trial("canopy"), swarm("canopy", counters=None))))


def test_a_tool_that_nobody_asked_has_no_lost_counters(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    idle = swarm("canopy", difference={"feedback": None}, counters="agree")
    assert not any("counters" in one for one in warnings(session(trial("canopy"), idle)))


def test_tools_that_the_agent_cannot_use_are_said(trial: Trial, session: Session) -> None:
    def unusing(label: str) -> SessionData:
        about = {"program": "scout", "retrieval": label}
        return session(
            trial("canopy", agent=1, unusable_tools=["b", "a"], **about),
            trial("canopy", agent=2, unusable_tools=["a"], **about),
        )

    said = "canopy: scout had no way to use 2 tools: a, b."
    assert said in warnings(unusing("unused"))
    used = summarise(unusing("used"))
    assert used.warnings == ()
    assert any("no way to use 2 tools" in note for note in used.notes)


def test_an_unused_tool_is_said_once(trial: Trial, swarm: Swarm, session: Session) -> None:
    data = session(trial("canopy", retrieval="unused"), swarm("canopy", difference=NO_COUNTS))
    (said,) = warnings(data)
    assert "1 of 1 trial did not use" in said


def test_what_must_be_known_of_a_tool_is_said(trial: Trial, session: Session) -> None:
    data = session(trial("canopy"))
    program = Program(name="own", note="of mine, its list of tools repeats itself")
    known = data.experiment.model_copy(update={"retrieval": {"canopy": program}})
    sentence = "canopy: of mine, its list of tools repeats itself."
    assert sentence in warnings(replace(data, experiment=known))


PRICE = {"input": 1, "cache_write": 1, "cache_read": 1, "output": 1, "table": "prices.toml"}


def missing(data: SessionData) -> list[str]:
    return [
        warning
        for warning in summarise(data).warnings
        if warning.startswith("The cost of ") and " missing" in warning
    ]


def test_a_model_without_a_price_is_named_and_where_to_add_it(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    unknown: dict[str, Any] = {"model": "gpt-9", "cost": None}
    data = session(trial(agent=1, **unknown), trial("canopy", **unknown), prices={"x": PRICE})
    (warning,) = missing(data)
    golden(warning)
    assert "the model gpt-9" in warning
    assert '["gpt-9"] in prices.toml' in warning


def test_a_model_that_nobody_knows_is_asked_for(trial: Trial, session: Session) -> None:
    (warning,) = missing(session(trial(model=None, cost=None), prices={}))
    assert "--model" in warning


def test_nothing_is_said_of_trials_without_tokens_nor_of_older_sessions(
    trial: Trial, session: Session
) -> None:
    unknown: dict[str, Any] = {"model": "gpt-9", "cost": None}
    assert missing(session(trial(**unknown), prices=None)) == []
    assert missing(session(trial(**unknown, effective_tokens=None), prices={})) == []
    assert missing(session(trial(**unknown), prices={"gpt-9": PRICE})) == []


def test_a_terminal_says_it_last_and_in_a_line(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    unknown: dict[str, Any] = {"model": "gpt-9", "cost": None}
    data = session(trial(agent=1, **unknown), trial("canopy", **unknown), prices={"x": PRICE})
    *others, cost = summarise(data).gravest
    golden(cost)
    assert len(cost) <= 130
    assert not any("cost" in it for it in others)
    several = [trial(agent=at, model=f"{'m' * 60}-{at}", cost=None) for at in range(1, 4)]
    long = summarise(session(*several, prices={"x": PRICE})).gravest[-1]
    golden(long)
    assert len(long) <= 130


def test_where_the_verdicts_are_on_the_cost_it_is_a_warning_as_any_other(
    trial: Trial, session: Session
) -> None:
    unknown: dict[str, Any] = {"model": "gpt-9", "cost": None}
    settings = {"primary": {"value": "cost", "source": "command line"}}
    data = session(trial(agent=1, **unknown), prices={"x": PRICE}, settings=settings)
    report = summarise(data)
    assert missing(data)[0] in report.gravest
