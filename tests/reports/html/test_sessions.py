"""Pages of whole sessions in a real Chromium: all of each is there, and can be used."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from perf.large import multiply, run_small
from swarm_bench.app.stored.pairs import PairSession
from swarm_bench.app.stored.session import open_session
from swarm_bench.core.report.document import Part, Picture
from swarm_bench.core.report.page import ShownTask
from swarm_bench.reports.html.page import render_page
from swarm_bench.testing.toy import Toy
from tests.builders.browsing import Visit, write
from tests.builders.golden import GOLDEN
from tests.builders.pages import make_calls, make_page, make_trial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
PICTURES = {
    "compare": {"effects.svg", "tasks-1.svg"},
    "growing": {"sizes-1.svg"},
    "retrieve": {"ranks-1.svg", "recall-1.svg", "ranks-2.svg", "recall-2.svg"},
    "humaneval": {"results.svg"},
}
"""Pictures that sessions have at least."""


@pytest.mark.parametrize("name", sorted(path.name for path in (GOLDEN / "sessions").iterdir()))
def test_sessions_of_every_kind_have_a_page(name: str, visit: Visit, tmp_path: Path) -> None:
    path = GOLDEN / "sessions" / name
    session = PairSession(path, Toy()) if name == "toy" else open_session(path)
    document = session.reanalyse({}).document
    path = write(tmp_path, render_page(session.build_page(document)).html)
    visit.open(path)
    page = visit.page
    assert page.locator("h1").inner_text() == document.title
    headings = page.locator("h2").all_inner_texts()
    sections = [*document.sections, *(document.apart.sections if document.apart else ())]
    shown = [section.title for section in sections if section.part is not Part.WARNINGS]
    assert set(shown) <= set(headings)
    assert page.locator(".card h3").count() > 0
    blocks = [block for section in sections for block in section.blocks]
    pictures = [block for block in blocks if isinstance(block, Picture)]
    assert {picture.address for picture in pictures} >= PICTURES.get(name, set())
    assert page.locator("figure svg[role=img]").count() == len(pictures)
    sort_tables(page)
    if name == "growing":  # a series has its trials in other sessions
        assert page.locator("table.matrix").count() == 0
    else:
        open_first_trial(page)
    visit.check(path)


def sort_tables(page: Any) -> None:
    """Sort each table that can be sorted: it has the same rows."""
    for table in page.locator("table:has(thead button)").all():
        texts = table.locator("tbody tr").all_text_contents()
        button = table.locator("thead button").first
        button.evaluate("it => it.click()")
        assert table.locator("thead th").first.get_attribute("aria-sort") == "ascending"
        assert sorted(table.locator("tbody tr").all_text_contents()) == sorted(texts)


def open_first_trial(page: Any) -> None:
    page.locator("button.entry").first.click()
    page.wait_for_selector("#transcripts h2")
    assert page.locator("#transcripts h3").first.is_visible()


@pytest.fixture(scope="module")
def recorded(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of scout in four modes, two of them controls, with its streams."""
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        run_small(folder / "small")
    return folder / "small"


def open_page(session: Path, visit: Visit, folder: Path) -> Any:
    """Write the page of a session, and open it."""
    stored = open_session(session)
    rendered = render_page(stored.build_page(stored.reanalyse({}).document))
    assert not rendered.task_pages
    visit.open(write(folder, rendered.html))
    return visit.page


def test_recorded_transcripts_open_where_they_were_made_to_differ(
    recorded: Path, visit: Visit, tmp_path: Path
) -> None:
    session = tmp_path / "planted"
    shutil.copytree(recorded, session)
    lines = (recorded / "baseline" / "agent-1.stream.jsonl").read_text().splitlines()
    calls = [at for at, line in enumerate(lines) if '"type":"tool_use"' in line]
    planted = calls[len(calls) // 2]
    event = json.loads(lines[planted])
    event["message"]["content"][0]["input"] = {"pattern": "planted"}
    lines[planted] = json.dumps(event)
    (session / "canopy" / "agent-1.stream.jsonl").write_text("\n".join(lines) + "\n")
    page = open_page(session, visit, tmp_path)
    page.get_by_label("canopy, run 1, agent 1:").click()
    page.wait_for_selector("#first-difference")
    assert page.evaluate("document.activeElement.id") == "first-difference"
    assert page.locator("#first-difference").is_visible()
    own, other = page.locator("#first-difference + .pair .call code").all_inner_texts()
    assert "planted" not in own
    assert json.loads(other) == {"pattern": "planted"}
    equal = page.locator("#transcripts .equal > summary").all_inner_texts()
    before, after = len(calls) // 2, len(calls) - len(calls) // 2 - 1
    assert equal == [f"{before} equal calls", f"{after} equal calls"]
    visit.check(tmp_path / "report.html")


def test_six_hundred_trials_with_failures_and_controls_can_be_used(
    recorded: Path, visit: Visit, tmp_path: Path
) -> None:
    session = tmp_path / "large"
    multiply(recorded, session, 600)
    page = open_page(session, visit, tmp_path)
    assert page.locator("button.entry").count() == 600
    assert page.locator("table.matrix thead th").count() == 5
    assert page.get_by_text("hit a rate limit", exact=True).first.is_visible()
    assert page.get_by_text("timed out", exact=True).first.is_visible()
    rows = page.locator("table.matrix tbody tr:not([hidden])")
    titles = rows.locator("th").all_inner_texts()
    header = page.locator("table.matrix thead button").first
    header.click()
    header.click()
    in_order = rows.locator("th").all_inner_texts()
    assert in_order != titles
    assert sorted(in_order) == sorted(titles)
    page.locator("section:has(table.matrix) input[type=search]").fill(titles[0])
    assert 0 < rows.count() < len(titles)
    rows.locator("button.entry").last.click()
    page.wait_for_selector("#transcripts h2")
    assert page.locator("#transcripts .call").count() > 10
    visit.check(tmp_path / "report.html")


def test_five_thousand_trials_have_a_page_for_each_task(visit: Visit, tmp_path: Path) -> None:
    trials = [
        make_trial(f"{mode}, run {run}, agent 1", make_calls("one", mode))
        for mode in ("baseline", "canopy")
        for run in range(1, 26)
    ]
    tasks = [ShownTask(title=f"Task {at}", prompt="?", trials=tuple(trials)) for at in range(100)]
    rendered = render_page(make_page("text", tasks), most_packed=0)
    for name, html in rendered.task_pages.items():
        (tmp_path / name).write_text(html)
    visit.open(write(tmp_path, rendered.html))
    page = visit.page
    assert page.locator(".entry").count() == 5_000
    assert page.locator("button.entry").count() == 0
    page.locator("tr:last-child .entry").first.click()
    page.wait_for_selector("#first-difference")
    page.get_by_role("link", name="All of the session").click()
    page.get_by_role("link", name="Task 99", exact=True).click()
    page.wait_for_selector("#first-difference")
    assert page.url.endswith("/report-task-100.html")
    assert page.locator("#side-left option").count() == 50
    assert visit.messages == []
    assert all(url.startswith(tmp_path.as_uri()) for url in visit.requests)
