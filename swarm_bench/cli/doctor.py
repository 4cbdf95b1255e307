"""`swarm-bench doctor`: looks before anything is spent."""

import shutil
import sys
from collections import Counter
from inspect import Parameter
from textwrap import wrap
from typing import Annotated, Any

import typer

from swarm_bench.cli.options import add_options
from swarm_bench.cli.output.terminal import has_colours, printable, show
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.annotations import Group
from swarm_bench.config.command_line import command_line
from swarm_bench.core.listing import Check, State
from swarm_bench.core.session.designs import COMPARE

HELP = """Check whether a comparison can run, without spending anything: the machine, the agent
program that is chosen, each mode's servers, and the retrieval service.

\b
Examples:
  swarm-bench doctor
  swarm-bench doctor --modes baseline ./my-server.json --agent claude --agents 8
  swarm-bench doctor --agent claude --on ray

Takes the options of `swarm-bench compare` from the same places. One line each, with what to do, and
at the end whether it is ready; with --on, the nodes come first. What settings files would start is
named, and started only with --trust. Other agents are listed by `swarm-bench agents`.

Exit codes: 0 nothing stands in the way, 2 wrong usage, 3 a node lacks something, 4 something else
stands in the way.
"""
UNFIT = 4
UNFIT_NODE = 3
_COLOURS = {
    State.OK: "green",
    State.WARNING: "yellow",
    State.PROBLEM: "red",
    State.ABSENT: "bright_black",
}
_INDENT = " " * 9
"""Indent of the text below its first line."""
_NARROWEST = 20
"""Columns."""


ENVIRONMENT = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Environment that runs code of models; local where none is named.",
        rich_help_panel=Group.VERDICT,
    ),
]


def register(app: typer.Typer) -> None:
    environment = Parameter(
        "environment", Parameter.KEYWORD_ONLY, default=None, annotation=ENVIRONMENT
    )
    command = add_options(command_line(COMPARE, "doctor"), _doctor, also=(environment,))
    app.command(name="doctor", cls=VariadicCommand, help=HELP)(command)


def _doctor(options: dict[str, Any]) -> None:
    path: Any = options.pop("config", None)
    vouches = bool(options.pop("trust", False))
    environment: str | None = options.pop("environment", None)
    checks: list[Check] = []
    with show_step("starting") as line:
        # Imported here, so that help and completion answer at once.
        from swarm_bench.app.doctor.examination import examine

        def tell(check: Check) -> None:
            checks.append(check)
            line.erase()
            _print(check)

        lacks = examine(options, path, vouches, tell, environment, tell_step=line.tell)
    states = Counter(check.state for check in checks)
    problems, warnings = states[State.PROBLEM], states[State.WARNING]
    counts = f"{_format_count(problems, 'problem')}, {_format_count(warnings, 'warning')}"
    show(f"\n{'Not ready' if problems else 'Ready'}: {counts}\n")
    if problems:
        raise typer.Exit(UNFIT_NODE if lacks else UNFIT)


def _format_count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _print(check: Check) -> None:
    """Print a line, which a terminal breaks between words."""
    advice = f"; {check.advice}" if check.advice else ""
    text = printable(f"{check.about}: {check.finding}{advice}")
    lines = [text]
    if sys.stdout.isatty():
        width = max(_NARROWEST, shutil.get_terminal_size().columns - len(_INDENT) - 1)
        lines = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    state = f"{check.state:<8}"
    if has_colours():
        state = typer.style(state, fg=_COLOURS[check.state])
    body = f"\n{_INDENT}".join(lines)
    show(f"{state} {body}\n")
