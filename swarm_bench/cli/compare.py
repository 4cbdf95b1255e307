"""`swarm-bench compare`, `demo`, `ab` and `calibrate`: the designs of sessions of agents; and what
commands that run a session have in common: ask, resolve, run, print, exit."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import NAMED_MODES, add_named_modes, add_options
from swarm_bench.cli.output.terminal import printable, show, show_summary, terminal_width
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.command_line import Setting, command_line
from swarm_bench.config.trust import Demand
from swarm_bench.core.interruption import INTERRUPTED
from swarm_bench.core.session.designs import AB, CALIBRATE, COMPARE, Design

if TYPE_CHECKING:
    from swarm_bench.app.result import SessionResult
    from swarm_bench.app.series import SeriesResult
    from swarm_bench.config.layers import Resolved

_COMPARE_HELP = """\
Compare modes: in each, agents work on the tasks of a suite, in copies of the repository.

\b
Examples:
  swarm-bench compare
  swarm-bench compare ./my-server.json
  swarm-bench compare --modes baseline canopy --agents 2 --runs 5
  swarm-bench compare --modes baseline ./my-server.json --tasks my-tasks.yaml
  swarm-bench compare --modes baseline canopy --controls instructions placebo
  swarm-bench compare --plan
  swarm-bench compare --continue --runs 10
  swarm-bench compare --trust

A MODE is compared with baseline, or stands behind those of --modes.

Every option can also be set as SWARM_BENCH_<NAME> in the environment or in .env, or in
swarm-bench.toml. What those two files, or a session from elsewhere, would run beyond what comes
with swarm-bench runs once you allow it: with --trust, which is remembered for this folder until
it changes, with SWARM_BENCH_TRUST=1 in the environment, or by naming the file with --config.

Progress goes to standard error, the summary to standard output.

Exit codes: 0 the session is complete, 2 wrong usage, 3 the harness or the provider failed or no
agent gave an answer, 4 a gate failed or --max-cost was reached, 130 interrupted.
"""
_DEMO_HELP = """\
Compare three modes on the installed source of rich, pydantic and mcp, in any folder.

\b
Examples:
  swarm-bench demo
  swarm-bench demo --output my-first-session

Runs `swarm-bench compare --modes baseline canopy canopy-service` with the built-in agent on
questions that come with swarm-bench. It needs no key, no network and no money; settings of the
environment and of files do not count, so that it is the same everywhere. Output and exit codes are
those of compare.
"""
_AB_HELP = """\
Compare modes with one agent at a time: every task of a suite, a fresh index for each.

\b
Examples:
  swarm-bench ab
  swarm-bench ab --modes baseline canopy --tasks my-tasks.yaml --runs 5

Settings, output and exit codes are those of `swarm-bench compare`.
"""
_CALIBRATE_HELP = """\
Compare a mode with itself: by how much do two identical arms differ here, and what
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
    for register_command in (_register_compare, _register_demo, _register_ab, _register_calibrate):
        register_command(app)


def _register_compare(app: typer.Typer) -> None:
    command = add_options(command_line(COMPARE), partial(run_command, COMPARE), also=[NAMED_MODES])
    app.command(name=COMPARE.name, cls=VariadicCommand, help=_COMPARE_HELP)(command)


def _register_demo(app: typer.Typer) -> None:
    command = add_options(command_line(COMPARE, "demo"), _run_demo, of_the_call=())
    app.command(name="demo", cls=FoldedCommand, help=_DEMO_HELP)(command)


def _run_demo(options: dict[str, Any]) -> None:
    with show_step("copying the source of three packages"):
        from swarm_bench.app.demo import resolve_demo  # help and completion answer at once

        resolved = resolve_demo(options)
    run_resolved(resolved, COMPARE)


def _register_ab(app: typer.Typer) -> None:
    command = add_options(command_line(AB), partial(run_command, AB), also=[NAMED_MODES])
    app.command(name=AB.name, cls=VariadicCommand, help=_AB_HELP)(command)


def _register_calibrate(app: typer.Typer) -> None:
    app.command(name=CALIBRATE.name, cls=VariadicCommand, help=_CALIBRATE_HELP)(
        add_options(_list_calibrate_settings(), _run_calibrate, also=[NAMED_MODES])
    )


def _list_calibrate_settings() -> Iterator[Setting]:
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


def _run_calibrate(options: dict[str, Any]) -> None:
    mode = {"modes": [options["modes"]]} if "modes" in options else {}
    run_command(CALIBRATE, {**options, **mode})


def run_command(design: Design, typed_options: Mapping[str, Any]) -> None:
    """Run the design with the options that were typed."""
    options = add_named_modes(typed_options, design.beside)
    config, trust = options.pop("config", None), options.pop("trust", False)
    with show_step("starting"):
        # Imported here, so that help and completion answer at once.
        from swarm_bench.app.setup.resolving import resolve
        from swarm_bench.app.trust.approval import approve

        resolved = resolve(options, design, config)
    run_resolved(approve(resolved, trust=trust, ask=ask, refuse=not resolved.settings.plan), design)


def run_resolved(resolved: "Resolved", design: Design) -> None:
    """Run the design with options that are resolved, or print its plan."""
    with show_step("starting"):
        from swarm_bench.app import series
        from swarm_bench.app.running import agents
        from swarm_bench.cli.output.progress import watch_progress

        is_series = series.is_series(resolved, design)
    if resolved.settings.plan:
        show((series if is_series else agents).show_plan(resolved, design, terminal_width()))
        return
    with watch_progress(quiet=resolved.settings.quiet) as emit:
        result = (series if is_series else agents).run(resolved, design, emit)
    show_result(result)
    result.check_gates(
        require_retrieval=resolved.settings.require_retrieval,
        require_verdict=resolved.settings.require_verdict,
    )


def show_result(result: "SessionResult | SeriesResult", instead: str | None = None) -> None:
    """Print the summary, or something `instead` of it, and where everything is. Raises `typer.Exit`
    after an interruption; who interrupts at a terminal wants to know no more than what is kept."""
    if instead is not None:
        show(instead)
    elif not (result.interrupted and sys.stdout.isatty()):
        show_summary(result.summary)
    with suppress(BrokenPipeError):  # as little as in `show` does that change the exit code
        if result.interrupted:
            ended_trials, planned = result.progress
            typer.echo(f"Interrupted: {ended_trials} of {planned} trials have ended.", err=True)
        typer.echo(f"Results: {result.folder}", err=True)
        for workspaces in result.kept_workspaces:
            typer.echo(f"Workspaces: {workspaces}", err=True)
        if result.interrupted:
            typer.echo(f"Continue with: {result.to_continue}", err=True)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


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
