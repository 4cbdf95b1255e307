"""`swarm-bench rescore`."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_bench.cli.options import SessionArgument
from swarm_bench.cli.output.terminal import show


def register(app: typer.Typer) -> None:
    app.command(name="rescore")(rescore)


def rescore(
    folder: SessionArgument,
    repo: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Place of the session's repository now."),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Task file whose keys and scorers replace those of the session."
        ),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Load the scorers of your own that the session names.")
    ] = False,
) -> None:
    """Have the scorers of this version look at the answers of a session again, and render its
    summary. No agent runs; the records stay as they are, and rescored.jsonl has the scores.

    Example: swarm-bench rescore results/swarm-20261120-213300 --repo ~/src/shop
    """
    from swarm_bench.app.rescore import rescore as render  # heavy

    show(render(folder, repo=repo, tasks=tasks, trust=trust))
