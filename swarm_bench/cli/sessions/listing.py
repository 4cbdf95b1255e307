"""`swarm-bench list`: the sessions so far."""

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.output.terminal import printable, say, show
from swarm_bench.cli.output.waiting import show_step

if TYPE_CHECKING:
    from swarm_bench.app.stored.past import PastSession

HELP = """List the sessions so far, the last one that ran first: when, what, and what it came to.

\b
Examples:
  swarm-bench list
  swarm-bench list --most 100 | grep interrupted
  swarm-bench list --json | jq '.[0].verdict'

Where a command takes the folder of a session, its name here or its id will do, and 'latest'.
A cost is shown where somebody may have been charged for it.
"""
_PRIORITY = ("session", "verdict", "state", "command", "trials", "cost", "started", "id")
"""The columns that stay the longest in a narrow terminal come first."""
_GAP = "  "
_SHORTEST = 24
"""Columns of a verdict beside others."""


def register(app: typer.Typer) -> None:
    app.command(name="list", cls=FoldedCommand, help=HELP)(list_sessions)


def list_sessions(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder that the sessions are in.")
    ] = Path("results"),
    most: Annotated[
        int, typer.Option(min=1, metavar="N", help="Sessions that are read, the newest ones.")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    with show_step("looking for sessions") as line:
        from swarm_bench.app.stored.past import read_past_sessions

        past, older = read_past_sessions(folder, most, line.tell)
    if as_json:
        rows = [asdict(session) for session in past]
        show(json.dumps(rows, indent=2, default=str) + "\n")
    elif past:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        show("".join(f"{row}\n" for row in _lay_out(past, width)))
    else:
        say(f"There is no session in {folder} yet; 'swarm-bench demo' makes a first one.")
    if older:
        say(f"{older} older ones are not shown; --most {len(past) + older} shows all.")


def _lay_out(past: "Sequence[PastSession]", width: int | None) -> list[str]:
    """Lay the sessions out in columns: all of them, or what fits into a terminal."""
    columns = _build_columns(past)
    names = list(columns)
    wide = {name: max(map(len, (name, *column))) for name, column in columns.items()}
    while width and len(names) > 2 and _measure_width(names, wide) > width:
        names.remove(max(names, key=_PRIORITY.index))
    if width and "verdict" in names:
        other_width = sum(wide[name] + len(_GAP) for name in names if name != "verdict")
        wide["verdict"] = max(1, min(wide["verdict"], width - other_width))
    table = [names, *zip(*(columns[name] for name in names), strict=True)]
    return [
        _GAP.join(
            _cut(cell, wide[name]).ljust(wide[name]) for name, cell in zip(names, row, strict=True)
        ).rstrip()
        for row in table
    ]


def _measure_width(names: Sequence[str], wide: dict[str, int]) -> int:
    widths = (min(wide[name], _SHORTEST) if name == "verdict" else wide[name] for name in names)
    return sum(widths) + len(_GAP) * (len(names) - 1)


def _cut(cell: str, width: int) -> str:
    return cell if len(cell) <= width else f"{cell[: width - 1]}…"


def _build_columns(past: "Sequence[PastSession]") -> dict[str, list[str]]:
    """Return the cells below their headers; a cost where there is any."""
    columns = {
        "session": [session.name for session in past],
        "id": [session.id or "-" for session in past],
        "started": [
            f"{at.astimezone():%Y-%m-%d %H:%M}" if (at := session.created_at) else "-"
            for session in past
        ],
        "command": [session.command or "-" for session in past],
        "state": [session.state for session in past],
        "trials": [
            "-" if session.planned is None else f"{session.ended} of {session.planned}"
            for session in past
        ],
        "cost": [_format_cost(session) for session in past],
        "verdict": [_format_verdict(session) or _format_problem(session) for session in past],
    }
    if not any(session.cost is not None for session in past):
        del columns["cost"]
    return {name: [*map(printable, column)] for name, column in columns.items()}


def _format_verdict(session: "PastSession") -> str:
    """Leave out of the names what all of them begin with: a terminal cuts the end."""
    return session.verdict.replace(session.shared, "") if session.shared else session.verdict


def _format_problem(session: "PastSession") -> str:
    return f"({session.problem.partition('; ')[0]})" if session.problem else "-"


def _format_cost(session: "PastSession") -> str:
    if session.cost is None:
        return "-"
    missing = f" ({session.unpriced} missing)" if session.unpriced else ""
    return f"${session.cost:.2f}{missing}"
