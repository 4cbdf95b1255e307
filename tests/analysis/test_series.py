from collections.abc import Callable
from typing import Any

import pytest

from swarm_bench.analysis.documents import growth
from swarm_bench.analysis.documents.blocks import RULES_TITLE
from swarm_bench.core.report.document import Answers, Picture
from swarm_bench.core.report.pictures import PlaneChart
from swarm_bench.core.report.series import Cell, Series
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import render_series, series

Make = Callable[..., TrialRecord]
Session = Callable[..., SessionData]
TOOL = "mcp__canopy__canopy_query"


@pytest.fixture
def grown(
    trial: Make, swarm: Callable[..., SwarmRecord], session: Session
) -> Callable[..., Series]:
    """Of two tasks in swarms of 1 and of 2; `figures` gives the changes of a trial."""

    def grown(figures: Callable[[int, int], dict[str, Any]], **counters: Any) -> Series:
        def of(size: int) -> SessionData:
            trials = [
                trial(
                    "canopy-service", agent=agent, task_id="ab"[agent - 1], **figures(size, agent)
                )
                for agent in (1, 2)
            ]
            made = swarm("canopy-service", index_seconds=2.0 * size, **counters)
            return session(*trials, made, swarm_size=size, agents=2)

        return series({2: of(2), 1: of(1)})

    return grown


def cells(found: Series, key: str) -> tuple[Cell, ...]:
    (mode,) = found.modes
    return {row.metric.key: row.cells for row in mode.rows}[key]


def test_each_size_is_held_against_the_smallest(grown: Callable[..., Series]) -> None:
    """Task a takes 10 and then 20 seconds, task b 100 and then 100."""
    found = grown(lambda size, agent: {"wall_seconds": (10.0 * size, 100.0)[agent - 1]})
    assert found.sizes == (1, 2)
    first, second = cells(found, "wall_seconds")
    assert (first, second.value) == (Cell(value=55), 60)
    assert second.ratio == pytest.approx(2**0.5)
    assert cells(found, "index_seconds") == (Cell(value=2), Cell(value=4, ratio=2))


def find_charts(found: Series) -> list[PlaneChart]:
    sections = growth.make_document(found).sections
    blocks = [block for section in sections for block in section.blocks]
    charts = [block.chart for block in blocks if isinstance(block, Picture)]
    return [chart for chart in charts if isinstance(chart, PlaneChart)]


def test_what_sizes_come_to_is_drawn(grown: Callable[..., Series]) -> None:
    found = grown(lambda size, agent: {"wall_seconds": (10.0 * size, 100.0)[agent - 1]})
    charts = {chart.title.split(" by ")[0]: chart for chart in find_charts(found)}
    assert {"Wall time", "Indexing per swarm", "Effective tokens"} == {*charts}
    (line,) = charts["Wall time"].lines
    assert [(point.x, point.y) for point in line.points] == [(1, 55), (2, 60)]
    assert line.label == "canopy-service"
    assert charts["Wall time"].x.ticks == (1, 2)


def test_a_mode_that_a_picture_lacks_takes_no_mark_from_others(
    trial: Make, session: Session
) -> None:
    def of(size: int) -> SessionData:
        trials = [
            trial("baseline", wall_seconds=1.0, effective_tokens=9),
            trial("canopy", wall_seconds=2.0, effective_tokens=None),
            trial("canopy-service", wall_seconds=None, effective_tokens=7),
        ]
        return session(*trials, swarm_size=size, modes=("baseline", "canopy", "canopy-service"))

    charts = find_charts(series({1: of(1), 2: of(2)}))
    looks = {chart.title.split(" by ")[0]: chart.lines for chart in charts}
    assert [(line.label, line.shape) for line in looks["Wall time"]] == [
        ("baseline", 0), ("canopy", 1)
    ]  # fmt: skip
    assert [(line.label, line.shape) for line in looks["Effective tokens"]] == [
        ("baseline", 0), ("canopy-service", 2)
    ]  # fmt: skip


def test_a_single_size_and_what_is_unknown_are_not_drawn(grown: Callable[..., Series]) -> None:
    found = grown(lambda size, _: {"wall_seconds": None if size == 1 else 1.0})
    assert "Wall time" not in {chart.title.split(" by ")[0] for chart in find_charts(found)}


def test_time_and_failures_of_the_modes_own_tool(
    grown: Callable[..., Series], golden: Sentences
) -> None:
    def figures(size: int, agent: int) -> dict[str, Any]:
        return {
            "tool_calls": {TOOL: 4, "Read": 10},
            "tool_seconds": {TOOL: 2.0 * size, "Read": 9.0},
            "tool_failures": {TOOL: size - 1, "Read": 5},
        }

    found = grown(figures)
    assert cells(found, "call_seconds") == (Cell(value=0.5), Cell(value=1, ratio=2))
    assert cells(found, "failed_calls") == (Cell(value=0, of=8), Cell(value=2, of=8))
    sentence = found.modes[0].sentence
    golden(sentence)


def test_what_nobody_timed_is_unknown(grown: Callable[..., Series]) -> None:
    found = grown(lambda *_: {"tool_calls": {TOOL: 4}})
    unknown = {metric.key for metric in found.modes[0].unknown}
    assert {"call_seconds", "failed_calls"} <= unknown
    assert "Time per call, Failed" in render_series(found)


def test_the_cache_of_the_service(grown: Callable[..., Series]) -> None:
    counted = {"service": {"query_cache_hits": 1, "query_cache_misses": 3}}
    found = grown(lambda *_: {}, difference=counted)
    assert cells(found, "hit_rate") == (Cell(value=0.25), Cell(value=0.25))


def test_failed_trials_are_counted_and_warned_of(grown: Callable[..., Series]) -> None:
    def figures(size: int, agent: int) -> dict[str, Any]:
        failed = {"status": "agent-failed", "cause": "error-result"}
        return failed if (size, agent) == (2, 2) else {}

    found = grown(figures)
    assert cells(found, "unanswered") == (Cell(value=0, of=2), Cell(value=1, of=2))
    assert any("agents-2/summary.md" in warning for warning in found.warnings)


def test_the_headlines_of_the_sizes_stand_on_top(
    grown: Callable[..., Series], golden: Sentences
) -> None:
    """What is said of both is said once."""

    def figures(size: int, agent: int) -> dict[str, Any]:
        unused = {"retrieval": "unused", "mcp_calls": 0, "evidence": {"connected": ["canopy"]}}
        return unused if (size, agent) == (2, 2) else {}

    found = grown(figures, counters=None)
    page = render_series(found)
    for line in (
        "- **canopy-service (1 at a time) is the reference.**",
        "  - Evidence: Connected in 2 of 2 trials, used in 1, by transcripts alone.",
        "- **canopy-service**, 2 at a time, with caveats: not used in 1 of 2 trials.",
        "- **canopy-service**, 1 and 2 at a time, with caveats: the tool's counters were not",
    ):
        assert line in page
    assert page.index("## Headline") < page.index("## Warnings")
    golden(found.modes[0].sentence)


def test_without_a_verdict_nothing_is_said_of_sharing(trial: Make, session: Session) -> None:
    """The baseline was contaminated in the larger swarms: nothing can be compared with it."""

    def of(size: int) -> SessionData:
        touched = {"retrieval": "contaminated"} if size == 2 else {}
        trials = [trial(wall_seconds=3.0, **touched), trial("canopy", wall_seconds=9.0 * size)]
        return session(*trials, swarm_size=size)

    found = series({1: of(1), 2: of(2)})
    assert {mode.sentence for mode in found.modes} == {""}
    ratios = {cell.ratio for mode in found.modes for row in mode.rows for cell in row.cells}
    assert ratios == {None}
    page = render_series(found)
    touched = "everything is compared with baseline, and 1 of 1 trial of it had a tool"
    for part in (
        f"- 2 at a time: there is **no verdict**: {touched}",
        "- **canopy (2 at a time): no verdict.** There is nothing to compare it with.",
        "- baseline: nothing can be said; there is no verdict on it with 2 at a time.",
        "- canopy: nothing can be said; there is no verdict on it with 2 at a time.",
        "Left out of the times and tokens: 2 at a time: 1 of 1 trial (1 contaminated).",
    ):
        assert part in page
    wall = next(line for line in page.splitlines() if line.startswith("| Wall time"))
    assert [cell.strip() for cell in wall.split("|")[2:4]] == ["3.00s", "left out"]


def test_another_mode_that_has_no_verdict_takes_nothing_from_the_baseline(
    trial: Make, session: Session, golden: Sentences
) -> None:
    def of(size: int) -> SessionData:
        trials = [trial(wall_seconds=3.0 * size), trial("canopy", retrieval="contaminated")]
        return session(*trials, swarm_size=size)

    baseline, canopy = series({1: of(1), 2: of(2)}).modes
    golden(baseline.sentence)
    assert (canopy.sentence, canopy.no_verdict) == ("", (1, 2))
    golden(canopy.excluded[0])


def test_a_size_that_was_not_run_is_named(trial: Make, session: Session, golden: Sentences) -> None:
    agents = {"agents": {"value": [1, 2], "source": "command line"}}
    found = series({1: session(trial(), swarm_size=1, settings=agents)})
    golden(found.warnings[0])
    assert "1, 2 (not run)" in render_series(found)


@pytest.mark.parametrize("value", [3, "12", None, {"a": 1}, ["1", None, [2]]])
def test_sizes_that_are_no_numbers_are_none(trial: Make, session: Session, value: object) -> None:
    agents = {"agents": {"value": value, "source": "command line"}}
    found = series({1: session(trial(), swarm_size=1, settings=agents)})
    assert not any("not run" in warning for warning in found.warnings)


def test_one_size_says_nothing_of_sharing(trial: Make, session: Session) -> None:
    found = series({4: session(trial(), swarm_size=4)})
    assert found.modes[0].sentence == ""
    assert "Nothing can be said yet" in render_series(found)


def test_what_fixed_rules_spent_is_apart(grown: Callable[..., Series]) -> None:
    found = grown(lambda size, _: {"fixed_rules": True, "effective_tokens": 10 * size})
    (mode,) = found.modes
    assert "effective_tokens" not in {row.metric.key for row in mode.rows}
    assert [row.metric.key for row in mode.spent_by_rules] == ["effective_tokens"]
    assert "tokens" not in mode.sentence
    page = render_series(found)
    assert page.index("## What sharing costs") < page.index(f"## {RULES_TITLE}")
    assert page.index("> These are no figures of a model") < page.index("| Effective tokens")


def test_what_a_model_spent_is_with_the_rest(
    grown: Callable[..., Series], golden: Sentences
) -> None:
    found = grown(lambda size, _: {"effective_tokens": 10 * size})
    first, second = cells(found, "effective_tokens")
    assert (first, second.value) == (Cell(value=10), 20)
    assert second.ratio == pytest.approx(2)
    assert found.modes[0].spent_by_rules == ()
    assert RULES_TITLE not in render_series(found)
    golden(found.remark)


def find_size(*sessions: SessionData) -> str:
    document = growth.make_document(series(dict(enumerate(sessions, start=1))))
    blocks = [block for section in document.sections for block in section.blocks]
    (answers,) = [block for block in blocks if isinstance(block, Answers)]
    return answers.size


def test_the_answers_of_a_series_say_of_what_they_are(trial: Make, session: Session) -> None:
    def of(size: int, *tasks: str) -> SessionData:
        trials = [trial(mode, task_id=task) for mode in ("baseline", "canopy") for task in tasks]
        return session(*trials, swarm_size=size)

    assert find_size(of(1, "a", "b"), of(2, "a", "b")) == "2 tasks × 1 run"
    assert find_size(of(1, "a", "b"), of(2, "a")) == (
        "2 tasks × 1 run (1 at a time); 1 task × 1 run (2 at a time)"
    )
