"""`swarm-bench ab`: one agent at a time."""

from functools import partial

import typer

from swarm_bench.cli.designs.running import run_command
from swarm_bench.cli.options import NAMED_MODES, add_options
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.command_line import command_line
from swarm_bench.core.session.designs import AB

HELP = """Compare modes with one agent at a time: every task of a suite, a fresh index for each.

\b
Examples:
  swarm-bench ab
  swarm-bench ab --modes baseline canopy --tasks my-tasks.yaml --runs 5

Settings, output and exit codes are those of `swarm-bench compare`.
"""


def register(app: typer.Typer) -> None:
    command = add_options(command_line(AB), partial(run_command, AB), also=[NAMED_MODES])
    app.command(name=AB.name, cls=VariadicCommand, help=HELP)(command)
