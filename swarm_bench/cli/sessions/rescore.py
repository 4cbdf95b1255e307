"""`swarm-bench rescore`."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import LATEST, SessionArgument, find_session
from swarm_bench.cli.output.terminal import show_summary
from swarm_bench.cli.output.waiting import show_step

RESCORE = """Have the scorers of this version look at the answers of a session again, and render
its summary. No agent runs; the records stay as they are, and rescored.jsonl has the scores.

\b
Examples:
  swarm-bench rescore results/swarm-20261120-213300 --tasks tasks/shop.yaml
  swarm-bench rescore results/swarm-20261120-213300 --repo ~/src/shop
  swarm-bench rescore results/humaneval-20261123-120000 --allow-code-execution

Exit codes: 0 what could be scored was, 2 wrong usage.
"""


def register(app: typer.Typer) -> None:
    app.command(name="rescore", cls=FoldedCommand, help=RESCORE)(rescore)


def rescore(
    session: SessionArgument = LATEST,
    repo: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Place of the session's repository now."),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            autocompletion=completing.offer_suites,
            help="Task file whose keys and scorers replace those of the session.",
        ),
    ] = None,
    environment: Annotated[
        str,
        typer.Option(metavar="NAME", help="Environment that runs code of models."),
    ] = "local",
    allow_code_execution: Annotated[
        bool, typer.Option("--allow-code-execution", help="Run the code that models wrote.")
    ] = False,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Load the scorers, or the classes, that the session names."),
    ] = False,
) -> None:
    folder = find_session(session)
    with show_step(f"scoring the answers of {folder}"):
        from swarm_bench.app.stored.reporting import rescore as score
        from swarm_bench.app.stored.session import RescoreRequest

        request = RescoreRequest(
            repo=repo,
            tasks=tasks,
            environment=environment,
            allow_code_execution=allow_code_execution,
            trust=trust,
        )
        summary = score(folder, request)
    show_summary(summary, folder)
