"""Shows what a session does while it runs: a live view in a terminal, plain lines in a pipe."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from swarm_bench.core.events import Emit, Event, TrialStarted


@contextmanager
def watch_progress(
    *, quiet: bool, spending: bool = True, counted_from: int | None = None
) -> Iterator[Emit]:
    """Yield the function to hand to the engine. Everything goes to standard error. Who interrupts
    the session before its first trial learns what became of it. Trials that are not `spending` have
    no tokens; from so many on that take moments, a log has no line for each."""
    has_begun = False

    def note(event: Event) -> None:
        nonlocal has_begun
        has_begun = has_begun or isinstance(event, TrialStarted)
        emit(event)

    try:
        with _open_output(quiet=quiet, spending=spending, counted_from=counted_from) as emit:
            yield note
    except KeyboardInterrupt:
        if not has_begun:
            typer.echo("Interrupted before the first trial; nothing was recorded.", err=True)
        raise


@contextmanager
def _open_output(*, quiet: bool, spending: bool, counted_from: int | None) -> Iterator[Emit]:
    if quiet:
        yield lambda event: None
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from swarm_bench.cli.output.live import open_live_view

        with open_live_view(spending=spending) as emit:
            yield emit
    else:
        from swarm_bench.cli.output.plain import CountedLines, PlainLines

        if counted_from is None:
            yield PlainLines(sys.stderr).emit
        else:
            yield CountedLines(sys.stderr, counted_from).emit
