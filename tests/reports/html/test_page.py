"""A document as a page: all of it is there, in order, and nothing in it is markup."""

import itertools
import json
import random
import re
import sysconfig
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from swarm_bench.core.report.document import Answer, Answers, Part, Section
from swarm_bench.core.report.page import Bar, Lane, MatrixEntry, ShownTask
from swarm_bench.reports.html.page import pack_task, render_page
from swarm_bench.reports.svg import render_timeline
from tests.builders.pages import HOSTILE, make_calls, make_page, make_trial


class Reader(HTMLParser):
    """The elements of a page, its texts, and its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.texts))


def render(text: str) -> str:
    return render_page(make_page(text)).html


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_is_markup(text: str) -> None:
    page, harmless = render(text), Reader(render("harmless"))
    page.encode()
    reader = Reader(page)
    assert {*reader.tags} | {"a"} == {*harmless.tags}  # a text may lead to no file
    assert reader.tags.count("script") == harmless.tags.count("script")
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    links = [value for name, value in reader.attributes if name in ("href", "src")]
    assert all(re.fullmatch(r"[#\w./-]*", link) for link in links), links
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)


def test_the_policy_allows_no_request_and_only_what_the_page_has() -> None:
    page = render("text")
    attributes = Reader(page).attributes
    (policy,) = [value for _, value in attributes if value.startswith("default-src")]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for name in ("style", "script"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert rules[f"{name}-src"] == f"'sha256-{digest}'"
    assert not [name for name, _ in attributes if name == "style"]
    assert set(rules) == {"default-src", "style-src", "script-src", "base-uri", "form-action"}


def test_all_of_a_document_is_there() -> None:
    text = Reader(render("word")).text
    for part in ("word helps.", "Evidence: word", "Caveats: word; word.", "Next, word: word"):
        assert part in text
    for figure in ("0.69× (0.58–0.82)", "0.50–2.00", "1.00s word; word", "8,490, word"):
        assert text.count(figure) >= 4, figure
    assert text.count("Apart") == 1
    assert "2 more" in text
    assert "Rows not shown: 3" in text


def test_a_card_shows_its_caveats_and_a_tab_its_claims() -> None:
    answer = Answer(subject="canopy", claim=" helps", evidence="72 trials", caveats=("it guesses",))
    headline = Section(title="Headline", part=Part.HEADLINE, blocks=(Answers(items=(answer,)),))
    page = make_page("text")
    document = replace(page.document, title="Summary", sections=(headline,))
    html = render_page(replace(page, document=document)).html
    assert "<title>canopy helps. Summary</title>" in html
    card, _ = html.split("</article>")
    visible, folded = card.split("<details>")
    assert "Caveat: it guesses." in visible
    assert "Evidence: 72 trials" in folded


def test_the_first_warnings_are_open() -> None:
    (section,) = re.findall(r'<section class="warnings">.*?</section>', render("w"), re.DOTALL)
    head, _, folded = section.partition("<details>")
    assert (head.count("<li>"), folded.count("<li>")) == (3, 2)


def test_the_script_is_short_and_makes_no_markup() -> None:
    page = render("text")
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    assert script.count("\n") <= 600
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert name not in script
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import)\b\s*\(", script)


def test_transcripts_are_packed_in_an_alphabet_without_markup() -> None:
    page = render("</script><script>hit()</script>")
    (content,) = re.findall('<script type="application/octet-stream"[^>]*>(.*?)</script>', page)
    assert re.fullmatch("[A-Za-z0-9+/=]+", content)
    task = json.loads(zlib.decompress(b64decode(content)))
    number = task["trials"][0]["calls"][0]["result"]
    assert task["results"][number] == "</script><script>hit()</script>"


def test_a_result_of_several_calls_is_packed_once() -> None:
    text = "".join(map(chr, random.Random(1).choices(range(33, 127), k=50_000)))
    trial = make_trial("baseline, run 1", make_calls("one", "two", result=text))
    one, three = (
        pack_task(ShownTask(title="Task", prompt="Where?", trials=(trial,) * number))
        for number in (1, 3)
    )
    assert 50_000 < len(one) <= len(three) < 1.01 * len(one)


@pytest.mark.parametrize(
    ("seconds", "labels"),
    [
        (20, ["0 s", "5 s", "10 s", "15 s", "20 s"]),
        (400, ["0 min", "1 min", "2 min", "3 min", "4 min", "5 min", "6 min"]),
        (100_000, ["0 h", "4 h", "8 h", "12 h", "16 h", "20 h", "24 h"]),
        (2_000_000, ["0 h", "555.6 h"]),
    ],
)
def test_ticks_of_long_sessions_are_minutes_and_hours(seconds: float, labels: list[str]) -> None:
    page = make_page("text")
    assert page.timeline
    timeline = replace(page.timeline, seconds=seconds)
    html = render_page(replace(page, timeline=timeline)).html
    assert re.findall(r">([\d.]+ (?:s|min|h))</text>", html) == labels


def test_calls_are_drawn_in_time_within_the_bar_of_their_agent() -> None:
    page = make_page("text")
    assert page.timeline
    spans = {
        (0, 0): [(100.5, 101.0), (100.9, 101.2), (99.0, 100.1), (101.9, 110.0), (101.4, 101.4)]
    }
    picture = render_timeline(replace(page.timeline, begin=100.0), spans)
    (path,) = re.findall(r'class="calls" d="([^"]*)"', picture)
    drawn = [tuple(map(float, pair)) for pair in re.findall(r"M([\d.]+) \d+h([\d.]+)v", path)]
    begins, widths = zip(*drawn, strict=True)
    per_second = 750 / 2
    assert begins == pytest.approx([190 + per_second * at for at in (0, 0.5, 1.9)], abs=0.1)
    assert widths == pytest.approx([per_second * width for width in (0.1, 0.7, 0.1)], abs=0.2)
    assert picture.count(">text</text>") == 4, "a lane, and what its bars are"
    assert render_timeline(page.timeline, {}).count(">text</text>") == 3


def test_calls_without_a_pause_are_one_and_equal_calls_are_drawn_alike() -> None:
    page = make_page("text")
    assert page.timeline
    timeline = replace(page.timeline, begin=0.0, seconds=2.0)
    adjacent = [(at / 2500, (at + 1) / 2500) for at in range(5000)]
    picture = render_timeline(timeline, {(0, 0): adjacent})
    assert re.findall(r'class="calls" d="M190.0 \d+h750.0v', picture)
    width = 0.3 / 375
    equal = [(at / 360 + 0.0003, at / 360 + 0.0003 + width) for at in range(700)]
    assert render_timeline(timeline, {(0, 0): equal}).count("h0.3v") == 700


def test_of_very_many_calls_the_share_of_the_time_is_drawn() -> None:
    page = make_page("text")
    assert page.timeline
    bars = tuple(
        Bar(begin=0.0, end=1000.0, tone=None, label="", trial=(number, 0)) for number in range(60)
    )
    lanes = (Lane(label="a", bars=bars),)
    timeline = replace(page.timeline, begin=0.0, seconds=1000.0, lanes=lanes)
    short = [(float(at), at + 0.5) for at in range(950)]
    spans = {(number, 0): [*short, (960.0, 980.0)] for number in range(60)}
    drawn = re.findall(r"M[\d.]+ \d+h([\d.]+)v", render_timeline(timeline, spans))
    assert len(drawn) <= 50_000
    assert sum(map(float, drawn)) / 60 == pytest.approx(0.495 * 750, rel=0.01)


def test_calls_that_take_no_time_are_no_time() -> None:
    page = make_page("text")
    assert page.timeline
    bars = (Bar(begin=0.0, end=300.0, tone=None, label="", trial=(0, 0)),)
    timeline = replace(page.timeline, seconds=32_400.0, lanes=(Lane(label="a", bars=bars),))
    spans = {(0, 0): [(3.0 * at, 3.0 * at + 0.001) for at in range(100)]}
    assert 'class="calls"' not in render_timeline(timeline, spans)


def test_what_a_cell_has_no_room_for_is_told_on_the_page() -> None:
    page = make_page("text")
    assert page.matrix
    entry = MatrixEntry(value="2 more", tone=None, name="Trials without room")
    rows = tuple(replace(row, cells=((entry,), (entry,))) for row in page.matrix.rows)
    html = render_page(replace(page, matrix=replace(page.matrix, rows=rows))).html
    assert Reader(html).text.count("Trials without room.") == 1
    assert "Trials without room" not in Reader(render("text")).text


def read_code(length: int) -> Iterator[str]:
    """Yield what agents read: pieces of the standard library, each once."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("**/*.py")):
        if "-packages" not in path.as_posix():
            text = path.read_bytes().decode("utf-8", "replace")
            yield from (text[at : at + length] for at in range(0, len(text) - length, length))


def make_read_task(number: int, pieces: Iterator[str]) -> ShownTask:
    """Make a task of six trials of 40 kB, of whose results half are also those of another one.
    Among three trials of scout to a task, measured in a demo of 88, it is half of them too."""
    draw, known = random.Random(number), [*itertools.islice(pieces, 24)]
    order = draw.sample(known, 24) + draw.sample(known, 24)
    names = [f"{mode}, run {run}, agent 1" for mode in ("baseline", "canopy") for run in (1, 2, 3)]
    trials = [
        make_trial(name, make_calls(*map(str, range(8)), results=order[at * 8 : at * 8 + 8]))
        for at, name in enumerate(names)
    ]
    return ShownTask(title=f"Task {number}", prompt="Where is it?", trials=tuple(trials))


@pytest.mark.parametrize(("tasks", "most"), [(17, 3_000_000), (167, 8_000_000)])
def test_pages_stay_small(tasks: int, most: int) -> None:
    pieces = read_code(5_000)
    shown = [make_read_task(number, pieces) for number in range(tasks)]
    rendered = render_page(make_page("text", shown))
    assert not rendered.task_pages
    assert 0.1 * most < len(rendered.html) <= most


def test_a_page_for_each_task_where_one_has_no_room() -> None:
    pieces = read_code(5_000)
    tasks = [make_read_task(number, pieces) for number in range(3)]
    whole, split = (render_page(make_page("text", tasks), most_packed=most) for most in (10**6, 10))
    assert not whole.task_pages
    assert [*split.task_pages] == [f"report-task-{number}.html" for number in (1, 2, 3)]
    assert 'href="report-task-1.html"' in split.html
    assert 'class="task"' not in split.html
    assert 'class="task"' in split.task_pages["report-task-3.html"]
