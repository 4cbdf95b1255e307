"""`swarm-bench benchmarks`, and `swarm-bench benchmarks show`."""

from typing import Annotated

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.output.listing import print_listing
from swarm_bench.cli.output.terminal import show


def register(app: typer.Typer) -> None:
    commands = typer.Typer()
    commands.callback(invoke_without_command=True)(benchmarks)
    commands.command(name="show")(show_benchmark)
    app.add_typer(commands, name="benchmarks")


def benchmarks(context: typer.Context) -> None:
    """List the benchmarks that are installed, and whether each can be used."""
    from swarm_bench.app.benchmarks import list_benchmarks

    if context.invoked_subcommand is None:
        print_listing(list_benchmarks())


def show_benchmark(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of a benchmark.", autocompletion=completing.benchmarks
        ),
    ],
    case: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Show what models would be asked in this case."),
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", "-p", metavar="NAME=VALUE", help="Set a property, for --case."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME|PATH", help="Name or path of rows, for --case.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: the schema of its properties, or the case.")
    ] = False,
) -> None:
    """Show what can be set in a benchmark, what it measures, and what scores its answers."""
    from swarm_bench.app.benchmarks import describe, schema
    from swarm_bench.app.models.showing import show_case

    if case is not None:
        assignments = properties or []
        show(show_case(name, case, assignments=assignments, dataset=dataset, as_json=as_json))
        return
    show(schema(name) if as_json else describe(name))
