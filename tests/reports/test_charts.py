"""Pictures of marks in rows and in a plane."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from swarm_bench.analysis.documents.effects import make_ratio_chart
from swarm_bench.core.metric import Better, Style
from swarm_bench.core.report.document import (
    Document,
    Picture,
    Scale,
    Section,
    ShownEffect,
    Tone,
    Value,
)
from swarm_bench.core.report.pictures import (
    MARK,
    Axis,
    Line,
    MarkGroup,
    MarkRow,
    PlaneChart,
    Point,
    RowChart,
    RowMark,
    is_picture,
    make_picture,
)
from swarm_bench.reports.charts import draw
from swarm_bench.reports.markdown import write_document, write_files
from swarm_bench.reports.svg import render_effect
from tests.builders.pages import HOSTILE
from tests.builders.reports import summarise
from tests.reports.test_markdown import large_session

SVG = "{http://www.w3.org/2000/svg}"
GROUPS = (
    MarkGroup(label="baseline, right", shape=0, tone=Tone.GOOD, is_hollow=True),
    MarkGroup(label="canopy, wrong", shape=1, tone=Tone.BAD),
)
TOKENS = Axis(label="Tokens", style=Style.WHOLE, is_logarithmic=True)
ARROW = "rotate"
"""Word of the place of an arrow head, and of no mark."""
SHARE = Axis(label="Recall", style=Style.FRACTION, low=0, high=1)


def make_rows(*values: tuple[float | None, float | None], text: str = "text") -> RowChart:
    """Rows with a mark of each group."""
    rows = tuple(
        MarkRow(
            label=text,
            marks=tuple(RowMark(group=at, value=value) for at, value in enumerate(pair)),
            figure=Value(scale=Scale.RATIO, value=0.5),
        )
        for pair in values
    )
    return RowChart(
        title=text,
        explanation=text,
        axis=TOKENS,
        groups=GROUPS,
        rows=rows,
        extra_column=text,
        is_linked=True,
    )


def make_plane(*lines: Line, text: str = "text", x: Axis = TOKENS) -> PlaneChart:
    return PlaneChart(title=text, explanation=text, x=x, y=SHARE, lines=lines)


def parse(chart: RowChart | PlaneChart, *, is_inline: bool = False) -> ElementTree.Element:
    return ElementTree.fromstring(draw(make_picture("tasks", chart), is_inline=is_inline))


def locate_marks(picture: ElementTree.Element, groups: int) -> Iterator[tuple[float, float, str]]:
    """Yield position and class of each mark, without those of the legend."""
    for path in [*picture.iter(f"{SVG}path")][groups:]:
        if ARROW in path.attrib["transform"]:
            continue
        x, y = path.attrib["transform"].removeprefix("translate(").rstrip(")").split()
        yield float(x), float(y), path.attrib["class"]


def test_marks_of_a_row_stand_by_their_figures_and_look_like_their_group() -> None:
    picture = parse(make_rows((100, 1000), (10, None)))
    first, second, third, fourth = locate_marks(picture, 2)
    assert (first[2], second[2]) == ("good hollow", "bad")
    assert first[1] == second[1] < third[1] == fourth[1]
    assert third[0] < first[0] < second[0] < fourth[0]
    assert second[0] - first[0] == pytest.approx(first[0] - third[0], abs=0.2), "powers of ten"
    shapes = {path.attrib["class"]: path.attrib["d"] for path in picture.iter(f"{SVG}path")}
    assert len({*shapes.values()}) == 2
    texts = [*picture.itertext()]
    assert "0.50×" in texts
    assert {"10", "100", "1,000"} <= {*texts}


def test_points_stand_in_their_plane_with_what_is_sure_of_them() -> None:
    points = (
        Point(x=1, y=0.2, y_interval=(0.1, 0.4)),
        Point(x=8, y=0.9, x_interval=(4, 16)),
    )
    sizes = Axis(label="Agents", style=Style.WHOLE, ticks=(1, 8))
    picture = parse(make_plane(Line(label="a", shape=0, points=points), text="t", x=sizes))
    low, high = locate_marks(picture, 1)
    assert low[0] < high[0]
    assert low[1] > high[1], "up is more"
    lines = [line.attrib for line in picture.iter(f"{SVG}line")]
    joints = [it for it in lines if it["class"] == "hue-0"]
    assert [(float(it["x1"]), float(it["x2"])) for it in joints][1] == (low[0], high[0])
    assert len(joints) == 3
    assert float(joints[0]["y1"]) > low[1] > float(joints[0]["y2"])
    shown = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"1", "8", "0.00", "1.00", "Agents", "Recall"} <= {*shown}
    assert "4" not in shown


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0, 1e-9, 1e12])
def test_one_figure_alone_has_an_axis(value: float) -> None:
    axis = Axis(label="x", style=Style.AVERAGE)
    line = Line(label="a", shape=0, points=(Point(x=value, y=0.5),))
    picture = parse(make_plane(line, x=axis))
    ((x, _, _),) = locate_marks(picture, 1)
    assert 90 <= x <= 820


def test_marks_at_the_same_figure_do_not_hide_each_other() -> None:
    picture = parse(make_rows((10, 10), (10, None)))
    first, second, third, _ = locate_marks(picture, 2)
    assert first[0] == second[0] == third[0]
    assert second[1] - first[1] > 8
    assert third[1] == pytest.approx((first[1] + second[1]) / 2 + 22)
    links = [it for it in picture.iter(f"{SVG}line") if it.attrib["class"] == "line"]
    assert len(links) == 2, "the axis, and that of the second row"


def test_foreign_texts_are_text() -> None:
    text = "\n".join(HOSTILE)
    point = Point(x=1, y=1)
    for chart in (
        make_rows((1, 2), text=text),
        make_plane(Line(label=text, shape=0, points=(point,))),
    ):
        for is_inline in (True, False):
            picture = parse(chart, is_inline=is_inline)
            assert {it.tag.removeprefix(SVG) for it in picture.iter()} <= {
                *("svg", "title", "style", "rect", "text", "line", "path")
            }
            assert not [name for it in picture.iter() for name in it.attrib if name[:2] == "on"]


def test_a_long_legend_and_a_long_explanation_are_broken() -> None:
    groups = tuple(MarkGroup(label=f"mode {'x' * 30} {at}", shape=at) for at in range(12))
    rows = (MarkRow(label="q", marks=tuple(RowMark(group=at, value=at) for at in range(12))),)
    axis = Axis(label="Rank", style=Style.WHOLE)
    picture = parse(
        RowChart(title="t", explanation="word " * 80, axis=axis, groups=groups, rows=rows),
        is_inline=True,
    )
    paths = [*picture.iter(f"{SVG}path")]
    looks = {(path.attrib["class"], path.attrib["d"]) for path in paths[:12]}
    assert len(looks) == 12
    positions = [path.attrib["transform"] for path in paths[:12]]
    assert len({position.split()[1] for position in positions}) > 2
    assert all(float(it.attrib["x"]) < 860 for it in picture.iter(f"{SVG}text"))
    assert sum((it.text or "").startswith("word") for it in picture.iter(f"{SVG}text")) > 2
    assert not [*picture.iter(f"{SVG}style")]


def test_pictures_are_files_and_no_part_of_a_text_alone() -> None:
    picture = make_picture("tasks-1", make_rows((1, 2)))
    document = Document(
        title="t", banner=None, head=(), sections=(Section(title="s", blocks=(picture,)),)
    )
    files, text = write_files(document), write_document(document)
    assert files.pictures == {"tasks-1.svg": f"{MARK}{draw(picture)}"}
    assert "![text. text](tasks-1.svg)" in files.markdown
    assert "tasks-1.svg" not in text.markdown
    assert (text.pictures, text.document) == ({}, document)
    assert draw(Picture(address="x", about="x")) == ""


def test_what_stands_for_a_picture_in_a_text_is_text() -> None:
    blocks = (make_picture("tasks-1", make_rows((1, 2), text=" ".join(HOSTILE))),)
    document = Document(
        title="t", banner=None, head=(), sections=(Section(title="s", blocks=blocks),)
    )
    tokens = MarkdownIt("commonmark", {"html": True}).parse(write_files(document).markdown)
    (image,) = (it for token in tokens for it in token.children or () if it.type == "image")
    assert image.attrs["src"] == "tasks-1.svg"
    assert "<script>hit()</script>" in "".join(it.content for it in image.children or ())
    assert not [it for token in tokens for it in token.children or () if it.type == "html_inline"]


def test_a_picture_is_known_by_its_name() -> None:
    assert is_picture("effects.svg")
    assert is_picture("tasks-12.svg")
    assert not any(map(is_picture, ("mine.svg", "tasks-1.svg.bak", "tasks-x.svg", "effects.png")))


def make_row(value: float, low: float, high: float, **changes: Any) -> MarkRow:
    mark = RowMark(group=0, value=value, interval=(low, high))
    figure = Value(scale=Scale.RATIO, value=value, low=low, high=high)
    return replace(MarkRow(label="a: Cost", marks=(mark,), figure=figure), **changes)


def make_effects(*rows: MarkRow) -> RowChart:
    report = summarise(large_session(6, 1, 2))
    chart = make_ratio_chart(report.headline, report.modes)
    assert chart is not None
    return replace(chart, rows=rows)


def test_a_ratio_lies_within_its_interval_and_on_its_side_of_one() -> None:
    rows = make_row(0.7, 0.5, 0.9, is_emphasised=True), make_row(1.5, 1.2, 300)
    picture = parse(make_effects(*rows))
    one = float(picture.findall(f"{SVG}line[@class='line']")[0].attrib["x1"])
    (below, *_), (above, *_) = locate_marks(picture, 0)
    assert below < one < above
    lines = [line for line in picture.iter(f"{SVG}line") if line.attrib["class"] == "hue-0"]
    ends = [(float(line.attrib["x1"]), float(line.attrib["x2"])) for line in lines]
    assert ends[0][0] < below < ends[0][1] < one
    assert one < ends[1][0] < above < ends[1][1] <= 680
    bold = [it.text for it in picture.iter(f"{SVG}text") if it.attrib.get("font-weight")]
    assert bold == ["What was spent, against baseline", "a: Cost", "0.70× (0.50–0.90)"]
    band = picture.findall(f"{SVG}rect")[1].attrib
    assert float(band["x"]) < one < float(band["x"]) + float(band["width"])


def test_an_axis_of_what_is_all_zero_has_nothing_below_it() -> None:
    points = tuple(Point(x=x, y=0) for x in (1, 8))
    seconds = Axis(label="Seconds", style=Style.SECONDS, low=0)
    chart = make_plane(Line(label="a", shape=0, points=points))
    shown = [text.text for text in parse(replace(chart, y=seconds)).iter(f"{SVG}text")]
    assert "0.00s" in shown
    assert not any((text or "").startswith(("-", "\N{MINUS SIGN}")) for text in shown)


def test_a_subject_looks_the_same_in_rows_and_in_a_plane() -> None:
    point = Point(x=1, y=0.5)
    plane = parse(make_plane(*(Line(label="ab"[at], shape=at, points=(point,)) for at in (1, 0))))
    groups = tuple(MarkGroup(label="", shape=at) for at in range(2))
    marks = (RowMark(group=1, value=1), RowMark(group=0, value=1))
    row = MarkRow(label="b, a", marks=marks)
    rows = parse(replace(make_rows((1, 2)), groups=groups, rows=(row,), extra_column=""))
    looks = [
        [(path.attrib["class"], path.attrib["d"]) for path in picture.iter(f"{SVG}path")]
        for picture in (plane, rows)
    ]
    assert looks[0] == [*looks[1], *looks[1]], "in the legend, and in the plane"
    assert [look for look, _ in looks[1]] == ["hue-1", "hue-0"]


def test_foreign_names_in_a_label_are_text() -> None:
    row = make_row(1, 1, 1, label="<script>x</script>&amp;\x1b\x00 \u202e")
    picture = parse(make_effects(row))
    assert not list(picture.iter(f"{SVG}script"))
    assert "<script>x</script>&amp;" in " ".join(picture.itertext())


def test_nothing_to_compare_is_no_picture() -> None:
    report = summarise(large_session(1, 1, 1))
    assert make_ratio_chart(report.headline, report.modes) is None


def test_of_many_modes_the_first_are_drawn() -> None:
    report = summarise(large_session(6, 1, 40))
    chart = make_ratio_chart(report.headline, report.modes)
    assert chart is not None
    assert len(chart.rows) == 40
    assert " only in the table." in chart.explanation


def list_arrows(picture: ElementTree.Element) -> list[tuple[float, float, str]]:
    """Return position and direction of each arrow head."""
    moves = (path.attrib.get("transform", "") for path in picture.iter(f"{SVG}path"))
    arrows = (move.removeprefix("translate(").split() for move in moves if ARROW in move)
    return [(float(x), float(y.rstrip(")")), turn) for x, y, turn in arrows]


def test_an_interval_that_ends_beyond_the_axis_has_an_arrow_head_there() -> None:
    rows = make_row(0.7, 0.5, 0.9), make_row(1.5, 0.01, 300), make_row(40, 20, 80)
    picture = parse(make_effects(*rows))
    lines = [line for line in picture.iter(f"{SVG}line") if line.attrib["class"] == "hue-0"]
    ends = [(float(line.attrib["x1"]), float(line.attrib["x2"])) for line in lines]
    _, (_, second, _), (_, third, _) = locate_marks(picture, 0)
    assert list_arrows(picture) == [
        (ends[1][0], second, "rotate(180)"),
        (ends[1][1], second, "rotate(0)"),
        (ends[2][1], third, "rotate(0)"),
    ]


def test_a_point_beyond_the_axes_has_arrow_heads_in_a_plane() -> None:
    limited = replace(SHARE, limits=(0.25, 0.75))
    points = Point(x=0.5, y=0.5, y_interval=(0.1, 0.9)), Point(x=0.9, y=0.5)
    chart = replace(make_plane(Line(label="a", shape=0, points=points), x=limited), y=limited)
    assert [turn for _, _, turn in list_arrows(parse(chart))] == [
        "rotate(90)",
        "rotate(-90)",
        "rotate(0)",
    ]


@pytest.mark.parametrize(
    ("value", "turns"),
    [
        ((0.7, 0.5, 0.9), []),
        ((1.5, 0.9, 300.0), ["rotate(0)"]),
        ((0.5, 0.01, 2.0), ["rotate(180)"]),
        ((0.05, None, None), ["rotate(180)"]),
    ],
)
def test_the_effect_of_a_card_goes_on_beyond_its_picture(
    value: tuple[float, float | None, float | None], turns: list[str]
) -> None:
    figure, low, high = value
    ratio = Value(scale=Scale.RATIO, value=figure, low=low, high=high)
    effect = ShownEffect(
        metric="Cost",
        value=ratio,
        margin=0.1,
        better=Better.LOWER,
        margin_label="band",
        cases="2 tasks",
    )
    picture = ElementTree.fromstring(render_effect(effect, []))
    arrows = list_arrows(picture)
    assert [turn for _, _, turn in arrows] == turns
    assert all(10 <= x <= 310 for x, _, _ in arrows), "its head has room"


def test_effects_of_one_kind_have_one_axis() -> None:
    def locate(value: float, *beside: float) -> str:
        picture = ElementTree.fromstring(
            render_effect(make_effect(value), [*map(make_effect, beside), RATIO])
        )
        return picture.findall(f"{SVG}circle")[0].attrib["cx"]

    alone = float(locate(-0.2))
    assert alone < 40, "near the end of an axis of its own"
    assert alone < float(locate(-0.2, -0.8)) < 160
    assert locate(-0.2, -0.8) == locate(-0.2, -0.8, 0.1)


RATIO = ShownEffect(
    metric="Cost",
    value=Value(scale=Scale.RATIO, value=9.0),
    margin=0.1,
    better=Better.LOWER,
    margin_label="band",
    cases="2 tasks",
)


def make_effect(value: float) -> ShownEffect:
    difference = Value(scale=Scale.DIFFERENCE, value=value)
    return ShownEffect(
        metric="Recall",
        value=difference,
        margin=0.1,
        better=Better.HIGHER,
        margin_label="band",
        cases="2 tasks",
    )
