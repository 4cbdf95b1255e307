"""Whatever stands against the figures of an arm is said by all who read them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from swarm_bench.analysis.cases.model_summary import ComparedModels
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.summary import ComparedArms, list_case_warnings
from swarm_bench.analysis.diff.cases import make_case_diff
from swarm_bench.analysis.export_table import make_case_table
from swarm_bench.analysis.gate.limits import make_case_gate
from swarm_bench.analysis.retrieve.summary import ComparedSearches
from swarm_bench.core.report.gate import Bound, Kind, Limit, State
from swarm_bench.core.session.cases import LONGEST_ANSWER
from swarm_bench.core.status import Cause
from swarm_bench.reports.exports import render_junit
from swarm_bench.reports.markdown import render
from tests.builders.answers import answer_lines
from tests.builders.cases import HIGH, LOW, case_session, model_session

ARMS = {"a": LOW, "b": HIGH}
NEVER = [Cause.ERROR_RESULT] * 20


def with_records(**fields: Any) -> ComparedModels:
    return model_session(ARMS, fields={"finish": "stop"} | fields)


def elsewhere(number: int) -> ComparedModels:
    """Make a session in which so many answers of an arm are empty."""
    whole = with_records()
    others = [it for it in whole.records if it.arm != "b"]
    own = [it for it in whole.records if it.arm == "b"]
    empty = [it.model_copy(update={"elsewhere": "reasoning"}) for it in own[:number]]
    return replace(whole, records=[*others, *empty, *own[number:]])


def scored_by_two() -> ComparedModels:
    whole = with_records(scores={"right": 1})
    newer = [
        it.model_copy(update={"scoring_rules": 2}) if it.arm == "b" else it for it in whole.records
    ]
    return replace(whole, records=newer, rules_now=2)


def unscored() -> CaseSession:
    first, *others = case_session(ARMS).records
    failed = first.model_copy(update={"arm": "b", "score_failures": {"tone": "KeyError"}})
    last = next(it for it in others if it.case == first.case and it.arm == "b")
    every = [first, *(failed if it is last else it for it in others)]
    return replace(case_session(ARMS), records=every)


CASES: dict[str, Callable[[], CaseSession]] = {
    "find_changed_records": lambda: replace(case_session(ARMS), changed=True),
    "find_failed_trials": lambda: case_session(ARMS, {"b": [Cause.TIMEOUT]}),
    "find_failed_trials, none answered": lambda: case_session(
        ARMS, {"b": [Cause.CONTEXT_OVERFLOW, Cause.REFUSED, *[Cause.TIMEOUT] * 18]}
    ),
    "find_answers_elsewhere": lambda: elsewhere(3),
    "find_answers_elsewhere, all": lambda: elsewhere(20),
    "find_empty_answers": lambda: with_records(answer=" \n"),
    "find_cut_answers": lambda: with_records(answer="A" * LONGEST_ANSWER),
    "find_unexplained_ends": lambda: with_records(finish=None, answer="A"),
    "find_earlier_versions": lambda: with_records(earlier_cause=Cause.ERROR_RESULT),
    "find_other_rules": lambda: replace(with_records(scores={"right": 1}), rules_now=2),
    "find_other_rules, some": scored_by_two,
    "find_understated": lambda: with_records(understated=("output",)),
    "find_contaminated": lambda: with_records(answers_read=("datasets/shipped",)),
    "find_failed_trials, all": lambda: case_session(ARMS, {"b": NEVER}),
    "find_failed_scorers": unscored,
    "find_changed_requests": lambda: with_records(omitted=("temperature",)),
    "find_unjudged": lambda: with_records(judge_requests=2, judge_failed=1),
    "find_not_run": lambda: case_session(ARMS, {"b": [None]}),
}
"""Kinds that only sessions of `retrieve`, of several prompts, of agents or of the reference have
are tested with them."""


def test_each_kind_has_a_case() -> None:
    kinds = {name.partition(",")[0] for name in CASES}
    others = {
        "find_search_caveats",
        "find_exposed_keys",
        "find_equal_requests",
        "find_rehearsal",
        "find_wrong_reference",
    }
    every = {
        kind.__name__
        for session in (ComparedArms, ComparedModels, ComparedSearches)
        for kind in session.kinds
    }
    assert kinds | others == every


@pytest.mark.parametrize("name", CASES)
def test_each_kind_of_caveat_is_read_by_all(name: str) -> None:
    session = CASES[name]()
    kind = next(it for it in session.kinds if it.__name__ == name.partition(",")[0])
    own = [*kind(session, "b")]
    assert own
    line = answer_lines(render(session.document), "b")
    assert {it.warning for it in own if it.warning} <= {*list_case_warnings(session)}
    limit = Limit(kind=Kind.MAX, metric="words", value=999, mode="b")
    held = make_case_gate(session, [limit], Bound.ESTIMATE)
    other = replace(session, experiment=session.experiment.model_copy(update={"session": "t"}))
    both = make_case_diff(other, session, (Path("a"), Path("b")))
    of_arm = next(it for it in both.modes if it.mode == "b")
    junit = render_junit(make_case_table(session))
    for caveat in own:
        assert caveat.qualification in line
        assert caveat in make_case_table(session).caveats["b"]
        assert caveat in of_arm.caveats["A"]
        assert caveat in of_arm.caveats["B"]
        assert f'value="{caveat.qualification}"' in junit
        if caveat.is_void:
            assert ": no verdict.**" in line
            assert held.verdicts[0].state is State.MISSING
            assert caveat.qualification in held.verdicts[0].why
            assert not of_arm.rows
            assert 'type="no-evidence"' in junit
        else:
            assert caveat in held.caveats["b"]


def test_answers_of_a_file_are_whole_and_may_be_empty() -> None:
    """What is no model is a control, and says nothing of its ends."""
    assert not with_records(finish=None, answer="", whole=True).caveats("b")


def test_an_empty_answer_has_one_caveat() -> None:
    (caveat,) = with_records(answer="", elsewhere="reasoning").caveats("b")
    assert caveat.is_void
    (caveat,) = with_records(answer="").caveats("b")
    assert not caveat.is_void


def test_more_trials_than_are_planned_are_not_missing() -> None:
    whole = case_session(ARMS, runs=2)
    experiment = whole.experiment.model_copy(update={"runs": 1})
    assert not replace(whole, experiment=experiment).caveats("b")


def test_the_caveats_of_the_reference_are_said_once() -> None:
    session = case_session(ARMS, {"a": [Cause.TIMEOUT]})
    (caveat,) = session.caveats("a")
    summary = render(session.document).partition("## Warnings")[0]
    assert caveat.qualification in answer_lines(summary, "a")
    assert summary.count(caveat.qualification) == 1


def test_an_arm_without_any_trial_has_a_suite() -> None:
    session = case_session(ARMS, {"b": [None] * 20})
    (caveat,) = session.caveats("b")
    suites = ElementTree.fromstring(render_junit(make_case_table(session)).encode())
    assert [suite.get("name") for suite in suites] == ["a", "b"]
    assert [it.get("value") for it in suites[1].iter("property")] == [caveat.qualification]


def test_the_caveats_of_an_arm_are_collected_once() -> None:
    session = case_session(ARMS, {"b": [Cause.TIMEOUT]})
    assert session.caveats("b")
    assert session.caveats("b") is session.caveats("b")


def test_an_arm_without_one_answer_is_no_worse() -> None:
    session = case_session({"a": HIGH, "b": LOW}, {"b": NEVER})
    (caveat,) = session.caveats("b")
    assert caveat.is_void
    assert not any(it.is_void for it in session.caveats("a"))
    whole = elsewhere(20)
    assert [it.is_void for it in whole.caveats("b")] == [True]
    assert not any(it.is_void for it in elsewhere(19).caveats("b"))
    few = case_session({"a": HIGH, "b": LOW}, {"b": NEVER[:4]})
    assert not any(it.is_void for it in few.caveats("b"))
