"""`swarm-bench datasets`: what there is, a page on a data set, what is wrong with its rows, and how
it comes here."""

from typing import Annotated

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.helping import FoldedCommand, FoldedGroup
from swarm_bench.cli.output.terminal import print_listing, printable, show
from swarm_bench.cli.output.waiting import show_step

VERIFY = """Name all that is wrong with the rows of a data set, as a benchmark would have them.

\b
Examples:
  swarm-bench datasets verify rows.jsonl --benchmark labels
  swarm-bench datasets verify rows.jsonl --benchmark apps -p level=interview

A line for each fault, with the line of the file and the field: what the schema of the benchmark
does not take, lines that are no JSON or no UTF-8, half characters, ids that are there twice. 50 of
them are printed, and all are counted. Then how many rows make no case with these properties, which
is no fault. No model is asked, and nothing of the rows is run.

Exit codes: 0 no fault, 1 faults, 2 wrong usage.
"""
FETCH = """Fetch a data set into the cache, where it is a word for `--dataset` then.

\b
Examples:
  swarm-bench datasets fetch https://example.org/rows.jsonl.gz --sha256 HASH
  swarm-bench datasets fetch contracts-2024-06.json
  swarm-bench run completion --dataset fetched:contracts-2024-06

A file of rows comes by https, with its hash. A list of repositories is JSON: a `title`, and as
`content` objects with `repo` (an address of https or file), `commit` (its whole hash) and `include`
(patterns below the root). Nothing of a repository is checked out or run.

Exit codes: 0 it is there, 2 wrong usage, or it was refused, 3 nobody answers.
"""
WORD = Annotated[
    str,
    typer.Argument(
        metavar="NAME|PATH",
        help="What is given to `run` after --dataset.",
        autocompletion=completing.offer_datasets,
    ),
]
_BENCHMARK = typer.Option(
    "--benchmark",
    metavar="NAME",
    help="Name of the benchmark that has the schema of the rows.",
    autocompletion=completing.offer_benchmarks,
)
PROPERTIES = Annotated[
    list[str] | None,
    typer.Option("--property", "-p", metavar="NAME=VALUE", help="Set a property of the benchmark."),
]


def register(app: typer.Typer) -> None:
    commands = typer.Typer(cls=FoldedGroup)
    commands.callback(invoke_without_command=True)(datasets)
    commands.command(name="show", cls=FoldedCommand)(show_dataset)
    commands.command(name="verify", cls=FoldedCommand, help=VERIFY)(verify)
    commands.command(name="fetch", cls=FoldedCommand, help=FETCH)(fetch)
    app.add_typer(commands, name="datasets")


def datasets(context: typer.Context) -> None:
    """List the data sets that are installed or were fetched, with their licences.

    \b
    Examples:
      swarm-bench datasets
      swarm-bench datasets show contracts-mini
    """
    if context.invoked_subcommand is None:
        with show_step("looking at the data sets"):
            from swarm_bench.app.listing import list_datasets

            listings = list_datasets()
        print_listing(listings)


def show_dataset(
    word: WORD,
    benchmark: Annotated[str | None, _BENCHMARK] = None,
    properties: PROPERTIES = None,
) -> None:
    """Show what a data set is, what a benchmark asks of its rows, and the first of them.

    \b
    Examples:
      swarm-bench datasets show spider-mini
      swarm-bench datasets show rows.jsonl --benchmark labels
    """
    with show_step(f"reading {word}") as line:
        from swarm_bench.app.showing import show_dataset as page

        text = page(word, benchmark, properties or (), line.say)
    show("".join(f"{printable(line)}\n" for line in text.splitlines()))


def verify(
    word: WORD,
    benchmark: Annotated[str, _BENCHMARK],
    properties: PROPERTIES = None,
) -> None:
    with show_step(f"reading {word}") as line:
        from swarm_bench.app.datasets.verifying import verify_dataset

        verified = verify_dataset(word, benchmark, properties or (), line.say)
    show("".join(f"{printable(line)}\n" for line in verified.text.splitlines()))
    if not verified.is_right:
        raise typer.Exit(1)


def fetch(
    source: Annotated[
        str,
        typer.Argument(metavar="URL|PATH", help="Address of a file, or a list of repositories."),
    ],
    sha256: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="SHA-256 of the file; of a list: of what comes of it."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="[default: that of the file, or the title of the list]"),
    ] = None,
) -> None:
    with show_step(f"fetching {source}") as line:
        from swarm_bench.app.datasets.fetching import FetchRequest
        from swarm_bench.app.datasets.fetching import fetch as run

        text = run(FetchRequest(source=source, sha256=sha256, name=name), line.say)
    show(text)
