"""A plan as text, for a pipe and for a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tabulate import tabulate

from swarm_bench.core.report.document import Block, Document, Grid, Paragraph, Section
from swarm_bench.core.report.plan import Entry, Plan
from swarm_bench.reports.text import plain

_PART = 13
"""Characters of the label of a part."""
_DECIDING = frozenset(
    {"Questions", "Not approved", "Untrusted", "Warning", "Left out", "Note", "Requests", "Tokens"}
    | {"Can show", "Trials", "Set-up", "Cost", "Expected", "Time", "All sizes"}
)
"""Labels of the lines by which the user decides whether to begin: at a terminal they come last."""
_MOST_ROWS = 6
"""Trials that a terminal lists."""


def render_plan(plan: Plan, width: int | None = None) -> str:
    """Write the plan, ending with a line break: for a pipe, or for a terminal of so many columns,
    where the lines by which the user decides come last."""
    if width is not None:
        return _render_for_terminal(plan, width)
    title = f"{plan.title}\n{'-' * len(plan.title)}\n" if plan.title else ""
    omitted = f"{plan.omitted}\n" if plan.omitted else ""
    return f"{title}{_format_entries(plan.entries)}{_format_table(plan.trials)}\n{omitted}"


def render_plans(plans: Iterable[Plan], together: Sequence[Entry], width: int | None = None) -> str:
    """Write several plans, and what they come to."""
    end = (
        _format_entries(together)
        if width is None
        else _render_blocks("", [_build_grid(together)], width)
    )
    return "".join(f"{render_plan(plan, width)}\n" for plan in plans) + end


def _render_for_terminal(plan: Plan, width: int) -> str:
    trials, entries = plan.trials, [*_label_entries(plan.entries)]
    cut = len(trials.rows) - _MOST_ROWS
    blocks: list[Block] = [replace(trials, rows=trials.rows[:_MOST_ROWS])]
    if note := plan.rest if cut > 0 else plan.omitted:
        blocks.append(Paragraph(lines=(note,)))
    for decides in (False, True):
        blocks.append(
            _build_grid([entry for entry, label in entries if (label in _DECIDING) == decides])
        )
    return _render_blocks(plan.title, blocks, width)


def _render_blocks(title: str, blocks: Sequence[Block], width: int) -> str:
    from swarm_bench.reports.terminal import render_brief  # heavy

    section = Section(title="", blocks=tuple(blocks))
    page = Document(title=title, banner=None, head=(), sections=(section,))
    return render_brief(page, width, colours=False)


def _label_entries(entries: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """Yield the entries, each with its label, or that of the one that it goes with."""
    label = ""
    for entry in entries:
        label = entry.label or label
        yield entry, label


def _build_grid(entries: Sequence[Entry]) -> Grid:
    """Make a table of entries, each line of which is broken beside its label."""
    rows = [row for entry in entries for row in _list_rows(entry)]
    return Grid(headers=("", ""), labels=2, rows=tuple(rows))


def _list_rows(entry: Entry) -> Iterator[tuple[str, str]]:
    labels = [f"{entry.label}:" if entry.label else "", *[""] * len(entry.texts)]
    yield from zip(labels, entry.texts, strict=False)
    yield from (("", f"{part.label}: {text}") for part in entry.parts for text in part.texts)


def _format_entries(entries: Sequence[Entry]) -> str:
    width = max(len(entry.label) for entry in entries) + len(": ")
    return "".join(f"{line}\n" for entry in entries for line in _format_lines(entry, width))


def _format_lines(entry: Entry, width: int) -> Iterator[str]:
    labels = [f"{entry.label}:" if entry.label else "", *[""] * len(entry.texts)]
    for label, text in zip(labels, entry.texts, strict=False):
        yield f"{label:{width}}{plain(text)}"
    for part in entry.parts:
        for text in part.texts:
            yield f"{'':{width}}{part.label + ':':{_PART}} {plain(text)}"


def _format_table(grid: Grid) -> str:
    rows = [[plain(str(cell)) for cell in row] for row in grid.rows]
    return tabulate(rows, headers=grid.headers, tablefmt="simple")
