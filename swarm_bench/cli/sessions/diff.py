"""`swarm-bench diff`."""

from typing import Annotated

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import LATEST, find_session
from swarm_bench.cli.output.terminal import show_summary
from swarm_bench.cli.output.waiting import show_step

HELP = """Compare two sessions, B against A: what differs, and for each mode that both have what it
came to, paired task by task.

Only sessions that agree in model, version of the agent, tasks and commit are compared; of `run`,
in benchmark, data and cases. They ran at two times and are not randomised against each other, so a
difference can be drift of the provider: to compare two tools, run both in one session.

\b
Examples:
  swarm-bench diff results/swarm-20261119-101500 results/swarm-20261120-213300
  swarm-bench diff swarm-20261119-101500
  swarm-bench diff results/swarm-2026112{0,1}-* > diff.md

Exit codes: 0 they were compared, 2 they cannot be, or wrong usage.
"""


def register(app: typer.Typer) -> None:
    app.command(name="diff", cls=FoldedCommand, help=HELP)(diff)


def diff(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="Folder of the earlier session, its name below results/, or its id.",
            autocompletion=completing.offer_sessions,
        ),
    ],
    b: Annotated[
        str,
        typer.Argument(
            metavar="B",
            help="The session that is held against it; the newest without it.",
            autocompletion=completing.offer_sessions,
            show_default=False,
        ),
    ] = LATEST,
) -> None:
    first, second = find_session(a), find_session(b)
    with show_step(f"comparing {second} with {first}"):
        from swarm_bench.app.stored.reporting import diff_sessions

        summary = diff_sessions(first, second)
    show_summary(summary)
