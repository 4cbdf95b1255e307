"""`swarm-bench modes`, `agents` and `models`: what there is to choose from."""

import typer

from swarm_bench.cli.output.listing import print_listing


def register(app: typer.Typer) -> None:
    for command in (modes, agents, models):
        app.command(name=command.__name__)(command)


def modes() -> None:
    """List the modes: shipped ones, and those in mcp_configs/ of the working folder.

    \b
    Examples:
      swarm-bench modes
      swarm-bench compare --modes baseline canopy
    """
    from swarm_bench.app.listing import list_modes

    print_listing(list_modes())


def agents() -> None:
    """List the agents that are installed, and whether each can be used.

    \b
    Examples:
      swarm-bench agents
      swarm-bench doctor --agent claude
    """
    from swarm_bench.app.listing import list_agents

    print_listing(list_agents())


def models() -> None:
    """List the kinds of models that `run` can ask, and how each is written.

    \b
    Examples:
      swarm-bench models
      swarm-bench run mbpp --models reference copy --allow-code-execution
    """
    from swarm_bench.app.listing import list_models

    print_listing(list_models())
