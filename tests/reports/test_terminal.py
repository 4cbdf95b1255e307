"""What somebody at a terminal sees of a summary."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.analysis.documents.comparison import document
from swarm_bench.core.report.document import Document, Paragraph, Span, Tone
from swarm_bench.core.report.report import Report
from swarm_bench.reports.terminal import render_brief
from tests.builders.reports import summarise
from tests.reports.test_golden import read_session
from tests.reports.test_markdown import hostile_report, hostile_session, large_session

GOLDEN = Path(__file__).parents[1] / "golden"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def shown(report: Report, width: int = 80, *, colours: bool = False) -> str:
    return render_brief(document(report), width, colours=colours)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["session", "witnesses"])
def test_a_screen_holds_it(name: str, width: int) -> None:
    lines = shown(summarise(read_session(GOLDEN / name)), width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) <= 26
    assert lines[0].endswith("Summary")
    assert any(line.startswith("Wall time") for line in lines)
    assert "Also in summary.md: " in " ".join(lines)


@pytest.mark.parametrize("size", [(50, 1, 5), (5, 2, 40)])
def test_of_many_modes_the_first_are_shown(size: tuple[int, int, int]) -> None:
    """One below the other, so that their columns can be read."""
    lines = shown(summarise(large_session(*size)), 100).splitlines()
    assert len(lines) <= 60
    table = lines[lines.index("") :]
    assert sum(line.startswith("mode-with-a-") for line in table) in (4, 11)


@pytest.mark.parametrize("make", [hostile_report, hostile_session])
def test_what_agents_wrote_drives_no_terminal(make: Callable[[], Report]) -> None:
    report = make()
    assert "\x1b" not in shown(report)
    coloured = shown(report, colours=True)
    assert "\x1b" not in ESCAPE.sub("", coloured)
    assert "\x1b[2J" not in coloured


def test_a_verdict_has_a_colour() -> None:
    line = (Span(text="a", strong=True, tone=Tone.GOOD), ": helps [red]x[/red]")
    page = Document(title="T", banner=None, head=(), sections=(), brief=(Paragraph(lines=(line,)),))
    assert render_brief(page, 80, colours=True).splitlines()[1] == (
        "\x1b[1;32ma\x1b[0m: helps [red]x[/red]"
    )
    assert render_brief(page, 80, colours=False) == "T\na: helps [red]x[/red]\n"
