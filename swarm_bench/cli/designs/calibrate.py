"""`swarm-bench calibrate`: a mode against itself."""

from collections.abc import Iterator
from typing import Any

import typer

from swarm_bench.cli.designs.running import run_command
from swarm_bench.cli.options import NAMED_MODES, add_options
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.command_line import Setting, command_line
from swarm_bench.core.session.designs import CALIBRATE

HELP = """Compare a mode with itself: by how much do two identical arms differ here, and what
difference could a planned experiment find?

\b
Examples:
  swarm-bench calibrate canopy
  swarm-bench calibrate --mode baseline --tasks my-tasks.yaml --runs 10 --agent claude
  swarm-bench calibrate --continue --runs 20

Runs exactly what `swarm-bench compare` runs, with the second arm called <mode>-again. Settings,
output and exit codes are those of compare; 2 runs by default, with --agents 5.
"""


def register(app: typer.Typer) -> None:
    app.command(name=CALIBRATE.name, cls=VariadicCommand, help=HELP)(
        add_options(_list_settings(), _run, also=[NAMED_MODES])
    )


def _list_settings() -> Iterator[Setting]:
    """Yield those of compare, with one mode and one size."""
    for setting in command_line(CALIBRATE):
        match setting.name:
            case "modes":
                help_text = "Name of a mode, or path to a mode file."
                yield setting._replace(kind="text", flag="--mode", help=help_text, metavar="M")
            case "agents":
                help_text = "Agents of a swarm, which share out the tasks."
                yield setting._replace(help=help_text, metavar="N")
            case _:
                yield setting


def _run(options: dict[str, Any]) -> None:
    mode = {"modes": [options["modes"]]} if "modes" in options else {}
    run_command(CALIBRATE, {**options, **mode})
