"""`swarm-bench agents`."""

import typer

from swarm_bench.cli.output.listing import print_listing


def register(app: typer.Typer) -> None:
    app.command(name="agents")(agents)


def agents() -> None:
    """List the agents that are installed, and whether each can be used."""
    from swarm_bench.app.listing import list_agents

    print_listing(list_agents())
