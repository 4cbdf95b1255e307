"""A rehearsal ends with what it is for: what is connected, called and added; and no verdict."""

from collections.abc import Callable

import pytest

from swarm_bench.analysis.documents.comparison import make_document
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Grid, Value
from swarm_bench.core.report.report import Report
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.reports.markdown import write_files
from swarm_bench.reports.terminal import render_brief
from tests.builders.golden import Sentences, parts
from tests.builders.reports import render, summarise

Trial = Callable[..., TrialRecord]
Session = Callable[..., SessionData]
OVERHEAD = (
    {"mode": "baseline", "prompt_tokens": 5000},
    {"mode": "canopy", "prompt_tokens": 5970, "server_seconds": {"canopy": 0.2}},
)
NONE = {"mcp_calls": 0, "evidence": {"connected": (), "offered": 0, "calls": 0}}


@pytest.fixture
def rehearsal(trial: Trial, session: Session) -> Report:
    """Of three trials of canopy one called nothing, and of those that did one got no answer; of
    three of canopy-service one was not connected."""
    trials = [
        trial(mode, agent=agent, task="ab"[agent % 2], rehearsal=True)
        for mode in ("baseline", "canopy", "canopy-service")
        for agent in (1, 2, 3)
    ]
    evidence = {"connected": ("canopy",), "offered": 1}
    idle = {"retrieval": "unused", "mcp_calls": 0}
    trials[4] = trial(
        "canopy", agent=2, rehearsal=True, evidence=evidence | {"calls": 2, "failed": 2}, **idle
    )
    trials[5] = trial("canopy", agent=3, rehearsal=True, evidence=evidence | {"calls": 0}, **idle)
    trials[8] = trial("canopy-service", agent=3, rehearsal=True, retrieval="not-connected", **NONE)
    return summarise(session(*trials, overhead=OVERHEAD))


def test_it_says_what_each_tool_needs_and_adds(rehearsal: Report) -> None:
    assert rehearsal.rehearsed
    grid, *_ = rehearsal.rehearsed.blocks
    assert isinstance(grid, Grid)
    canopy, service = grid.rows
    assert canopy[1:3] == ("3 of 3", "2 of 3, answered in 1")
    assert canopy[3:] == (
        Value(scale=Style.WHOLE, value=970),
        Value(scale=Style.SECONDS, value=0.2),
    )
    assert service[1:3] == ("2 of 3", "2 of 3")
    assert service[3] == Value(scale=Style.WHOLE, value=None)


@pytest.mark.parametrize("width", [80, 100])
def test_its_end_is_that_and_no_verdict(rehearsal: Report, width: int, golden: Sentences) -> None:
    shown = render_brief(make_document(rehearsal), width, colours=False)
    golden(shown)
    assert shown.count("\n") <= 24
    summary = render(rehearsal)
    assert "## Headline" not in summary
    golden(parts(summary, "What each tool needs and adds"))


def test_nothing_in_it_compares_what_fixed_rules_answered(rehearsal: Report) -> None:
    laid_out = make_document(rehearsal)
    files = write_files(laid_out)
    assert not files.pictures
    lines = [*files.markdown.splitlines(), *files.details.splitlines()]
    unwanted = ("verdict", "dollar", "$", "Cost", "costs to", "Effects", "Named beforehand")
    assert not [line for line in lines for word in unwanted if word in line]
    assert {"## Figures by mode", "## Per-Agent Results"} <= set(lines)


def test_what_is_none_has_no_such_table(trial: Trial, session: Session) -> None:
    report = summarise(session(trial(), trial("canopy"), overhead=OVERHEAD))
    assert report.rehearsed is None
    assert "What each tool" not in render(report)


def test_without_a_tool_it_says_so(trial: Trial, session: Session) -> None:
    report = summarise(session(trial(rehearsal=True)))
    assert report.rehearsed
    assert "No mode has a tool." in str(report.rehearsed.blocks)
    assert "No mode has a tool." in render(report)
