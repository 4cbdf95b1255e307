"""`swarm-bench benchmarks`: what there is, a page on one, and what one needs to write another."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.helping import FoldedCommand, FoldedGroup
from swarm_bench.cli.output.terminal import print_listing, show
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.annotations import Group

NAME = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Name of a benchmark.", autocompletion=completing.offer_benchmarks
    ),
]
CASE = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Show what models would be asked in this case."),
]
PROPERTIES = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        "-p",
        metavar="NAME=VALUE",
        help="Set a property, for --case.",
        rich_help_panel=Group.COMPARED,
    ),
]
DATASET = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|PATH",
        help="Name or path of rows, for --case.",
        rich_help_panel=Group.COMPARED,
    ),
]
MODELS = Annotated[
    list[str] | None,
    typer.Option(
        metavar="M ...",
        help="Show what each of these models would be asked, for --case.",
        rich_help_panel=Group.COMPARED,
    ),
]
VARY = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=V,V",
        help="Show the request for each value of a property, for --case.",
        rich_help_panel=Group.COMPARED,
    ),
]
JSON = Annotated[
    bool, typer.Option("--json", help="Print JSON: the schema of its properties, or the case.")
]


def register(app: typer.Typer) -> None:
    commands = typer.Typer(cls=FoldedGroup)
    commands.callback(invoke_without_command=True)(benchmarks)
    commands.command(name="show", cls=VariadicCommand)(show_benchmark)
    commands.command(name="new", cls=FoldedCommand)(new)
    commands.command(name="prompt", cls=FoldedCommand)(prompt)
    app.add_typer(commands, name="benchmarks")


def benchmarks(context: typer.Context) -> None:
    """List the benchmarks that are installed, and whether each can be used.

    \b
    Examples:
      swarm-bench benchmarks
      swarm-bench benchmarks show humaneval
    """
    if context.invoked_subcommand is None:
        with show_step("looking at the benchmarks"):
            from swarm_bench.app.benchmarks import list_benchmarks

            listings = list_benchmarks()
        print_listing(listings)


def show_benchmark(
    name: NAME,
    case: CASE = None,
    properties: PROPERTIES = None,
    dataset: DATASET = None,
    models: MODELS = None,
    vary: VARY = None,
    as_json: JSON = False,
) -> None:
    """Show what can be set in a benchmark, what it measures, and what scores its answers.

    \b
    Examples:
      swarm-bench benchmarks show humaneval
      swarm-bench benchmarks show humaneval --case HumanEval/0
    """
    with show_step(f"looking at {name}"):
        from swarm_bench.app.benchmarks import describe, render_schema
        from swarm_bench.app.showing import ShowRequest, show_case

    if case is not None:
        request = ShowRequest(
            case=case,
            properties=properties or (),
            models=models or (),
            vary=vary or (),
            dataset=dataset,
        )
        show(show_case(name, request, as_json=as_json))
        return
    show(render_schema(name) if as_json else describe(name))


NEW = Annotated[
    str, typer.Argument(metavar="NAME", help="What it is called, such as my-benchmark.")
]


def new(name: NEW) -> None:
    """Write a benchmark that works into this folder, with three rows and its test.

    \b
    Example:
      swarm-bench benchmarks new my-benchmark
    """
    with show_step("starting"):
        from swarm_bench.app import kit

    show(kit.create_benchmark(name, Path.cwd()))


def prompt() -> None:
    """Print what a model has to know to write a benchmark; put your idea into it.

    \b
    Example:
      swarm-bench benchmarks prompt > prompt.md
    """
    with show_step("starting"):
        from swarm_bench.app import kit

    show(kit.read_prompt())
