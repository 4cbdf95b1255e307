"""All commands, with their options."""

from typing import Annotated

import typer

from swarm_bench.cli import (
    benchmarks,
    choices,
    compare,
    datasets,
    doctor,
    judge,
    retrieve,
    run,
    tasks,
)
from swarm_bench.cli.helping import GroupedCommands
from swarm_bench.cli.sessions import diff, export, gate, listing, merge, report, rescore, view

app = typer.Typer(
    name="swarm-bench",
    help="Measure whether a retrieval tool helps coding agents, on your code, for its price.",
    cls=GroupedCommands,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    *(compare, retrieve, run, doctor),
    *(
        listing,
        report,
        view,
        merge,
        gate,
        diff,
        export,
        rescore,
        choices,
        datasets,
        judge,
        tasks,
        benchmarks,
    ),
):
    command.register(app)


def _print_version(is_set: bool) -> None:
    if is_set:
        from importlib.metadata import version  # only this option needs it

        typer.echo(f"swarm-bench {version('swarm-bench')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Without a command there is nothing to do."""
    del version
