"""The question whether files may have run what they name."""

import sys
from collections.abc import Sequence

import typer

from swarm_bench.cli.output.terminal import printable
from swarm_bench.config.trust import Demand


def ask(demands: Sequence[Demand]) -> bool | None:
    """Ask the person; `None` without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    origins = ", ".join(dict.fromkeys(demand.origin for demand in demands))
    typer.echo(printable(f"You did not type this; {origins} would run or use:"), err=True)
    for demand in demands:
        typer.echo(f"  {printable(demand.full_sentence)}", err=True)
    scope = "this session" if all(demand.session for demand in demands) else "this folder"
    typer.echo("A yes is remembered for these lines until they change.", err=True)
    typer.echo(f"Trust {scope}? [y/N]: ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
