"""Whatever stands against a mode's figures is said by all who read them."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from swarm_bench.analysis.caveats.kinds import KINDS, list_kind_warnings
from swarm_bench.analysis.caveats.no_verdict import VOID, find_caveats
from swarm_bench.analysis.diff.modes import make_diff
from swarm_bench.analysis.export_table import make_swarm_table
from swarm_bench.analysis.gate.modes import make_gate
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.gate import Bound, Kind, Limit, State
from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData
from swarm_bench.core.status import Cause, Status
from swarm_bench.reports.exports import render_json, render_junit
from tests.analysis.caveats.test_censoring import with_stopped
from tests.analysis.caveats.test_order import TURNS, drifting
from tests.analysis.comparison.test_verdicts import BASELINE, TASKS, trials
from tests.builders.golden import Sentences
from tests.builders.reports import has_qualifications, summarise
from tests.builders.sessions import make_failed, make_session, make_swarm, make_trial

FIND, READ = "mcp__canopy__find", "mcp__canopy__read"
NEAR = Bound.ESTIMATE
STILL = {"feedback": {"query_events": 0, "expand_events": 0}}
REAL: dict[str, Any] = {"agent": {"name": "claude", "version": "2"}}
ALIKE = {"file_recall": 0.5, "file_recall_elsewhere": 0.45}
ONE_FILE = [
    {"id": f"t{n}", "title": "t", "prompt": f"Where is {n}?", "key": {"files": ["a.py"]}}
    for n in range(2)
]
DEAD: dict[str, Any] = {"tool_calls": {"Grep": 3}, "tool_failures": {"Grep": 3}}


def canopy(*records: Any, **changes: Any) -> SessionData:
    return make_session(make_trial(), make_trial("canopy", **changes), *records)


def same(question: str, answer: str) -> dict[str, Any]:
    return {FIND: {"answers": 1, "questions": [question], "different": [answer]}}


def audited(**audit: Any) -> SessionData:
    return replace(canopy(trial="x"), audit=Audit(sealed=2, **audit))


def by_hand(data: SessionData) -> SessionData:
    """Change the margin after it was named."""
    named = data.experiment.preregister().model_dump()
    margin = {"quality_margin": {"value": 1.0, "source": "default"}}
    edited = Experiment.model_validate({**named, "settings": {**named["settings"], **margin}})
    return replace(data, experiment=edited)


def with_keys(data: SessionData) -> SessionData:
    """Let its clones have had files with answer keys."""
    experiment = data.experiment
    update = {"answers": ("keys.toml",), "answers_since": datetime.now(UTC)}
    repository = experiment.repository.model_copy(update=update)
    return replace(data, experiment=experiment.model_copy(update={"repository": repository}))


CASES: dict[str, Callable[[], SessionData]] = {
    "find_changed_records": lambda: audited(edited=frozenset({("x", 1)})),
    "find_other_changes": lambda: audited(edited_beside={("retrieval.jsonl", "canopy"): 1}),
    "find_unrecorded": lambda: canopy(make_swarm("canopy", agents=[2])),
    "find_stream_contradictions": lambda: audited(differing={("x", 1): ("total_tokens",)}),
    "find_contaminated": lambda: canopy(make_trial("canopy", agent=2, retrieval="contaminated")),
    "find_reached_outside": lambda: canopy(evidence={"outside": ["It started codegraph."]}),
    "find_contradictions": lambda: canopy(
        make_swarm("canopy", counters="contradict", counters_why=["So."])
    ),
    "find_not_exercised": lambda: canopy(
        make_swarm("canopy", difference=STILL), retrieval="unknown"
    ),
    "find_failed_scorers": lambda: canopy(score_failures={"tone": "KeyError: 'a'"}),
    "find_missing_figures": lambda: canopy(make_trial("canopy", agent=2, cost=None)),
    "find_single_lines": lambda: canopy(result_lines=1),
    "find_same_text": lambda: canopy(
        make_trial("canopy", agent=2, task="b", answer_digest="d"), answer_digest="d"
    ),
    "find_same_names": lambda: make_session(
        *(make_trial(mode, task_id="t0", scores=ALIKE) for mode in ("baseline", "canopy")),
        tasks=TASKS,
    ),
    "find_constant_level": lambda: make_session(
        *(
            make_trial(mode, task_id=task["id"], scores=ALIKE)
            for mode in ("baseline", "canopy")
            for task in ONE_FILE
        ),
        tasks=ONE_FILE,
    ),
    "find_unused": lambda: canopy(retrieval="unused"),
    "find_unclear_use": lambda: canopy(evidence={"retrieved": 0, "unclear": ["mcp__canopy__list"]}),
    "find_hollow_answers": lambda: canopy(tool_answers={FIND: {"answers": 2, "empty": 2}}),
    "find_unusable_tools": lambda: canopy(retrieval="unused", unusable_tools=["a"]),
    "find_shortened_names": lambda: canopy(names_cut=3),
    "find_broken_tools": lambda: canopy(**DEAD),
    "find_missing_counters": lambda: canopy(make_swarm("canopy", counters=None)),
    "find_shared_counters": lambda: make_session(
        make_trial(), make_trial("canopy-service"), service_url="http://127.0.0.1:3000"
    ),
    "find_committed_index": lambda: canopy(make_swarm("canopy", brought=[".canopy/"])),
    "find_exposed_keys": lambda: with_keys(canopy()),
    "find_unexpected_files": lambda: canopy(
        make_swarm("canopy", unexpected=["CLAUDE.md"], unexpected_count=1)
    ),
    "find_changed_instructions": lambda: canopy(
        make_swarm("canopy", instructions_changed=["CLAUDE.md"])
    ),
    "find_failed_teardown": lambda: canopy(
        make_swarm("canopy", teardown_failure="it ended with 1")
    ),
    "find_double_counts": lambda: canopy(make_swarm("canopy"), attempt=2),
    "find_set_by_hand": lambda: by_hand(canopy()),
    "find_replaced_files": lambda: replace(canopy(), planted=("planted-1-x",)),
    "find_omitted": lambda: canopy(make_failed("canopy", "exit-code", "agent-failed", agent=2)),
    "find_unfinished": lambda: canopy(
        make_trial("canopy", agent=2, status=Status.BUDGET_REACHED, cause=Cause.TIMEOUT)
    ),
    "find_uneven_failures": lambda: make_session(
        *(make_trial(agent=agent) for agent in range(1, 5)),
        *(make_trial("canopy", agent=agent) for agent in (1, 2)),
        *(make_failed("canopy", "exit-code", "agent-failed", agent=n) for n in (3, 4)),
    ),
    "find_uneven_losses": lambda: canopy(make_trial("canopy", agent=2, attempt=2), attempt=2),
    "find_placebo_caveats": lambda: make_session(
        make_trial(), make_trial("placebo", effective_tokens=100), make_trial("canopy"), **REAL
    ),
    "find_unknown_use": lambda: canopy(retrieval="unknown"),
    "find_stopped_as_worst": lambda: make_session(
        *BASELINE, *with_stopped(trials("canopy", 0.7), 1), tasks=TASKS, runs=3
    ),
    "find_drift_caveat": lambda: drifting(TURNS, 1.05),
    "find_constant_order": lambda: make_session(
        make_trial(started_at="2026-01-02T03:04:05Z"),
        make_trial("canopy", started_at="2026-01-02T03:05:05Z"),
    ),
    "find_failing_calls": lambda: canopy(tool_calls={FIND: 3}, tool_failures={FIND: 1}),
    "find_slow_servers": lambda: make_session(
        make_trial(),
        make_trial("canopy"),
        overhead=({"mode": "canopy", "server_seconds": {"canopy": 9.0}},),
    ),
}


def test_each_kind_has_a_case() -> None:
    assert set(CASES) == {kind.__name__ for kind in KINDS}


@pytest.mark.parametrize("name", CASES)
def test_each_kind_of_caveat_is_read_by_all(name: str) -> None:
    """Headline, warnings, gate, diff, and what is exported."""
    data = CASES[name]()
    selection = Selection(data, METRICS)
    mode = selection.modes[-1]
    (kind,) = [one for one in KINDS if one.__name__ == name]
    found = find_caveats(selection, mode, kind)
    assert found
    report = summarise(data)
    assert set(list_kind_warnings(selection, kind)) <= set(report.warnings)
    standing = next(it for it in report.headline.standings if it.mode == mode)
    assert has_qualifications(report.headline)
    held = make_gate(
        selection, [Limit(kind=Kind.MAX, metric="num_turns", value=9, mode=mode)], NEAR
    )
    (verdict,) = held.verdicts
    other = replace(data, experiment=data.experiment.model_copy(update={"session": "other"}))
    both = make_diff(Selection(other, METRICS), selection, (Path("a"), Path("b")))
    of_mode = next(it for it in both.modes if it.mode == mode)
    exported = {
        (it["arm"], it["caveat"]): it["void"]
        for it in json.loads(render_json(make_swarm_table(selection)))["caveats"]
    }
    suites = ElementTree.fromstring(render_junit(make_swarm_table(selection)).encode())
    suite = next(it for it in suites if it.get("name") == mode)
    properties = [it.get("value") for it in suite.iter("property")]
    for caveat in found:
        clause = caveat.qualification
        assert clause in standing.qualifications or standing.no_verdict
        assert caveat in of_mode.caveats["A"]
        assert caveat in of_mode.caveats["B"]
        assert exported[mode, clause] is caveat.is_void
        assert clause in properties
        if caveat.is_void:
            assert kind in VOID
            assert verdict.state is State.MISSING
            assert clause in verdict.why or standing.no_verdict
            assert not of_mode.rows
            assert suite.find("testcase/error") is not None
        else:
            assert caveat in held.caveats[mode]


def test_equal_answers_to_one_task_are_none_to_different_ones() -> None:
    again = make_trial("canopy", agent=2, run=2, answer_digest="d")
    other = make_trial("canopy", agent=2, task="b", answer_digest="e")
    for more in (again, other):
        found = summarise(canopy(more, answer_digest="d"))
        assert not any("same text" in one for one in found.warnings)


def test_what_was_set_aside_qualifies_every_mode(golden: Sentences) -> None:
    """Also those that give no tool: nobody knows what else was changed."""
    data = replace(make_session(make_trial(), make_trial("told")), planted=("planted-1-x",))
    found = summarise(data)
    said = [(one.mode, one.qualifications) for one in found.headline.standings]
    clause = ("files of the session were replaced while it ran",)
    assert said == [("baseline", clause), ("told", clause)]
    golden(*found.warnings)


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


def test_all_that_voids_is_one_test_case() -> None:
    again = make_trial("canopy", agent=2, task="b", answer_digest="d", retrieval="unused")
    table = make_swarm_table(
        Selection(canopy(again, answer_digest="d", retrieval="unused"), METRICS)
    )
    void = [it.qualification for it in table.caveats["canopy"] if it.is_void]
    assert len(void) == 2
    suites = ElementTree.fromstring(render_junit(table).encode())
    suite = next(it for it in suites if it.get("name") == "canopy")
    (error,) = suite.findall("testcase/error")
    assert (error.get("message"), suite.get("errors")) == ("; ".join(void), "1")


def test_that_every_call_failed_is_said_once() -> None:
    failed = {"tool_calls": {FIND: 4}, "tool_failures": {FIND: 4}}
    data = canopy(retrieval="unused", evidence={"calls": 4, "failed": 4}, **failed)
    said = make_swarm_table(Selection(data, METRICS)).caveats["canopy"]
    assert [it.is_void for it in said if "call" in it.qualification] == [True]


def test_a_status_may_be_the_same_in_every_call() -> None:
    trials = [make_trial("canopy", agent=at, tool_answers=same(f"q{at}", "a")) for at in (1, 2)]
    purposes = {"canopy": {FIND: "other"}}
    data = make_session(make_trial(), *trials, tool_purposes=purposes)
    assert not has_qualifications(summarise(data).headline)
