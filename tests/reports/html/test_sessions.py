"""Pages of whole sessions in a real Chromium: all of each is there, and can be used."""

from pathlib import Path

import pytest

from swarm_bench.app.stored.pairs import PairSession
from swarm_bench.app.stored.session import open_session
from swarm_bench.core.report.document import Part, Picture
from swarm_bench.reports.html.page import render_page
from swarm_bench.testing.toy import Toy
from tests.builders.browsing import Visit, write
from tests.builders.golden import GOLDEN

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
    visit.check(path)
