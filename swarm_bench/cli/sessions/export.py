"""`swarm-bench export`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from swarm_bench.cli.options import SessionArgument
from swarm_bench.cli.output.terminal import show


def register(app: typer.Typer) -> None:
    app.command(name="export")(export)


def export(
    folder: SessionArgument,
    kind: Annotated[
        Literal["csv", "json"],
        typer.Option(
            "--format", help="Format: csv for the trials, json for the experiment and swarms too."
        ),
    ] = "csv",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", help="A new file, in the place of standard output."
        ),
    ] = None,
) -> None:
    """Write the trials of a session for a spreadsheet or another program.

    Example: swarm-bench export results/swarm-20261120-213300 --format csv > trials.csv
    """
    from swarm_bench.app.export import exporting  # heavy

    if output is None:
        show(exporting.export(folder, kind))
    else:
        exporting.export_to(folder, kind, output)
