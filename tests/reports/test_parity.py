"""Every figure that canopy's script prints comes out the same here."""

import re
from pathlib import Path

import pytest

from swarm_bench.importers.canopy_script.folder import read_script_folder
from tests.builders.reports import render, summarise

OWN = Path(__file__).parent / "data" / "script"
"""A folder without defects; its summary was worked out by hand with the script's formulas."""
LARGER = Path(__file__).parents[3] / "shared" / "facts" / "canopy-script-sample"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")

Table = list[dict[str, str]]


def tables(text: str) -> list[Table]:
    """The pipe tables of a Markdown text, each a list of rows by column."""
    found: list[list[list[str]]] = []
    previous = ""
    for line in text.splitlines():
        if line.startswith("|"):
            if not previous.startswith("|"):
                found.append([])
            # The script has no space before a percent sign, and no sign between thousands.
            cells = _THOUSANDS.sub("", line.strip("|").replace(" %", "%")).split("|")
            found[-1].append([cell.strip() for cell in cells])
        previous = line
    return [[dict(zip(head, row, strict=True)) for row in rows] for head, _, *rows in found]


@pytest.fixture(
    params=[
        OWN,
        pytest.param(
            LARGER, marks=pytest.mark.skipif(not LARGER.is_dir(), reason="not on this machine")
        ),
    ],
    ids=["own", "larger"],
)
def pair(request: pytest.FixtureRequest) -> tuple[list[Table], list[Table]]:
    """The tables of the script's summary, and of ours of the same folder."""
    folder: Path = request.param
    theirs = (folder / "summary.md").read_bytes().decode("utf-8", errors="replace")
    return tables(theirs), tables(render(summarise(read_script_folder(folder))))


def test_the_metrics_of_each_mode_are_the_same(pair: tuple[list[Table], list[Table]]) -> None:
    theirs, ours = (
        {row["Metric"]: row for one in side for row in one if "Metric" in list(row)[:1]}
        for side in pair
    )
    assert len(theirs) == 19
    assert {metric: ours.get(metric) for metric in theirs} == theirs


def test_the_figures_of_each_agent_are_the_same(pair: tuple[list[Table], list[Table]]) -> None:
    theirs, ours = (
        {
            (row["Mode"], row["Agent"]): {
                key: cell for key, cell in row.items() if key not in {"Task", "Outcome"}
            }
            for table in side
            for row in table
            if "Agent" in row
        }
        for side in pair
    )
    assert len(theirs) >= 4
    common = {
        agent: {key: ours[agent][key] for key in figures} for agent, figures in theirs.items()
    }
    assert common == theirs
