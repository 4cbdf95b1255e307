"""`swarm-bench export`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import LATEST, SessionArgument, find_session
from swarm_bench.cli.output.terminal import show
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.core.errors import UsageError


def register(app: typer.Typer) -> None:
    app.command(name="export", cls=FoldedCommand)(export)


def export(
    session: SessionArgument = LATEST,
    kind: Annotated[
        Literal["csv", "json", "junit", "parquet"],
        typer.Option(
            "--format",
            help="Format: csv for the trials, json for the experiment and swarms too, junit for "
            "what shows the tests of a build, parquet for the trials with their types.",
        ),
    ] = "csv",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", help="A new file, in the place of standard output."
        ),
    ] = None,
) -> None:
    """Write the trials of a session for a spreadsheet or another program. In a notebook, `from
    swarm_bench import load` gives data frames.

    \b
    Examples:
      swarm-bench export results/swarm-20261120-213300 --format csv > trials.csv
      swarm-bench export results/swarm-20261120-213300 --format parquet --output trials.parquet
    """
    folder = find_session(session)
    with show_step(f"reading {folder}"):
        from swarm_bench.app import exporting

        if output is not None:
            exporting.export_to(folder, kind, output)
            return
        if kind == "parquet":
            raise UsageError("parquet is binary; name a file with --output")
        text = exporting.export(folder, kind)
    show(text)
