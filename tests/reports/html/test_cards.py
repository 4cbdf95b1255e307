"""The first screen: a card for each mode says in a few words what it did, and only what is proved
is green."""

import re
from collections.abc import Callable, Iterable

import pytest

from swarm_bench.analysis.documents.comparison import make_document
from swarm_bench.core.report.page import SessionPage
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.reports.html.page import render_page
from tests.builders.keyed import answered, died
from tests.builders.reports import summarise
from tests.builders.sessions import make_session

NAMES = [f"t{number}" for number in range(16)]
ALL_NAMES = [*NAMES, "not-asked"]
TASKS = [
    {"id": name, "title": name, "prompt": f"Where is {name}?", "key": {"files": [f"{name}.py"]}}
    for name in ALL_NAMES
]
MOST_WORDS = 12


def render_cards(make: Callable[[str, str, int], TrialRecord]) -> dict[str, tuple[str, str]]:
    """Return the colour and the content of each card, by its mode."""
    trials = [
        make(mode, name, number)
        for mode in ("baseline", "canopy")
        for number, name in enumerate(NAMES, start=1)
    ]
    report = summarise(make_session(*trials, tasks=TASKS))
    page = render_page(SessionPage(document=make_document(report))).html
    cards = re.findall(r'<article class="card (\w+)">(.*?)</article>', page, re.DOTALL)
    headings = [re.findall("<h3>(.*?)</h3>", content)[0] for _, content in cards]
    assert all(len(heading.split()) <= MOST_WORDS for heading in headings)
    return {
        heading.split()[0].rstrip(":"): card for heading, card in zip(headings, cards, strict=True)
    }


def spend(mode: str, name: str, number: int, recalls: Iterable[float]) -> TrialRecord:
    low, high = recalls
    recall = (high if mode == "canopy" else low) if number % 4 else 1.0
    return answered(mode, name, recall, agent=number)


def test_a_gain_is_green_with_its_interval_its_size_and_the_use_of_the_tool() -> None:
    cards = render_cards(lambda mode, name, number: spend(mode, name, number, (0.0, 1.0)))
    colour, content = cards["canopy"]
    assert colour == "good"
    assert '<svg class="effect"' in content
    assert "<li>16 tasks × 1 run</li>" in content
    assert "tool used in 16 of 16 trials" in content


def test_a_loss_is_red() -> None:
    cards = render_cards(lambda mode, name, number: spend(mode, name, number, (1.0, 0.0)))
    assert cards["canopy"][0] == "bad"


@pytest.mark.parametrize("failing", [("canopy",), ("baseline",), ("baseline", "canopy")])
def test_what_failed_is_not_green(failing: tuple[str, ...]) -> None:
    def make(mode: str, name: str, number: int) -> TrialRecord:
        if mode in failing:
            return died(mode, name, agent=number)
        return answered(mode, name, 0.0, agent=number)

    assert "good" not in {colour for colour, _ in render_cards(make).values()}


def test_a_tool_that_nobody_used_is_not_green() -> None:
    def make(mode: str, name: str, number: int) -> TrialRecord:
        unused = {"retrieval": "unused", "mcp_calls": 0, "tool_answers": {}}
        changes = unused if mode == "canopy" else {}
        return answered(mode, name, float(mode == "canopy"), agent=number, **changes)

    assert "good" not in {colour for colour, _ in render_cards(make).values()}
