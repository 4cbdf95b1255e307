"""The picture of the effects."""

from xml.etree import ElementTree

from swarm_bench.analysis.documents.effects import make_chart
from swarm_bench.core.report.ratios import Chart, Mark
from swarm_bench.reports.svg import render_svg
from tests.builders.reports import summarise
from tests.reports.test_markdown import HOSTILE, hostile_session, large_session

SVG = "{http://www.w3.org/2000/svg}"


def mark(estimate: float, low: float, high: float, **changes: object) -> Mark:
    values = {"mode": "a", "metric": "Cost", "is_primary": False, **changes}
    return Mark(estimate=estimate, interval=(low, high), **values)  # type: ignore[arg-type]


def drawn(*marks: Mark) -> ElementTree.Element:
    page = Chart(title="Effects against b", margin=0.1, marks=marks, about="How to read it.")
    return ElementTree.fromstring(render_svg(page))


def test_a_mark_lies_within_its_interval_and_on_its_side_of_one() -> None:
    picture = drawn(mark(0.7, 0.5, 0.9, is_primary=True), mark(1.5, 1.2, 300))
    one = float(picture.findall(f"{SVG}line")[0].attrib["x1"])
    (below, above) = (float(it.attrib["cx"]) for it in picture.findall(f"{SVG}circle"))
    assert below < one < above
    lines = [line for line in picture.iter(f"{SVG}line") if line.attrib["class"] == "mark"]
    ends = [(float(line.attrib["x1"]), float(line.attrib["x2"])) for line in lines]
    assert ends[0][0] < below < ends[0][1] < one
    assert one < ends[1][0] < above < ends[1][1] <= 680
    bold = [it.text for it in picture.iter(f"{SVG}text") if it.attrib.get("font-weight")]
    assert bold == ["Effects against b", "a: Cost", "0.70× (0.50–0.90)"]
    band = picture.findall(f"{SVG}rect")[1].attrib
    assert float(band["x"]) < one < float(band["x"]) + float(band["width"])


def test_foreign_names_are_text() -> None:
    picture = drawn(mark(1, 1, 1, mode="<script>x</script>&amp;\x1b\x00 \u202e"))
    assert not list(picture.iter(f"{SVG}script"))
    assert "<script>x</script>&amp;" in " ".join(picture.itertext())
    shown = make_chart(hostile_session().headline)
    assert shown is None or HOSTILE not in render_svg(shown)


def test_nothing_to_compare_is_no_picture() -> None:
    assert make_chart(summarise(large_session(1, 1, 1)).headline) is None


def test_of_many_modes_the_first_are_drawn() -> None:
    shown = make_chart(summarise(large_session(6, 1, 40)).headline)
    assert shown is not None
    assert len(shown.marks) == 40
