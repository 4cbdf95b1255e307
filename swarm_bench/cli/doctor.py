"""`swarm-bench doctor`: looks before anything is spent."""

from inspect import Parameter
from typing import Annotated, Any

import typer

from swarm_bench.cli.options import taking
from swarm_bench.cli.output.terminal import printable, show
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.command_line import command_line
from swarm_bench.core.checks import Check, State
from swarm_bench.core.session.designs import COMPARE

HELP = """Check whether a comparison can run, without spending anything: the machine, the agent
programs, each mode's servers, and the retrieval service.

\b
Examples:
  swarm-bench doctor
  swarm-bench doctor --modes baseline ./my-server.json --agent claude --agents 8

Takes the options of `swarm-bench compare` from the same places. One line each, with what to do.
What settings files would start is named, and started only with --trust.

Exit codes: 0 nothing stands in the way, 2 wrong usage, 4 something does.
"""
UNFIT = 4
_TAKEN = (
    "repo", "modes", "agents", "agent", "model", "agent_env", "inherit_settings", "concurrency",
)  # fmt: skip
_COLOURS = {
    State.OK: "green",
    State.WARNING: "yellow",
    State.PROBLEM: "red",
    State.ABSENT: "bright_black",
}


ENVIRONMENT = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Environment that runs code of models; local where none is named."
    ),
]


def register(app: typer.Typer) -> None:
    settings = (option for option in command_line(COMPARE) if option.name in _TAKEN)
    environment = Parameter(
        "environment", Parameter.KEYWORD_ONLY, default=None, annotation=ENVIRONMENT
    )
    command = taking(settings, _doctor, also=(environment,))
    app.command(name="doctor", cls=VariadicCommand, help=HELP)(command)


def _doctor(options: dict[str, Any]) -> None:
    # Imported here, so that help and completion answer at once.
    from swarm_bench.app.doctor.examination import examine

    path: Any = options.pop("config", None)
    vouches = bool(options.pop("trust", False))
    environment: str | None = options.pop("environment", None)
    checks: list[Check] = []

    def tell(check: Check) -> None:
        checks.append(check)
        _print(check)

    examine(options, path, vouches, tell, environment)
    if any(check.state is State.PROBLEM for check in checks):
        raise typer.Exit(UNFIT)


def _print(check: Check) -> None:
    state = typer.style(f"{check.state:<8}", fg=_COLOURS[check.state])
    advice = f"; {check.advice}" if check.advice else ""
    show(f"{state} {printable(f'{check.about}: {check.finding}{advice}')}\n")
