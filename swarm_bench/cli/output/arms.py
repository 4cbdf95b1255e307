"""The table of the arms in the live view: what fits into the terminal, the most telling first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from swarm_bench.cli.output.terminal import printable

_GAP = 2
_SHORTEST = 12
"""Columns of a name."""
_Side = Literal["left", "right"]


@dataclass(kw_only=True)
class FigureSum:
    """A figure of trials, and how many have none."""

    value: float | None = None
    missing: int = 0

    def add(self, figure: float | None) -> None:
        """Take a trial into account."""
        if figure is None:
            self.missing += 1
        else:
            self.value = (self.value or 0) + figure

    def render(self, style: str) -> str:
        """Write the sum; nothing before there is any."""
        if self.value is None:
            return "not reported" if self.missing else ""
        missing = f" ({self.missing} missing)" if self.missing else ""
        return style.format(self.value) + missing


@dataclass(kw_only=True)
class Arm:
    """How far an arm is, with what an earlier call did of it."""

    planned: int
    done: int = 0
    failed: int = 0
    """Failed trials among those that have ended."""
    running: int = 0
    tokens: FigureSum = field(default_factory=FigureSum)
    cost: FigureSum = field(default_factory=FigureSum)

    def add_running(self, tokens: Iterable[float]) -> "Arm":
        """Return it with what trials that run have spent so far."""
        total = replace(self.tokens)
        for figure in tokens:
            total.add(figure)
        return replace(self, tokens=total)


def build_arms_table(arms: Mapping[str, Arm], width: int, height: int, *, spending: bool) -> Table:
    """Draw as many columns and rows as there is room for; the last columns go first."""
    selected = _select_rows(arms, max(height, 1))
    names = [printable(name) for name in selected]
    columns = _build_columns([arms[name] for name in selected], spending=spending)
    while len(columns) > 1 and _measure_width(names, columns, width) > width:
        columns.popitem()
    room = width - (_measure_width([], columns, width))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, _GAP, 0, 0))
    table.add_column("arm", no_wrap=True)
    for header in columns:
        table.add_column(header, justify="right", no_wrap=True)
    for row, name in enumerate(names):
        table.add_row(Text(_shorten(name, room)), *(cells[row] for cells in columns.values()))
    if omitted := len(arms) - len(selected):
        table.add_row(Text(f"and {omitted} more", style="dim"))
    return table


def _build_columns(arms: Iterable[Arm], *, spending: bool) -> dict[str, list[str]]:
    """Return the cells below their headers, the most telling column first. What nobody reports or
    is billed for has none; failures come early where there are any."""
    arms = list(arms)
    done = [f"{arm.done:,} of {arm.planned:,}" for arm in arms]
    failed = {"failed": [f"{arm.failed:,}" for arm in arms]}
    have_failed = any(arm.failed for arm in arms)
    columns = {"done": done, **(failed if have_failed else {})}
    columns["running"] = [f"{arm.running:,}" for arm in arms]
    if spending:
        columns["tokens"] = [arm.tokens.render("{:,.0f}") for arm in arms]
        if any(arm.cost.value is not None for arm in arms):
            columns["cost"] = [arm.cost.render("${:.4f}") for arm in arms]
    return columns | failed


def _measure_width(names: Iterable[str], columns: Mapping[str, Iterable[str]], width: int) -> int:
    """Return the columns of the terminal that a table takes; a name may be shortened to a third of
    all."""
    longest = max(map(cell_len, names), default=0)
    name_width = min(longest, max(_SHORTEST, width // 3))
    cells = (max(map(cell_len, (header, *column))) for header, column in columns.items())
    return name_width + sum(cell + _GAP for cell in cells)


def _shorten(name: str, room: int) -> str:
    """Take out its middle: arms of a model differ at the end, and models at the beginning."""
    if len(name) <= room:
        return name
    size = max(room - 1, 2)
    return f"{name[: size - size // 2]}…{name[len(name) - size // 2 :]}"


def _select_rows(arms: Mapping[str, Arm], height: int) -> list[str]:
    """Choose those that run, then those that still have to, in their order."""
    if len(arms) <= height:
        return list(arms)
    ranked = sorted(
        arms, key=lambda name: (not arms[name].running, arms[name].done == arms[name].planned)
    )
    selected = set(ranked[: max(height - 1, 1)])
    return [name for name in arms if name in selected]
