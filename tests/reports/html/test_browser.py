"""Pages in a real Chromium: they ask for nothing, run nothing of what a session holds, and can be
read and used by all. NEED_BROWSER=1 fails where the tests would be skipped; `make test-browser`
sets up what they need."""

import re
from base64 import b64encode
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import (
    Cell,
    CombinedValue,
    ComparedValue,
    Grid,
    Section,
    Value,
)
from swarm_bench.core.report.page import ShownTask, ShownTrial
from swarm_bench.core.treatment.conversation import Conversation
from swarm_bench.reports.html.page import render_page
from tests.builders.browsing import Visit, lack, write
from tests.builders.pages import HOSTILE, make_calls, make_page, make_trial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def make_tasks(number: int = 1) -> list[ShownTask]:
    """Tasks whose trials differ from their third call on."""
    common = ("one", "two")
    trials = (
        make_trial("baseline, run 1, agent 1", make_calls(*common, "three", "four")),
        make_trial("canopy, run 1, agent 1", make_calls(*common, "planted", "four")),
    )
    return [ShownTask(title=f"Task {at}", prompt="Where?", trials=trials) for at in range(number)]


def test_hostile_texts_do_nothing(visit: Visit, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("\n".join(HOSTILE))).html)
    visit.open(path)
    visit.page.locator("button.entry").first.click()
    visit.page.wait_for_selector("#transcripts h2")
    for summary in visit.page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    visit.page.keyboard.press("Tab")
    visit.page.wait_for_timeout(300)
    visit.check(path)
    assert "<script>hit()</script>" in visit.page.locator("#transcripts").inner_text()


def test_a_line_of_ten_megabytes_does_nothing(visit: Visit, tmp_path: Path) -> None:
    line = "</script><img src=x onerror=hit()>" * 300_000
    first = make_trial("a, run 1", make_calls("one", result=line))
    shown = show(visit, tmp_path, first, make_trial("b, run 1", make_calls("other")))
    shown.locator(".call summary").first.click()
    result = shown.get_by_label("Result").first
    assert result.evaluate("it => it.textContent.length") == len(line)
    visit.page.wait_for_timeout(300)
    visit.check(tmp_path / "report.html")


def test_a_page_needs_no_network(offline_chromium: Any, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("\n".join(HOSTILE))).html)
    visit = Visit(offline_chromium.new_page())
    visit.open(path)
    with pytest.raises(Exception, match="ERR_(INTERNET_DISCONNECTED|ADDRESS_UNREACHABLE|NETWORK)"):
        offline_chromium.new_page().goto("http://127.0.0.1:8000/")
    visit.page.locator("button.entry").first.click()
    visit.page.wait_for_selector("#transcripts h2")
    visit.check(path)


def test_two_transcripts_open_at_the_first_difference(visit: Visit, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("text", make_tasks())).html)
    visit.open(path)
    visit.page.locator("button.entry").nth(1).focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#first-difference")
    assert visit.page.evaluate("document.activeElement.id") == "first-difference"
    pair = visit.page.locator("#first-difference + .pair .call code")
    assert pair.all_inner_texts() == ["three", "planted"]
    folded = visit.page.locator("#transcripts .equal > summary").all_inner_texts()
    assert folded == ["2 equal calls", "1 equal call"]
    marks = visit.page.locator("#transcripts .head > ul li span").all_inner_texts()
    assert marks == ["found", "missed"] * 2
    visit.page.select_option("#side-right", "")
    assert visit.page.locator("#first-difference").count() == 0
    assert visit.page.locator("#transcripts .single .call").count() == 4
    visit.check(path)


def test_a_trial_whose_transcript_is_lost_has_no_calls_to_compare(
    visit: Visit, tmp_path: Path
) -> None:
    (task,) = make_tasks()
    first, second, *_ = task.trials
    lost = replace(second, conversation=None, remarks=("It is lost.",))
    visit.open(
        write(tmp_path, render_page(make_page("t", [replace(task, trials=(first, lost))])).html)
    )
    visit.page.locator("button.entry").first.click()
    visit.page.wait_for_selector("#transcripts h4")
    panel = visit.page.locator("#transcripts").inner_text()
    assert f"Calls of {first.name}" in panel
    assert "no call" not in panel
    assert "First difference" not in panel


def test_the_bar_of_an_agent_opens_its_transcript(visit: Visit, tmp_path: Path) -> None:
    tasks = [*make_tasks(), *make_tasks()]
    visit.open(write(tmp_path, render_page(make_page("text", tasks)).html))
    visit.page.locator("[data-bar] rect").first.click()
    visit.page.wait_for_selector("#transcripts h2")
    visit.page.keyboard.press("Escape")
    focused = visit.page.evaluate("document.activeElement.className")
    assert "entry" in focused


ANSWER = """## Where it is
`Layout` is **declared in `rich/layout.py`**, see
[the docs](https://example.test/a).

1. first
2. second
   - within
   - again

```python
# no heading
print("<b>")
```
Beneath <i>it</i>."""


def show(visit: Visit, folder: Path, *trials: ShownTrial) -> Any:
    """Open the page of a task at its last trial."""
    task = ShownTask(title="Task", prompt="Where?", trials=trials)
    path = write(folder, render_page(make_page("text", [task])).html)
    visit.open(path)
    visit.page.locator("button.entry").last.click()
    visit.page.wait_for_selector("#transcripts h2")
    visit.check(path)
    return visit.page.locator("#transcripts")


def test_an_answer_is_rendered_and_its_text_folded(visit: Visit, tmp_path: Path) -> None:
    trial = replace(make_trial("baseline, run 1, agent 1", make_calls("one")), answer=ANSWER)
    answer = show(visit, tmp_path, trial).locator(".answer")
    assert answer.locator(".heading").all_inner_texts() == ["Where it is"]
    assert answer.locator("p code").all_inner_texts() == ["Layout", "rich/layout.py"]
    assert answer.locator("b").inner_text() == "declared in rich/layout.py"
    assert answer.locator("ol > li").count() == 2
    assert answer.locator("ol ul > li").all_inner_texts() == ["within", "again"]
    assert answer.locator("pre").inner_text() == '# no heading\nprint("<b>")'
    assert "the docs (https://example.test/a)" in answer.inner_text()
    assert "Beneath <i>it</i>." in answer.inner_text()
    assert answer.locator("a, i").count() == 0
    raw = visit.page.get_by_text("Answer as text")
    raw.click()
    assert visit.page.locator("details[open] pre").last.inner_text() == ANSWER
    plain = replace(trial, is_markdown=False)
    assert show(Visit(visit.page), tmp_path, plain).locator(".answer").count() == 0


def test_what_was_said_stands_before_its_call(visit: Visit, tmp_path: Path) -> None:
    said = Conversation(calls=make_calls("one", "two"), texts={1: "first", 2: "I look further."})
    first = replace(make_trial("a, run 1", make_calls("one", "two")), answer=None)
    second = replace(make_trial("b, run 1", ()), conversation=said, answer=None, last="I give up.")
    shown = show(visit, tmp_path, first, second)
    # Words are no difference: calls are compared by tool and arguments.
    assert "Both made the same calls." in shown.inner_text()
    shown.locator(".equal > summary").click()
    assert shown.locator(".pair .call").nth(3).locator(".said").inner_text() == "I look further."
    assert shown.locator("h4", has_text="Said last").count() == 1
    assert "I give up." in shown.inner_text()


def test_a_trial_is_shown_beside_the_other_arm_whatever_arms_are_called(
    visit: Visit, tmp_path: Path
) -> None:
    names = [("a, run 2", 1), ("a, run 2", 2), ("a, b", 1), ("a, b", 2)]
    trials = [replace(make_trial(f"{arm}, run {run}", ()), arm=arm, run=run) for arm, run in names]
    shown = show(visit, tmp_path, *trials)
    assert shown.locator("h3").all_inner_texts() == ["a, run 2, run 2", "a, b, run 2"]


def test_trials_without_calls_are_no_transcripts(visit: Visit, tmp_path: Path) -> None:
    trial = replace(make_trial("gpt, run 1", ()), conversation=None)
    shown = show(visit, tmp_path, trial)
    assert shown.locator("h2").inner_text() == "Trials: Task"
    assert shown.locator(".cited li span").all_text_contents() == [
        "exists", "does not exist", "not known"
    ]  # fmt: skip


def test_a_turn_without_tokens_has_no_bar(visit: Visit, tmp_path: Path) -> None:
    shown = show(visit, tmp_path, replace(make_trial("a, run 1", ()), turns=(100, None, 50)))
    rows = shown.locator("table tbody tr")
    assert [row.locator("meter").count() for row in rows.all()] == [1, 0, 1]


def test_a_browser_that_cannot_unpack_says_so(visit: Visit, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("text", make_tasks())).html)
    visit.page.add_init_script("delete window.DecompressionStream")
    visit.open(path)
    visit.page.locator("button.entry").first.click()
    panel = visit.page.locator("#transcripts [role=alert]")
    panel.wait_for()
    assert panel.inner_text().startswith("This browser cannot unpack transcripts")
    assert visit.page.evaluate("document.activeElement.id") == "transcripts"
    visit.check(path)


METRICS = ("Metric", "canopy")


@pytest.mark.parametrize(
    ("scales", "titles"),
    [
        ((Style.SECONDS,) * 3, ["a", "b", "c"]),
        ((Style.SECONDS, Style.DOLLARS, Style.SECONDS), None),
    ],
)
def test_figures_are_sorted_where_a_column_has_one_unit(
    scales: Any, titles: list[str] | None, visit: Visit, tmp_path: Path
) -> None:
    cells: list[Cell] = [
        CombinedValue(style=scales[0], parts=((3.0, "before"),)),
        Value(scale=scales[1], value=2.0),
        ComparedValue(own=Value(scale=scales[2], value=1.0), change="0.5×"),
    ]
    grid = Grid(headers=METRICS, labels=1, rows=tuple(zip("abc", cells, strict=True)))
    page = make_page("text")
    section = Section(title="Grid", blocks=(grid,))
    document = replace(page.document, sections=(section,), apart=None)
    path = write(tmp_path, render_page(replace(page, document=document)).html)
    visit.open(path)
    table = visit.page.locator("section:has(h2:text-is('Grid')) table")
    if titles is None:
        assert table.locator("thead button").count() == 0
        return
    table.locator("thead button").last.click()
    table.locator("thead button").last.click()
    assert table.locator("tbody th").all_inner_texts() == titles


def test_equal_calls_with_other_results_are_counted(visit: Visit, tmp_path: Path) -> None:
    first, second = make_calls("one", "two"), make_calls("one", "two")
    other = (first[0], replace(second[1], result="another"))
    trials = (make_trial("baseline, run 1", first), make_trial("canopy, run 1", other))
    task = ShownTask(title="Task", prompt="Where?", trials=trials)
    path = write(tmp_path, render_page(make_page("text", [task])).html)
    visit.open(path)
    visit.page.locator("button.entry").first.click()
    folded = visit.page.locator("#transcripts .equal > summary")
    folded.wait_for()
    assert folded.all_inner_texts() == ["2 equal calls, 1 with another result"]
    visit.check(path)


def test_closing_leads_back_to_what_was_opened(visit: Visit, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("text", make_tasks(2))).html)
    visit.open(path)
    page = visit.page
    entry = page.locator("button.entry").nth(1)
    for close in ("Escape", "Enter"):
        entry.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#first-difference")
        if close == "Enter":
            page.get_by_role("button", name="Close").focus()
        page.keyboard.press(close)
        assert page.locator("#transcripts").is_hidden()
        assert entry.evaluate("it => it === document.activeElement")
    visit.check(path)


def test_what_cannot_be_unpacked_is_said(visit: Visit, tmp_path: Path) -> None:
    html = render_page(make_page("text", make_tasks(2))).html
    visit.open(write(tmp_path, re.sub('(class="task">).*?<', r"\1AAAA<", html)))
    visit.page.locator("button.entry").first.click()
    alert = visit.page.locator("#transcripts [role=alert]")
    alert.wait_for()
    assert alert.inner_text().startswith("These trials cannot be shown: ")


def test_tables_are_sorted_and_filtered_by_keyboard(visit: Visit, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("text", make_tasks(14))).html)
    visit.open(path)
    page = visit.page
    titles = page.locator("table.matrix tbody tr:not([hidden]) th")
    button = page.locator("table.matrix thead button").first
    for _ in range(2):
        button.focus()
        page.keyboard.press("Enter")
    assert titles.all_inner_texts() == [f"Task {at}" for at in reversed(range(14))]
    header = page.locator("table.matrix thead th").first
    assert header.get_attribute("aria-sort") == "descending"
    button.focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") is None
    assert titles.all_inner_texts() == [f"Task {at}" for at in range(14)]
    page.get_by_label("Filter rows").first.focus()
    page.keyboard.type("task 13")
    assert titles.all_inner_texts() == ["Task 13"]
    assert page.get_by_role("status").first.inner_text() == "1 of 14 rows"
    visit.check(path)


def test_without_scripting_all_but_transcripts_is_there(chromium: Any, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("text", make_tasks())).html)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.get_by_text("scripting is off here").is_visible()
    assert page.locator("table.matrix .entry").first.is_visible()
    page.locator("details.section summary").first.click()
    assert page.locator("details.section table").first.is_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_serious_is_in_the_way_of_anybody(
    scheme: Any, width: int, chromium: Any, tmp_path: Path
) -> None:
    package = find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        lack("axe-playwright-python is not installed")
    axe = Path(package.origin).with_name("axe.min.js")
    path = write(tmp_path, render_page(make_page("text", make_tasks())).html)
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(path.as_uri())
    page.locator("button.entry").first.click()
    page.wait_for_selector("#first-difference")
    page.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
    page.evaluate(axe.read_text())
    found = page.evaluate("axe.run()")
    serious = [
        (rule["id"], [node["target"] for node in rule["nodes"]][:3])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide
    context.close()


READ_PIXEL = """async ([image, x, y]) => {
  const bitmap = await createImageBitmap(await (await fetch(image)).blob());
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  return [...context.getImageData(x, y, 1, 1).data].slice(0, 3);
}"""


def find_shaded_edges(chromium: Any, region: Any) -> list[str]:
    """Return the edges of what scrolls at which its first line of pixels is no bare page."""
    picture = b64encode(region.screenshot()).decode()
    blank = chromium.new_page()
    places = {"left": 2, "middle": 195, "right": int(region.bounding_box()["width"]) - 3}
    colours = {
        name: blank.evaluate(READ_PIXEL, [f"data:image/png;base64,{picture}", x, 2])
        for name, x in places.items()
    }
    blank.close()
    return [name for name in ("left", "right") if colours[name] != colours["middle"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["figure", "table"])
def test_what_is_wider_than_a_phone_shows_at_its_edges_that_it_goes_on(
    name: str, scheme: Any, chromium: Any, tmp_path: Path
) -> None:
    path = write(tmp_path, render_page(make_page("a-long-name")).html)
    context = chromium.new_context(
        viewport={"width": 390, "height": 800}, color_scheme=scheme, java_script_enabled=False
    )
    page = context.new_page()
    page.goto(path.as_uri())
    region = page.locator(f".scroll:has({'svg' if name == 'figure' else 'thead'})").first
    assert region.evaluate("it => it.scrollWidth > it.clientWidth")
    assert find_shaded_edges(chromium, region) == ["right"]
    region.evaluate("it => { it.scrollLeft = (it.scrollWidth - it.clientWidth) / 2; }")
    assert find_shaded_edges(chromium, region) == ["left", "right"]
    region.evaluate("it => { it.scrollLeft = it.scrollWidth; }")
    assert find_shaded_edges(chromium, region) == ["left"]
    context.close()


def test_paper_has_all_of_it_open(visit: Visit, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("text", make_tasks(14))).html)
    visit.open(path)
    visit.page.get_by_label("Filter rows").first.fill("no such row")
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("details:not([open])").count() == 0
    visit.page.emulate_media(media="print")
    assert visit.page.locator("table.matrix tbody tr").last.is_visible()
    visit.page.emulate_media(media="screen")
    assert not visit.page.locator("table.matrix tbody tr").last.is_visible()
    visit.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert visit.page.locator("details:not([open])").count() > 0
    assert len(visit.page.pdf()) > 1000
    visit.check(path)


def test_a_wide_picture_scrolls_within_its_region(chromium: Any, tmp_path: Path) -> None:
    path = write(tmp_path, render_page(make_page("text")).html)
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(path.as_uri())
    region = page.locator("figure .scroll").first
    assert region.get_attribute("aria-label") == "text. text"
    assert region.evaluate("it => it.scrollWidth > it.clientWidth")
    region.focus()
    page.keyboard.press("ArrowRight")
    for _ in range(50):  # the page lets nothing evaluate texts, so that waiting is done here
        if region.evaluate("it => it.scrollLeft") > 0:
            break
        page.wait_for_timeout(100)
    assert region.evaluate("it => it.scrollLeft") > 0
    page.emulate_media(media="print")
    assert region.locator("svg").evaluate("it => it.getBoundingClientRect().width <= innerWidth")
    context.close()
