"""`swarm-bench modes`, `agents` and `models`: what there is to choose from; and `docs` on all of
it."""

from typing import Annotated

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.output.terminal import print_listing, show
from swarm_bench.cli.output.waiting import show_step

PAGE = Annotated[
    str | None,
    typer.Argument(metavar="[PAGE]", help="Name of a page or an example; without it, list them."),
]


def register(app: typer.Typer) -> None:
    for command in (modes, agents, models, docs):
        app.command(name=command.__name__, cls=FoldedCommand)(command)


def modes() -> None:
    """List the modes: shipped ones, and those in mcp_configs/ of the working folder.

    \b
    Examples:
      swarm-bench modes
      swarm-bench compare --modes baseline canopy
    """
    with show_step("looking at the modes"):
        from swarm_bench.app.listing import list_modes

        listings = list_modes()
    print_listing(listings)


def agents() -> None:
    """List the agents that are installed, and whether each can be used.

    \b
    Examples:
      swarm-bench agents
      swarm-bench doctor --agent claude
    """
    with show_step("looking at the agents"):
        from swarm_bench.app.listing import list_agents

        listings = list_agents()
    print_listing(listings)


def models() -> None:
    """List the kinds of models that `run` can ask, and how each is written.

    \b
    Examples:
      swarm-bench models
      swarm-bench run mbpp --models reference copy --allow-code-execution
    """
    with show_step("looking at the models"):
        from swarm_bench.app.listing import list_models

        listings = list_models()
    print_listing(listings)


def docs(page: PAGE = None) -> None:
    """Print a page of the documentation or an example, or list them.

    \b
    Examples:
      swarm-bench docs
      swarm-bench docs modes
      swarm-bench docs examples/filesystem.json > filesystem.json
    """
    with show_step("looking for the pages"):
        from swarm_bench.app.listing import list_pages, read_page

    if page is not None:
        show(read_page(page))
        return
    for listing in list_pages():
        show(f"{listing.name}\n    {listing.about}\n")
