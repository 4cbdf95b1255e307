"""`swarm-bench modes`."""

import typer

from swarm_bench.cli.output.listing import print_listing


def register(app: typer.Typer) -> None:
    app.command(name="modes")(modes)


def modes() -> None:
    """List the modes: shipped ones, and those in mcp_configs/ of the working folder."""
    from swarm_bench.app.listing import list_modes

    print_listing(list_modes())
