"""Findings of the fourth witness in the headline and the warnings."""

from typing import Any

from swarm_bench.core.report.report import Report
from tests.builders.golden import Sentences
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_swarm, make_trial


def report(**trials: Any) -> Report:
    return summarise(make_session(*(one for each in trials.values() for one in each)))


def reaching(mode: str, agent: int, *sentences: str) -> Any:
    return make_trial(mode, agent=agent, evidence={"outside": sentences})


def test_a_baseline_that_reached_a_tool_qualifies_every_comparison(golden: Sentences) -> None:
    others = [reaching("baseline", agent) for agent in range(1, 20)]
    found = report(
        baseline=[*others, reaching("baseline", 20, "It started canopy-mcp.")],
        canopy=[make_trial("canopy", agent=agent) for agent in range(1, 21)],
        swarms=[make_swarm(mode, agents=range(1, 21)) for mode in ("baseline", "canopy")],
    )
    said = {one.mode: one.qualifications for one in found.headline.standings}
    golden(*said["baseline"])
    golden(*said["canopy"])
    assert found.headline.no_verdict is None
    assert found.headline.ratios is not None
    (warning,) = [one for one in found.warnings if "reached a tool" in one]
    assert warning.startswith("baseline: 1 of 20 trials")
    golden(warning)


def test_where_that_leaves_no_evidence_it_is_said_once() -> None:
    found = report(
        baseline=[reaching("baseline", 1, "It started canopy-mcp.")], canopy=[make_trial("canopy")]
    )
    assert [one.mode for one in found.headline.standings if one.qualifications] == ["baseline"]


def test_a_mode_that_reached_another_ones_tool_is_qualified_alone() -> None:
    found = report(
        baseline=[make_trial()],
        canopy=[reaching("canopy", 1, *(f"It started tool-{n}." for n in range(5)))],
    )
    assert [one.mode for one in found.headline.standings if one.qualifications] == ["canopy"]
    (warning,) = [one for one in found.warnings if "reached a tool" in one]
    assert "tool-2" in warning
    assert "tool-3" not in warning
    assert "2 more, in metrics.jsonl" in warning
