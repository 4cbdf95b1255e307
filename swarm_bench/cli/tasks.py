"""`swarm-bench tasks`, `swarm-bench tasks make` and `swarm-bench tasks check`."""

from collections.abc import Iterator
from datetime import date
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.helping import FoldedCommand, FoldedGroup
from swarm_bench.cli.options import add_options
from swarm_bench.cli.output.terminal import print_listing, show_summary
from swarm_bench.cli.output.waiting import show_step

MAKE = """Make a task file with answer keys from the repository itself.

\b
Kinds:
  changes  which files implement what a commit did, on the commit that is checked out; with \
--parents which have to change for it, on the parent of the commit
  symbols  where that is defined which does what its documentation says, or the names of its tests
  callers  which functions call one that calls something: what changes with its arguments
  questions  what a user asks about, in words of a model (--model WORD, as after run --models) \
that reads a function or class and checks that it answers, and the code most like it not

\b
Examples:
  swarm-bench tasks make --repo ../shop
  swarm-bench tasks make --kind changes --since 2026-01-01 --output tasks/recent.yaml
  swarm-bench tasks make --commit v2.0 --count 8
  swarm-bench tasks make --kind questions --model openai:gpt-5 --plan

Hard tasks come first, which neither plain BM25 answers nor one grep for the names in the prompt.
By default each file of the repository is in one task only. The page says what the tasks are worth,
and what finds their answers without a tool. No code of the repository runs. The same seed gives
the same file, but for questions of a model.

Exit codes: 0 the file was written, 2 wrong usage, 3 git cannot read the repository or the model
gives no answer, 4 --max-cost is reached.
"""
CHECK = """Compare a task file with the repository, and estimate how hard its tasks are.

\b
Examples:
  swarm-bench tasks check tasks/shop.yaml --repo ../shop
  swarm-bench tasks check shop

A line for each problem: a commit, a file or a symbol of a key that is not there, a scorer that is
not known, a prompt that is asked twice, a fact that tells no answers apart, a task without a key
where others have one, whatever is not written as a task file is. Then the files of the repository
that hold keys, which is no problem. For each task the rank of the first right file when plain BM25
searches for the question, and whether one grep for the names in the prompt lists it; and for the
file what its tasks are worth, and how much an answer finds that is always the same.

Exit codes: 0 no problem, 2 problems or wrong usage, 3 git cannot read the repository.
"""
Repo = Annotated[
    Path, typer.Option("--repo", metavar="PATH", help="Git checkout that the tasks are about.")
]


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no day; write it as 2026-01-31.") from error


def register(app: typer.Typer) -> None:
    commands = typer.Typer(cls=FoldedGroup)
    commands.callback(invoke_without_command=True)(tasks)
    repo = Parameter("repo", Parameter.KEYWORD_ONLY, default=Path(), annotation=Repo)
    make = add_options((), _make, also=(repo, *_list_options()), of_the_call=())
    commands.command(name="make", cls=FoldedCommand, help=MAKE)(make)
    commands.command(name="check", cls=FoldedCommand, help=CHECK)(check)
    app.add_typer(commands, name="tasks")


def tasks(context: typer.Context) -> None:
    """List the task suites: shipped ones, and those in tasks/ of the working folder; make and check
    task files.

    \b
    Examples:
      swarm-bench tasks
      swarm-bench tasks make --repo ../shop
      swarm-bench tasks check tasks/shop.yaml --repo ../shop
    """
    if context.invoked_subcommand is None:
        with show_step("looking at the suites"):
            from swarm_bench.app.listing import list_suites

            listings = list_suites()
        print_listing(listings)


def _list_options() -> Iterator[Parameter]:
    """Yield the options of `make`, by the names of what is wanted."""
    kind = typer.Option(help="Kind of the tasks; 'all' are those that ask no model.")
    yield _option("kind", Literal["changes", "symbols", "callers", "all", "questions"], kind, "all")
    count = typer.Option(
        min=1,
        max=10_000,
        metavar="N",
        help="Tasks in all, as evenly of each kind as there are. [default: 30 of each kind]",
    )
    yield _option("count", int | None, count)
    since = typer.Option(
        metavar="DATE",
        parser=_parse_day,
        help="Only changes from that day on, say after a model's training.",
    )
    yield _option("since", date | None, since)
    commit = typer.Option(
        metavar="REV", help="Ask on this commit, and not on the one that is checked out."
    )
    yield _option("commit", str | None, commit)
    parents = typer.Option(
        "--parents",
        help="Ask each change on the parent of its commit, as what has to be done.",
    )
    yield _option("parents", bool, parents, False)
    per_file = typer.Option(min=1, max=1_000, metavar="N", help="Tasks that may be about one file.")
    yield _option("per_file", int, per_file, 1)
    yield _option("seed", int, typer.Option(metavar="N", help="Seed of the draw."), 0)
    output = typer.Option(metavar="FILE", help="[default: tasks/, with the name of the repository]")
    yield _option("output", Path | None, output)
    force = typer.Option("--force", help="Replace the file if it exists.")
    yield _option("force", bool, force, False)
    model = typer.Option(metavar="WORD", help="Model that writes questions, as openai:gpt-5.")
    yield _option("model", str | None, model)
    max_cost = typer.Option(metavar="DOLLARS", help="Ask nothing that could cost more, and exit 4.")
    yield _option("max_cost", str | None, max_cost)
    plan = typer.Option("--plan", help="Print what questions would cost, and ask nobody.")
    yield _option("plan", bool, plan, False)


def _option(name: str, kind: Any, option: Any, default: object = None) -> Parameter:
    annotation = Annotated[kind, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _make(typed_options: dict[str, Any]) -> None:
    with show_step("starting") as line:
        from swarm_bench.app.tasks.making import TaskRequest, make_tasks
        from swarm_bench.config.layers import check_options

        cost = check_options({"max_cost": typed_options.get("max_cost")})
        page = make_tasks(TaskRequest(**{**typed_options, **cost}), line.say, line.tell)
    show_summary(page)


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Path of a task file, or the name of a suite.",
            autocompletion=completing.offer_suites,
        ),
    ],
    repo: Repo = Path(),
) -> None:
    with show_step(f"reading {file}") as line:
        from swarm_bench.app.tasks.checking import check_tasks

        checked = check_tasks(file, repo, line.say)
    show_summary(checked.page)
    if not checked.is_right:
        raise typer.Exit(2)
