"""What the commands of the designs have in common: resolve, run, print, exit."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from swarm_bench.cli.consent import ask
from swarm_bench.cli.options import add_named_modes
from swarm_bench.cli.output.terminal import show, show_summary, terminal_width
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.core.interruption import INTERRUPTED
from swarm_bench.core.session.designs import Design

if TYPE_CHECKING:
    from swarm_bench.app.result import SessionResult
    from swarm_bench.app.series import SeriesResult
    from swarm_bench.config.settings import Resolved


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
