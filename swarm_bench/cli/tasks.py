"""`swarm-bench tasks`, `swarm-bench tasks make` and `swarm-bench tasks check`."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.output.listing import print_listing
from swarm_bench.cli.output.terminal import say, show

MAKE = """Make a task file with answer keys from the repository itself.

\b
Kinds:
  changes  which files have to change for what a commit did; asked on its parent
  symbols  where something is defined
  callers  which functions call something

\b
Examples:
  swarm-bench tasks make --repo ../shop
  swarm-bench tasks make --kind changes --since 2026-01-01 --output tasks/recent.yaml
  swarm-bench tasks make --commit HEAD --count 8

No code of the repository runs. The same seed gives the same file.

Exit codes: 0 the file was written, 2 wrong usage, 3 git cannot read the repository.
"""
CHECK = """Compare a task file with the repository, and estimate how hard its tasks are.

\b
Examples:
  swarm-bench tasks check tasks/shop.yaml --repo ../shop
  swarm-bench tasks check shop

A line for each problem: a commit, a file or a symbol of a key that is not there, a scorer that is
not known, whatever is not written as a task file is. Then, for each task, the rank of the first
right file when plain BM25 searches for the question; a task that it answers at rank 1 is easy.

Exit codes: 0 no problem, 2 problems or wrong usage, 3 git cannot read the repository.
"""
Repo = Annotated[
    Path, typer.Option("--repo", metavar="PATH", help="Git checkout that the tasks are about.")
]


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no day; write it as 2026-01-31.") from error


Since = Annotated[
    date | None,
    typer.Option(
        metavar="DATE",
        parser=_day,
        help="Only changes from that day on, say after a model's training.",
    ),
]


def register(app: typer.Typer) -> None:
    commands = typer.Typer()
    commands.callback(invoke_without_command=True)(tasks)
    commands.command(name="make", help=MAKE)(make)
    commands.command(name="check", help=CHECK)(check)
    app.add_typer(commands, name="tasks")


def tasks(context: typer.Context) -> None:
    """List the task suites: shipped ones, and those in tasks/ of the working folder; make and check
    task files."""
    from swarm_bench.app.listing import list_suites

    if context.invoked_subcommand is None:
        print_listing(list_suites())


def make(
    repo: Repo = Path(),
    kind: Annotated[
        Literal["changes", "symbols", "callers", "all"],
        typer.Option(help="Kind of the tasks."),
    ] = "all",
    count: Annotated[
        int, typer.Option(min=1, max=10_000, metavar="N", help="Tasks of each kind.")
    ] = 30,
    since: Since = None,
    commit: Annotated[
        str | None,
        typer.Option(
            metavar="REV", help="Ask everything on this commit, changes as finished ones."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draw.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="[default: tasks/, with the name of the repository]"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    from swarm_bench.app.tasks.making import Wanted, make_tasks  # heavy

    wanted = Wanted(
        repo=repo,
        kind=kind,
        count=count,
        seed=seed,
        since=since,
        commit=commit,
        output=output,
        force=force,
    )
    show(make_tasks(wanted, say))


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Path of a task file, or the name of a suite.",
            autocompletion=completing.suites,
        ),
    ],
    repo: Repo = Path(),
) -> None:
    from swarm_bench.app.tasks.checking import check_tasks  # heavy

    checked = check_tasks(file, repo, say)
    show(checked.text)
    if not checked.is_right:
        raise typer.Exit(2)
