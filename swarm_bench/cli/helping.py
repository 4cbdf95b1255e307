"""Help in groups: options by what they are about, commands by what they are for."""

import os
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from swarm_bench.config.command_line import GROUPS
from swarm_bench.core.session.designs import AB, CALIBRATE, COMPARE, RETRIEVE

ARGUMENTS = "Arguments"
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Compare": {
        "demo": "Compare two tools on code that every installation has.",
        "doctor": "Check that a comparison can run here.",
        COMPARE.name: "Compare tools with agents, on the repository of this folder.",
        AB.name: "Compare tools with one agent at a time.",
        RETRIEVE.name: "Ask the tools themselves, without any agent.",
        "run": "Compare models in a benchmark.",
        CALIBRATE.name: "Measure by how much two identical arms differ.",
    },
    "Look at sessions": {
        "list": "List the sessions so far.",
        "report": "Print the summary of a session again.",
        "diff": "Compare two sessions.",
        "gate": "Hold a session against limits, for CI.",
        "export": "Write the trials as CSV, JSON, JUnit or Parquet.",
        "rescore": "Score the answers of a session again.",
        "judge": "Have a model compare the answers of a session.",
    },
    "Choose what is compared": {
        "modes": "List the tools that agents can be given.",
        "tasks": "List, make and check tasks.",
        "agents": "List the agent programs.",
        "models": "List the kinds of models that `run` can ask.",
        "benchmarks": "List, show and write benchmarks.",
        "datasets": "List, show, check and fetch data sets.",
        "docs": "Print a page of the documentation, or an example.",
    },
}
"""The commands in their groups, in the order of these, with what the list of all says of them."""
SHORT = """Measure whether a retrieval tool helps coding agents, on your code, for its price.

  swarm-bench demo       compare two tools on code that every installation has
  swarm-bench doctor     check that a comparison can run here
  swarm-bench compare    compare tools with agents, on the repository of this folder
  swarm-bench retrieve   ask the tools themselves, without any agent
  swarm-bench run NAME   compare models in a benchmark
  swarm-bench list       list the sessions so far

All commands: swarm-bench --help. One of them: swarm-bench compare --help
"""


class GroupedCommand(TyperCommand):
    """Has the options of settings in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each group, in the order of `GROUPS`."""
        records = [
            (_group(param), record)
            for param in self.get_params(ctx)
            if (record := param.get_help_record(ctx)) is not None
        ]
        order = [ARGUMENTS, *GROUPS]
        records.sort(key=lambda it: order.index(it[0]))
        _write(formatter, records)


class GroupedCommands(TyperGroup):
    """Has the commands in groups, and without one of them says which come first."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group."""
        _write(
            formatter, [(group, row) for group, rows in COMMANDS.items() for row in rows.items()]
        )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line; an empty one is answered with the short help, and wrong usage still."""
        if not args and not ctx.resilient_parsing:
            typer.echo(SHORT, nl=False, err=True)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)


def _group(param: Any) -> str:
    if param.param_type_name == "argument":
        return ARGUMENTS
    return next((group for group, names in GROUPS.items() if param.name in names), "Session")


def _write(formatter: Any, rows: Iterable[tuple[str, tuple[str, str]]]) -> None:
    """Write the rows of each group below its name."""
    for group, of_group in groupby(rows, key=lambda row: row[0]):
        with formatter.section(_bold(group)):
            formatter.write_dl([row for _, row in of_group])


def _bold(heading: str) -> str:
    """Make it stand out at a terminal; `echo` takes that out again for a pipe."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return heading if plain else typer.style(heading, bold=True)
