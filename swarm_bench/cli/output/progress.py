"""Shows what a session does while it runs: a live view in a terminal; in a pipe or a log one plain
line per event."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import typer

from swarm_bench.cli.output.counts import Counts
from swarm_bench.cli.output.terminal import printable
from swarm_bench.core.events import (
    BlockEnded,
    BlockStarted,
    Emit,
    EndingAtOnce,
    Event,
    Foresight,
    PartStarted,
    Preparing,
    RerunStarted,
    SessionStarted,
    StepStarted,
    TrialActive,
    TrialEnded,
    TrialStarted,
    VerdictsRead,
    WarningRaised,
)
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.status import Cause, name_cause, name_status


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
        if counted_from is None:
            yield PlainLines(sys.stderr).emit
        else:
            yield CountedLines(sys.stderr, counted_from).emit


SECONDS_BETWEEN = 5.0
"""Lines that only count."""


class PlainLines:
    """Writes lines that begin with the seconds since the start."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._start = time.monotonic()
        self._deaf = False

    def emit(self, event: Event) -> None:
        """Write the line of an event. What an agent does in between gets none."""
        if isinstance(event, Preparing) and event.done:  # how far it is is for who watches
            return
        if not isinstance(event, TrialActive | BlockEnded | EndingAtOnce):
            self.write(describe(event))

    def write(self, line: str) -> None:
        """Write a line."""
        if self._deaf:
            return
        seconds = time.monotonic() - self._start
        try:
            print(f"[{seconds:7.1f}s] {printable(line)}", file=self._stream, flush=True)
        except OSError:  # nobody reads any more; the session is worth more than its progress
            self._deaf = True


class CountedLines(PlainLines):
    """Writes how many trials have ended in an arm, and a line only for those that failed: where
    there are `many`, which take moments."""

    def __init__(self, stream: TextIO, many: int = 0) -> None:
        super().__init__(stream)
        self._many = many
        self._planned = 0
        self._counts = Counts()
        self._written_at = time.monotonic()

    def emit(self, event: Event) -> None:
        """Write the line of an event; of a trial that has ended, every few seconds and when the
        arm has no more."""
        if isinstance(event, SessionStarted):
            self._planned = sum(event.planned.values())
            self._counts.begin(event)
        counts = self._planned >= self._many
        match event:
            case RerunStarted():
                self._counts.rerun()
            case TrialStarted() if counts:
                return
            case TrialEnded() if counts:
                if event.record.cause is not Cause.FINISHED:
                    super().emit(event)
                self._count(event.record)
                return
        super().emit(event)

    def _count(self, record: RecordView) -> None:
        arm = self._counts.end(record)
        if arm.done < arm.planned and time.monotonic() - self._written_at < SECONDS_BETWEEN:
            return
        self._written_at = time.monotonic()
        self.write(f"run {record.run}, {record.arm}: {arm.done} of {arm.planned} ended")


def describe(event: Event) -> str:
    """Describe the event in one line of plain text."""
    match event:
        case SessionStarted():
            earlier = sum(event.done.values())
            done = f", {earlier} of them done" if earlier else ""
            return f"session {event.session}, trials: {event.trials}{done}; results: {event.folder}"
        case Preparing() | PartStarted() | RerunStarted() | VerdictsRead():
            return str(event)
        case BlockStarted() | BlockEnded() | StepStarted() | TrialStarted():
            return f"{_at(event.node)}{_describe_start(event)}"
        case TrialEnded():
            return _describe_end(event.record)
        case WarningRaised() | Foresight():
            return f"note: {event.message}"
        case EndingAtOnce():
            return "ending at once"
        case TrialActive():
            return f"run {event.run}, {event.arm} {event.number}: {event.activity.doing}"


def _describe_start(event: BlockStarted | BlockEnded | StepStarted | TrialStarted) -> str:
    match event:
        case BlockStarted():
            return f"{event}, order: {', '.join(event.order)}"
        case BlockEnded():
            return f"run {event.run}, block {event.number} ended"
        case StepStarted():
            return f"run {event.run}, {event.arm}: {event}"
        case TrialStarted():
            return f"run {event.run}, {event.arm} {event.number} starts: {event.case}"


def _at(node: str | None) -> str:
    """Begin a line with the name of the node, where there is one."""
    return "" if node is None else f"{node}: "


def _describe_end(record: RecordView) -> str:
    seconds = "time unknown" if record.wall_seconds is None else f"{record.wall_seconds:.1f} s"
    tokens = record.effective_tokens
    token_text = "tokens unknown" if tokens is None else f"{tokens} tokens"
    return (
        f"{_at(record.node)}run {record.run}, {record.arm} {record.number} ended: "
        f"{name_status(record.status)} ({name_cause(record.cause)}), {seconds}, {token_text}"
    )
