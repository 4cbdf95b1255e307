"""Two sessions: what forbids to compare them, what differs, and what it came to."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.analysis.diff.modes import make_diff
from swarm_bench.analysis.diff.settings import list_changes, list_obstacles
from swarm_bench.analysis.documents.diff import make_document
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.verdict_line import CANNOT_TELL
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.diff import Diff, ModeDiff, Role
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.core.status import Status
from swarm_bench.reports.markdown import render
from swarm_bench.reports.terminal import render_brief
from tests.builders.answers import text_of
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.sessions import make_failed, make_session, make_trial

TASKS: list[dict[str, Any]] = [
    {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is {n}?", "key": {"files": [f"{n}.py"]}}
    for n in range(8)
]
REPOSITORY = {"path": "/srv/shop", "kind": "git", "files": 12, "bytes": 3456}


def trials(mode: str, ratio: float = 1.0, **changed: Any) -> list[TrialRecord]:
    return [
        make_trial(
            mode,
            agent=n + 1,
            task_id=f"t{n}",
            effective_tokens=round(1000 * (n + 1) * ratio * (1.02 if n % 2 else 0.98)),
            **{**PAID, "scores": {"file_recall": 0.7}, **changed},
        )
        for n in range(8)
    ]


def session(
    name: str, ratio: float = 1.0, records: list[TrialRecord] | None = None, **changed: Any
) -> SessionData:
    every = records or [*trials("baseline"), *trials("canopy", ratio)]
    return make_session(*every, **{"session": name, "tasks": TASKS, "agents": 8, **changed})


def selected(data: SessionData) -> Selection:
    return Selection(data, METRICS)


def clauses(after: SessionData, before: SessionData | None = None) -> list[str]:
    return list_obstacles(selected(before or session("a")), selected(after))


def compared(before: SessionData, after: SessionData) -> Diff:
    return make_diff(selected(before), selected(after), (Path("a"), Path("b")))


def mode_of(shown: Diff, name: str) -> ModeDiff:
    return next(mode for mode in shown.modes if mode.mode == name)


def test_what_agrees_is_compared_mode_by_mode(golden: Sentences) -> None:
    shown = compared(session("a"), session("b", 0.7))
    same, less = (mode_of(shown, name) for name in ("baseline", "canopy"))
    assert [row.role for row in less.rows][:3] == [Role.PRIMARY, Role.QUALITY, Role.EXPLORATORY]
    assert less.rows[0].estimate == pytest.approx(0.7, rel=1e-3)
    assert less.rows[0].p is not None
    assert less.rows[0].p < 0.01
    assert same.rows[0].estimate == 1
    golden(text_of(less.answer))
    golden(text_of(same.answer))


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "m-2"},
        {"agent": {"name": "scout", "version": "2"}},
        {"repository": {**REPOSITORY, "commit": "fedcba", "tree": "u"}},
        {"repository": {**REPOSITORY, "commit": "0123456789abcdef", "tree": "u"}},
        {"tasks": TASKS[:7], "agents": 7},
        {"tasks": [*TASKS[:7], {**TASKS[7], "prompt": "?"}]},
        {"tasks": [*TASKS[:7], {**TASKS[7], "key": {"files": ["x.py"]}}]},
        {"answer_format": "In one line."},
    ],
    ids=["model", "agent", "commit", "files", "tasks", "prompt", "key", "format"],
)
def test_what_must_agree_is_named(changed: Any, golden: Sentences) -> None:
    (only,) = clauses(session("b", **changed))
    golden(only)


def test_the_model_and_the_version_are_those_that_answered(golden: Sentences) -> None:
    newer = [*trials("baseline", model="m-2"), *trials("canopy", model="m-2")]
    golden(*clauses(session("b", records=newer)))
    before = [*trials("baseline", program_version="1"), *trials("canopy", program_version="1")]
    after = [*trials("baseline", program_version="2"), *trials("canopy", program_version="2")]
    golden(*clauses(session("b", records=after), session("a", records=before)))


def test_a_session_is_not_compared_with_itself_nor_without_a_common_mode() -> None:
    assert clauses(session("a")) == ["they are the same one"]
    other = session("b", records=trials("canopy-service"))
    (only,) = clauses(other)
    assert only.startswith("no mode is in both")


def test_what_else_differs_is_listed() -> None:
    before = session("a", retrieval={"canopy": {"name": "canopy", "version": "1"}})
    after = session(
        "b",
        retrieval={"canopy": {"name": "canopy", "version": "2"}},
        limits={"max_turns": 30, "timeout": 900, "index_timeout": 600},
        versions={"swarm-bench": "9"},
    )
    listed = {
        each.subject: (each.before, each.after)
        for each in list_changes(*map(selected, (before, after)))
    }
    assert listed == {
        "swarm-bench": ("none", "9"),
        "Max turns": ("15", "30"),
        "Tool of canopy": ("canopy 1", "canopy 2"),
    }


def test_a_mode_that_is_barred_or_changed_is_not_compared_and_says_where(golden: Sentences) -> None:
    failed = make_failed("canopy", "exit-code", "agent-failed", task_id="t0")
    after = session("b", records=[*trials("baseline"), failed])
    mode = mode_of(compared(session("a"), after), "canopy")
    assert mode.rows == ()
    golden(text_of(mode.answer))
    planted = replace(session("b"), planted=("planted-1-metrics.jsonl",))
    assert all(not mode.rows for mode in compared(session("a"), planted).modes)


def test_what_lost_trials_could_change_is_not_told(golden: Sentences) -> None:
    lost = make_failed("canopy", "workspace-failed", "harness-failed", task_id="t0", agent=1)
    records = [*trials("baseline"), lost, *trials("canopy", 0.7)[1:]]
    mode = mode_of(compared(session("a"), session("b", records=records)), "canopy")
    assert mode.answer.claim == CANNOT_TELL
    assert mode.rows[0].p is not None
    assert mode.rows[0].p <= ALPHA
    golden(text_of(mode.answer))


def test_an_interval_says_that_it_is_adjusted_for_all_modes() -> None:
    shown = compared(session("a"), session("b", 0.7))
    less = mode_of(shown, "canopy").answer
    assert "adjusted for 2 verdicts" in (less.evidence or "")


def test_fixed_rules_leave_what_was_found(golden: Sentences) -> None:
    rules: dict[str, Any] = {"fixed_rules": True, "model": "rules"}
    records = [*trials("baseline", **rules), *trials("canopy", **rules)]
    shown = compared(session("a", records=records), session("b", records=records))
    rows = mode_of(shown, "canopy").rows
    assert (rows[0].metric.key, rows[0].role) == ("file_recall", Role.PRIMARY)
    assert not any(row.metric.spent for row in rows)
    golden(text_of(mode_of(shown, "canopy").answer))
    assert any("Fixed rules" in caveat for caveat in shown.caveats)


def test_a_session_that_is_not_complete_is_compared_as_far_as_it_goes(golden: Sentences) -> None:
    half = [*trials("baseline"), *trials("canopy")[:4]]
    after = session("b", records=half, planned={"baseline": 8, "canopy": 8})
    shown = compared(session("a"), after)
    assert mode_of(shown, "canopy").rows[0].estimate is None
    golden(text_of(mode_of(shown, "canopy").answer))
    golden(*shown.caveats)
    assert mode_of(shown, "baseline").rows[0].estimate == 1


def test_trials_that_a_limit_stopped_are_counted(golden: Sentences) -> None:
    records = [*trials("baseline"), *trials("canopy")]
    records[0] = records[0].model_copy(update={"status": Status.BUDGET_REACHED})
    caveats = compared(session("a"), session("b", records=records)).caveats
    golden(*caveats)


def test_holm_widens_the_interval_of_the_better_of_two() -> None:
    alone = compared(
        session("a", records=trials("canopy")), session("b", records=trials("canopy", 0.99))
    )
    service = [*trials("canopy"), *trials("canopy-service")]
    both = compared(
        session("a", records=service),
        session("b", records=[*trials("canopy", 0.99), *trials("canopy-service")]),
    )
    one, two = (mode_of(shown, "canopy").rows[0].interval for shown in (alone, both))
    assert one
    assert two
    assert one[1] - one[0] <= two[1] - two[0]


def test_a_mode_that_is_not_compared_counts_among_the_hypotheses() -> None:
    alone = compared(
        session("a", records=trials("canopy")), session("b", records=trials("canopy", 0.99))
    )
    unused = trials("canopy-service", 0.5, retrieval="unused")
    both = compared(
        session("a", records=[*trials("canopy"), *trials("canopy-service")]),
        session("b", records=[*trials("canopy", 0.99), *unused]),
    )
    assert not mode_of(both, "canopy-service").rows
    one, two = (mode_of(shown, "canopy").rows[0].interval for shown in (alone, both))
    assert one
    assert two
    assert one[1] - one[0] < two[1] - two[0]


def test_the_page_begins_with_what_it_came_to_and_a_warning(golden: Sentences) -> None:
    made = make_document(compared(session("a"), session("b", 0.7, runs=2)))
    page = render(made)
    came_to = page.index("## What it came to")
    assert came_to < page.index("not randomised") < page.index("## What differs")
    assert "- **Runs**: 1 → 2" in page
    golden(page)
    _, heading, verdict, *_ = render_brief(made, 100, colours=False).splitlines()
    assert heading == "What it came to"
    assert verdict.startswith("baseline")


def test_the_quality_that_was_named_is_compared_and_a_change_of_it_listed() -> None:
    named = {"quality": {"value": "grounded", "source": "command line"}}
    both = session("a", settings=named), session("b", settings=named)
    rows = mode_of(compared(*both), "canopy").rows
    assert [row.metric.key for row in rows if row.role is Role.QUALITY] == ["grounded"]
    (change,) = list_changes(selected(session("a")), selected(session("b", settings=named)))
    assert (change.subject, change.before, change.after) == ("Quality", "none", "grounded")


def test_times_of_agents_that_ran_at_once_have_too_narrow_an_interval(golden: Sentences) -> None:
    settings = {"primary": {"value": "wall_seconds", "source": "command line"}}
    fast = [*trials("baseline"), *trials("canopy", wall_seconds=1.0)]
    before, after = (
        session(name, records=records, settings=settings, concurrency=4)
        for name, records in (("a", None), ("b", fast))
    )
    said = text_of(mode_of(compared(before, after), "canopy").answer)
    golden(said)
