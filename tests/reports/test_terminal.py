"""What somebody at a terminal sees of a summary."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.analysis.documents.comparison import make_document
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import (
    Bullets,
    ComparedValue,
    Document,
    Fact,
    Grid,
    Paragraph,
    Scale,
    Section,
    Span,
    Step,
    Tone,
    Value,
    Verbatim,
)
from swarm_bench.core.report.report import Report
from swarm_bench.reports.terminal import MOST_LINES, render_brief
from tests.builders.golden import Sentences
from tests.builders.reports import summarise
from tests.reports.test_golden import read_session
from tests.reports.test_markdown import hostile_report, hostile_session, large_session

GOLDEN = Path(__file__).parents[1] / "golden"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def shown(report: Report, width: int = 80, *, colours: bool = False) -> str:
    return render_brief(make_document(report), width, colours=colours)


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("name", ["session", "witnesses"])
def test_a_screen_holds_it(name: str, width: int, golden: Sentences) -> None:
    text = shown(summarise(read_session(GOLDEN / name)), width)
    golden(text)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("\n") <= MOST_LINES


def test_a_narrow_screen_breaks_lines_and_loses_no_verdict() -> None:
    report = summarise(read_session(GOLDEN / "witnesses"))
    lines = shown(report, 40).splitlines()
    assert max(len(line) for line in lines if not line.startswith("  swarm-bench ")) <= 40
    verdicts = lines[: lines.index("")]
    for mode in ("canopy", "canopy-service"):
        assert any(line.startswith(f"  {mode}") for line in verdicts)


@pytest.mark.parametrize("size", [(50, 1, 5), (5, 2, 40)])
@pytest.mark.parametrize("width", [80, 100])
def test_a_screen_holds_any_session(size: tuple[int, int, int], width: int) -> None:
    """What has no room is counted, or in the file."""
    report = summarise(large_session(*size))
    lines = shown(report, width).splitlines()
    assert len(lines) <= MOST_LINES
    assert sum(line.lstrip().startswith("Caveat: ") for line in lines) in (1, 2, 3)
    assert any(line.endswith("all figures.") for line in lines)


def test_a_table_that_has_no_room_loses_what_matters_least() -> None:
    rows = tuple((f"row {number}", Value(scale=Style.WHOLE, value=number)) for number in range(40))
    grid = Grid(
        headers=("M", "a"), labels=1, rows=rows, about="Over 2 tasks", marked=frozenset({30})
    )
    spare = Paragraph(lines=("aside",), is_spare=True)
    limits = Bullets(items=("one", "two"))
    page = Document(
        title="T",
        banner=None,
        head=(),
        sections=(),
        brief=(limits, grid, spare, Paragraph(lines=("end",))),
    )
    lines = render_brief(page, 80, colours=False).splitlines()
    assert len(lines) == MOST_LINES
    assert lines[:3] == ["T", "  one", "  two"]
    assert lines[4] == "Over 2 tasks:"
    assert [line.split()[1] for line in lines if line.startswith("row")][-2:] == ["13", "30"]
    assert lines[-1] == "end"
    assert "aside" not in lines


def test_ranges_that_have_no_room_are_omitted() -> None:
    change = Value(scale=Scale.DIFFERENCE, value=0.14, low=-0.03, high=0.3)
    cell = ComparedValue(own=Value(scale=Style.FRACTION, value=0.39), change=change)
    grid = Grid(
        headers=("Metric", "a", "b"), labels=1, rows=(("Recall", cell, cell),), ranges="ranges"
    )
    page = Document(title="T", banner=None, head=(), sections=(), brief=(grid,))
    wide, narrow = (render_brief(page, width, colours=False) for width in (80, 40))
    assert wide.count("0.39, +0.14 (-0.03 to +0.30)") == 2
    assert "ranges:" in wide
    assert narrow.count("0.39, +0.14") == 2
    assert "(" not in narrow
    assert "ranges:" not in narrow


def test_a_control_costs_the_others_no_ranges() -> None:
    change = Value(scale=Scale.DIFFERENCE, value=0.14, low=-0.03, high=0.3)
    cell = ComparedValue(own=Value(scale=Style.FRACTION, value=0.39), change=change)
    grid = Grid(
        headers=("Metric", "a", "a-placebo (no verdict)"),
        labels=1,
        rows=(("Recall", cell, cell),),
        ranges="ranges",
        controls=frozenset({2}),
    )
    page = Document(title="T", banner=None, head=(), sections=(), brief=(grid,))
    texts = [render_brief(page, width, colours=False) for width in (80, 62, 52, 40)]
    assert [text.count("(-0.03 to +0.30)") for text in texts] == [2, 1, 1, 0]
    assert ["ranges:" in text for text in texts] == [True, True, True, False]
    assert all("(no verdict)" in text for text in texts[:3])


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


def test_a_page_without_a_brief_is_shown_whole() -> None:
    words = "a sentence of more words than a narrow terminal has room for"
    blocks = (
        Paragraph(lines=(words,)),
        Grid(headers=("Task", "Rank"), labels=1, rows=(("a", Value(scale=Style.WHOLE, value=9)),)),
        Verbatim(text="file\x1b[2J:1: wrong\nfile:2: wrong"),
    )
    facts = ((Fact(label="Commit", value="c1"),),)
    sections = (Section(title="Problems", blocks=blocks), Section(title="Next", blocks=()))
    page = Document(title="T", banner="B", head=facts, sections=sections)
    lines = render_brief(page, 40, colours=False).splitlines()
    assert lines == [
        "T", "B", "Commit: c1", "", "Problems",
        "a sentence of more words than a narrow", "terminal has room for", "",
        "Task  Rank", "a        9", "",
        "file<U+001B>[2J:1: wrong", "file:2: wrong", "", "Next",
    ]  # fmt: skip


def test_a_command_that_has_no_room_is_copied_whole() -> None:
    step = Step("swarm-bench run humaneval --continue 01234567 --limit 89", "with 89 cases in all")
    for width in (40, 100):
        page = Document(
            title="", banner=None, head=(), sections=(), brief=(Paragraph(lines=(step.line,)),)
        )
        text = render_brief(page, width, colours=False)
        assert step.command in text
        assert text.count("\n") == 1 + (width == 40)
