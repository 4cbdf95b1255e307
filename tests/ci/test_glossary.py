"""The glossary has what a newcomer reads in the tables of the first pages."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "decide-in-a-day.md")
MODES = {path.stem for path in (ROOT / "mcp_configs").glob("*.json")}
_OUTPUT = re.compile(r"^```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CELLS = re.compile(r" {2,}")


def test_rows_and_columns_of_the_first_pages_are_in_the_glossary() -> None:
    shown = {name for page in PAGES for name in _names(page.read_text(encoding="utf-8"))}
    assert {"Recall", "Wall time", "MRR", "Spread of runs", "Connected"} <= shown
    terms = _terms((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    assert sorted(name for name in shown if name.lower() not in terms) == []


def _terms(glossary: str) -> set[str]:
    """Return the terms of all tables, in small letters."""
    firsts = re.findall(r"^\| ([^|]+) \|", glossary, re.MULTILINE)
    terms = ",".join(re.sub(r"\([^)]*\)", "", first) for first in firsts)
    return {term.strip().lower() for term in terms.split(",")}


def _names(page: str) -> Iterator[str]:
    """Yield the rows of tables of metrics, and the columns of all tables, without what is in
    brackets."""
    for output in _OUTPUT.findall(page):
        headers: list[str] = []
        for line in output.splitlines():
            cells = _CELLS.split(line)
            if cells[0] in {"Metric", "Mode"} and len(cells) > 1:
                headers = cells
                yield from (_plain(cell) for cell in cells[1:] if cell not in MODES)
            elif len(cells) < 2:
                headers = []
            elif headers[:1] == ["Metric"]:
                yield _plain(cells[0])


def _plain(name: str) -> str:
    name = re.sub(r" \([^)]*\)", "", name)
    return re.sub(r" (per swarm|of a constant answer|added per request)$", "", name)
