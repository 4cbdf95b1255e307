"""Texts in pictures, measured by a real Chromium: whatever letters they have, none leaves its
picture or runs into another text of its line."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.analysis.documents.matrix import LEGEND
from swarm_bench.core.metric import Better, Style
from swarm_bench.core.report.document import Scale, ShownEffect, Tone, Value
from swarm_bench.core.report.page import Bar, Lane, Timeline
from swarm_bench.core.report.pictures import (
    Axis,
    Line,
    MarkGroup,
    MarkRow,
    PlaneChart,
    Point,
    RowChart,
    RowMark,
    make_picture,
)
from swarm_bench.reports.charts import draw
from swarm_bench.reports.svg import render_effect, render_timeline

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TEXTS = {
    "wide letters": "W" * 200,
    "capitals": "THE INDEX OF RENAMED FILES AND WHO READS IT " * 5,
    "a question": "How does the indexer notice that a file was renamed, and who reads its index? "
    * 3,
    "letters of two cells": "索引がファイル名の変更に気づく仕組み" * 12,
    "pictures": "\U0001f642" * 100,
    "families": "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 40,
    "another alphabet": "Щука Ждёт " * 30,
    "one letter of many words": "\ufdfa" * 60,
}
LARGE = Value(scale=Scale.RATIO, value=123456.5, low=0.01, high=98765432.1)
BOXES = """pictures => pictures.flatMap((picture, at) => [...picture.querySelectorAll("text")].map(
  (text) => {
    const { x, y, width, height } = text.getBBox();
    return [at, text.textContent, x, y, width, height, picture.viewBox.baseVal.width];
  }))"""
BEARING = 1.5
"""What a box may have beside its letters."""


def draw_all(text: str, *, is_inline: bool) -> list[str]:
    tone = Tone.GOOD
    axis = Axis(label=text, style=Style.WHOLE, is_logarithmic=True)
    groups = tuple(MarkGroup(label=text, shape=at, tone=tone) for at in range(5))
    marks = tuple(RowMark(group=at, value=at * 1e9 or None) for at in range(5))
    row = MarkRow(label=text, marks=marks, figure=LARGE, is_emphasised=True)
    common = MarkRow(label=text, marks=marks, figure=Value(scale=Scale.RATIO, value=0.5))
    rows = RowChart(
        title=text, explanation=text, axis=axis, groups=groups, extra_column=text,
        rows=(row, common),
    )  # fmt: skip
    points = Point(x=1, y=1), Point(x=3e10, y=3e10)
    lines = tuple(Line(label=text, shape=number, points=points) for number in range(4))
    plane = PlaneChart(title=text, explanation=text, x=axis, y=axis, lines=lines)
    return [draw(make_picture("tasks", chart), is_inline=is_inline) for chart in (rows, plane)]


def measure(page: Any) -> list[list[Any]]:
    boxes: list[list[Any]] = page.locator("svg").evaluate_all(BOXES)
    assert boxes
    return boxes


def find_overflow(boxes: list[list[Any]]) -> list[str]:
    """Describe the texts that leave their picture."""
    return [
        f"{text[:20]}: {x:.0f} to {x + width:.0f} of {whole:.0f}"
        for _, text, x, _, width, _, whole in boxes
        if x < -BEARING or x + width > whole + BEARING
    ]


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_leaves_a_picture_in_a_file(name: str, chromium: Any, tmp_path: Path) -> None:
    page = chromium.new_page()
    for picture in draw_all(TEXTS[name], is_inline=False):
        path = tmp_path / "picture.svg"
        path.write_text(picture)
        page.goto(path.as_uri())
        assert find_overflow(measure(page)) == []
    page.close()


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_leaves_a_picture_of_a_page(name: str, chromium: Any) -> None:
    text = TEXTS[name]
    bars = tuple(
        Bar(begin=0.0, end=60_000.0, tone=tone, label=text, trial=(0, 0))
        for tone in (None, Tone.BAD, Tone.OPEN)
    )
    timeline = Timeline(
        title=text,
        about=text,
        begin=0.0,
        seconds=90_000,
        lanes=(Lane(label=text, bars=bars, phases=bars),),
        legend=LEGEND,
    )
    effects = [
        ShownEffect(
            metric=text,
            value=value,
            margin=0.1,
            better=Better.LOWER,
            margin_label="band",
            cases="2 tasks",
        )
        for value in (LARGE, Value(scale=Scale.RATIO, value=0.5, low=0.4, high=0.6))
    ]
    pictures = [
        *draw_all(text, is_inline=True),
        render_timeline(timeline, {(0, 0): [(0.0, 30_000.0)]}),
        *(render_effect(effect, effects) for effect in effects),
    ]
    page = chromium.new_page()
    style = "svg { font: 13px system-ui, sans-serif } svg.effect { font-size: 12px } "
    page.set_content(
        f"<style>{style} svg .strong {{ font-weight: 600 }}</style>{''.join(pictures)}"
    )
    boxes = measure(page)
    assert find_overflow(boxes) == []
    for effect in (3, 4):
        line = [box for box in boxes if box[0] == effect and box[3] < 10]
        assert [
            (first[1], second[1])
            for first, second in combinations(line, 2)
            if first[2] + first[4] > second[2]
        ] == []
    page.close()
