from collections.abc import Callable
from typing import Any

import pytest

from swarm_bench.analysis.series import series
from swarm_bench.core.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.series import Cell, Series
from swarm_bench.reports.series import render_series

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
    assert cells(found, "wall_seconds") == (Cell(value=55), Cell(value=60, ratio=1.5))
    assert cells(found, "index_seconds") == (Cell(value=2), Cell(value=4, ratio=2))


def test_time_and_failures_of_the_modes_own_tool(grown: Callable[..., Series]) -> None:
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
    assert "a call of the tool takes 2.00 times as long" in sentence
    assert "there are 2 failed calls instead of 0" in sentence


def test_what_nobody_timed_is_unknown(grown: Callable[..., Series]) -> None:
    found = grown(lambda *_: {"tool_calls": {TOOL: 4}})
    assert "call_seconds" in {metric.key for metric in found.modes[0].unknown}
    assert "Not reported by anything in this series: Time per call" in render_series(found)


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


def test_one_size_says_nothing_of_sharing(trial: Make, session: Session) -> None:
    found = series({4: session(trial(), swarm_size=4)})
    assert found.modes[0].sentence == ""
    assert "Nothing can be said yet" in render_series(found)
