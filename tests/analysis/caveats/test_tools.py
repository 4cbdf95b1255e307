"""Whatever a warning says of a mode's treatment, the headline says too."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.analysis.caveats import tools as tool_caveats
from swarm_bench.analysis.caveats.caveat import warned
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.records import SessionData
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_swarm, make_trial

FIND, READ = "mcp__canopy__find", "mcp__canopy__read"
STILL = {"feedback": {"query_events": 0, "expand_events": 0}}
DEAD: dict[str, Any] = {"tool_calls": {"Grep": 3}, "tool_failures": {"Grep": 3}}


def canopy(*records: Any, **changes: Any) -> SessionData:
    return make_session(make_trial(), make_trial("canopy", **changes), *records)


def same(question: str, answer: str) -> dict[str, Any]:
    return {FIND: {"answers": 1, "questions": [question], "different": [answer]}}


def audited(**audit: Any) -> SessionData:
    return replace(canopy(trial="x"), audit=Audit(sealed=2, **audit))


CASES: dict[str, Callable[[], SessionData]] = {
    "changed": lambda: audited(edited=frozenset({("x", 1)})),
    "changed_beside": lambda: audited(edited_beside={("retrieval.jsonl", "canopy"): 1}),
    "unrecorded": lambda: canopy(make_swarm("canopy", agents=[2])),
    "contradicted_by_streams": lambda: audited(differing={("x", 1): ("total_tokens",)}),
    "contaminated": lambda: canopy(make_trial("canopy", agent=2, retrieval="contaminated")),
    "reached_outside": lambda: canopy(evidence={"outside": ["It started codegraph."]}),
    "contradicted": lambda: canopy(
        make_swarm("canopy", counters="contradict", counters_why=["So."])
    ),
    "not_exercised": lambda: canopy(make_swarm("canopy", difference=STILL), retrieval="unknown"),
    "failed_scorers": lambda: canopy(score_failures={"tone": "KeyError: 'a'"}),
    "missing_figures": lambda: canopy(make_trial("canopy", agent=2, cost=None)),
    "single_lines": lambda: canopy(result_lines=1),
    "same_text": lambda: canopy(
        make_trial("canopy", agent=2, task="b", answer_digest="d"), answer_digest="d"
    ),
    "labels": lambda: canopy(retrieval="unused"),
    "unclear": lambda: canopy(evidence={"retrieved": 0, "unclear": ["mcp__canopy__list"]}),
    "hollow_answers": lambda: canopy(tool_answers={FIND: {"answers": 2, "empty": 2}}),
    "unusable": lambda: canopy(retrieval="unused", unusable_tools=["a"]),
    "nameless": lambda: canopy(names_cut=3),
    "broken": lambda: canopy(**DEAD),
    "unheard": lambda: canopy(make_swarm("canopy", counters=None)),
    "shared": lambda: make_session(
        make_trial(), make_trial("canopy-service"), service_url="http://127.0.0.1:3000"
    ),
    "brought": lambda: canopy(make_swarm("canopy", brought=[".canopy/"])),
    "littered": lambda: canopy(make_swarm("canopy", unexpected=["CLAUDE.md"], unexpected_count=1)),
    "instructions_changed": lambda: canopy(
        make_swarm("canopy", instructions_changed=["CLAUDE.md"])
    ),
    "not_torn_down": lambda: canopy(make_swarm("canopy", teardown_failure="it ended with 1")),
    "counted_twice": lambda: canopy(make_swarm("canopy"), attempt=2),
}


def test_each_kind_has_a_case() -> None:
    assert set(CASES) == {kind.__name__ for kind in tool_caveats.KINDS}


@pytest.mark.parametrize("name", CASES)
def test_a_warning_about_a_mode_qualifies_the_headline(name: str) -> None:
    data = CASES[name]()
    (kind,) = [one for one in tool_caveats.KINDS if one.__name__ == name]
    warnings = list(warned(Selection(data, METRICS), kind))
    assert warnings
    found = summarise(data)
    assert set(warnings) <= set(found.warnings)
    standing = found.headline.standings[-1]
    assert standing.mode.startswith("canopy")
    assert standing.no_verdict or standing.qualifications
    assert found.headline.qualified


def test_equal_answers_to_one_task_are_none_to_different_ones() -> None:
    again = make_trial("canopy", agent=2, run=2, answer_digest="d")
    other = make_trial("canopy", agent=2, task="b", answer_digest="e")
    for more in (again, other):
        found = summarise(canopy(more, answer_digest="d"))
        assert not any("same text" in one for one in found.warnings)


def test_what_was_set_aside_qualifies_every_mode() -> None:
    """Also those that give no tool: nobody knows what else was changed."""
    data = replace(make_session(make_trial(), make_trial("told")), planted=("planted-1-x",))
    found = summarise(data)
    said = [(one.mode, one.qualifications) for one in found.headline.standings]
    clause = ("files of the session were replaced while it ran",)
    assert said == [("baseline", clause), ("told", clause)]
    assert any("was set aside: planted-1-x." in one for one in found.warnings)


@pytest.mark.parametrize(
    ("evidence", "short", "long"),
    [
        ({"calls": 0}, "never called in 1 of 1 trial", "1 of 1 trial never called the"),
        ({"calls": 2, "failed": 2}, "called without an answer", "no call of it was answered"),
        (
            {"calls": 2, "failed": 1, "others": ["mcp__canopy__status"], "retrieved": 0},
            "called, but not to retrieve, in 1 of 1 trial (mcp__canopy__status)",
            "only for something other than retrieval",
        ),
    ],
)
def test_trials_that_did_not_use_the_tool_are_told_apart(
    evidence: dict[str, Any], short: str, long: str
) -> None:
    found = summarise(canopy(retrieval="unused", evidence=evidence))
    (standing,) = found.headline.standings
    assert [short in one for one in standing.qualifications] == [True]
    assert [long in one for one in found.warnings] == [True]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([{FIND: {"answers": 1, "empty": 1}}], ["all results were empty (1 answer)"]),
        (
            [{FIND: {"answers": 2, "empty": 2}}, {READ: {"answers": 1, "empty": 1}}],
            ["all results were empty (3 answers)"],
        ),
        (
            [{FIND: {"answers": 2, "empty": 2}, READ: {"answers": 1, "different": ["a"]}}],
            [f"all results of {FIND} were empty (2 answers)"],
        ),
        (
            [{FIND: {"answers": 1, "empty": 1}, READ: {"answers": 1, "different": ["a"]}}],
            ["1 of 2 results were empty"],
        ),
        ([{FIND: {"answers": 3, "empty": 1, "different": ["a", "b"]}}], []),
        ([{FIND: {"answers": 4, "errors": 1, "empty": 1}}], ["1 of 4 answers is an error text"]),
        (
            [{FIND: {"answers": 2, "errors": 1, "empty": 1}}, {FIND: {"answers": 1, "errors": 1}}],
            ["2 of 3 answers are error texts"],
        ),
        ([same("q1", "a"), same("q1", "a")], []),
        ([same("q1", "a"), same("q2", "b")], []),
        (
            [same("q1", "a"), same("q2", "a")],
            [f"every call of {FIND} got the same answer (2 answers to different questions)"],
        ),
        ([None, {}], ["what its tools answered cannot be told in 1 of 2 trials that used them"]),
    ],
)  # fmt: skip
def test_answers_without_anything_in_them_qualify(
    answers: list[dict[str, Any] | None], said: list[str]
) -> None:
    trials = [make_trial("canopy", agent=at, tool_answers=one) for at, one in enumerate(answers, 1)]
    (standing,) = summarise(make_session(make_trial(), *trials)).headline.standings
    assert list(standing.qualifications) == said


def test_a_status_may_be_the_same_in_every_call() -> None:
    trials = [make_trial("canopy", agent=at, tool_answers=same(f"q{at}", "a")) for at in (1, 2)]
    purposes = {"canopy": {FIND: "other"}}
    data = make_session(make_trial(), *trials, tool_purposes=purposes)
    assert not summarise(data).headline.qualified
