"""A plan as text for a terminal. No sentence is its own."""

from collections.abc import Iterable, Iterator, Sequence

from tabulate import tabulate

from swarm_bench.core.report.document import Grid
from swarm_bench.core.report.plan import Entry, Plan
from swarm_bench.reports.text import plain

_PART = 13
"""Characters of the label of a part."""


def render_plan(plan: Plan) -> str:
    """Write the plan, ending with a line break."""
    title = f"{plan.title}\n{'-' * len(plan.title)}\n" if plan.title else ""
    omitted = f"{plan.omitted}\n" if plan.omitted else ""
    return f"{title}{_entries(plan.entries)}{_table(plan.trials)}\n{omitted}"


def render_plans(plans: Iterable[Plan], together: Sequence[Entry]) -> str:
    """Write several plans, and what they come to."""
    return "".join(f"{render_plan(plan)}\n" for plan in plans) + _entries(together)


def _entries(entries: Sequence[Entry]) -> str:
    width = max(len(entry.label) for entry in entries) + len(": ")
    return "".join(f"{line}\n" for entry in entries for line in _lines(entry, width))


def _lines(entry: Entry, width: int) -> Iterator[str]:
    labels = [f"{entry.label}:" if entry.label else "", *[""] * len(entry.texts)]
    for label, text in zip(labels, entry.texts, strict=False):
        yield f"{label:{width}}{plain(text)}"
    for part in entry.parts:
        for text in part.texts:
            yield f"{'':{width}}{part.label + ':':{_PART}} {plain(text)}"


def _table(grid: Grid) -> str:
    rows = [[plain(str(cell)) for cell in row] for row in grid.rows]
    return tabulate(rows, headers=grid.headers, tablefmt="simple")
