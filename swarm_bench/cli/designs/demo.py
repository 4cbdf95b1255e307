"""`swarm-bench demo`: the main job on code that every installation has."""

from typing import Any

import typer

from swarm_bench.cli.designs.running import run_resolved
from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import add_options
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.config.command_line import command_line
from swarm_bench.core.session.designs import COMPARE

HELP = """Compare three modes on the installed source of rich, pydantic and mcp, in any folder.

\b
Examples:
  swarm-bench demo
  swarm-bench demo --output my-first-session

Runs `swarm-bench compare --modes baseline canopy canopy-service` with the built-in agent on
questions that come with swarm-bench. It needs no key, no network and no money; settings of the
environment and of files do not count, so that it is the same everywhere. Output and exit codes are
those of compare.
"""


def register(app: typer.Typer) -> None:
    command = add_options(command_line(COMPARE, "demo"), _run, of_the_call=())
    app.command(name="demo", cls=FoldedCommand, help=HELP)(command)


def _run(options: dict[str, Any]) -> None:
    with show_step("copying the source of three packages"):
        from swarm_bench.app.demo import resolve_demo  # help and completion answer at once

        resolved = resolve_demo(options)
    run_resolved(resolved, COMPARE)
