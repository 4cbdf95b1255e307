"""`swarm-bench tasks`."""

import typer

from swarm_bench.cli.output.listing import print_listing


def register(app: typer.Typer) -> None:
    app.command(name="tasks")(tasks)


def tasks() -> None:
    """List the task suites: shipped ones, and those in tasks/ of the working folder."""
    from swarm_bench.app.listing import list_suites

    print_listing(list_suites())
