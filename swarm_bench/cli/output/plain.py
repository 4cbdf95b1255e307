"""One plain line per event, for pipes and logs."""

import time
from typing import TextIO

from swarm_bench.cli.output.terminal import printable
from swarm_bench.core.events import (
    BlockStarted,
    Event,
    Preparing,
    SessionStarted,
    StepStarted,
    TrialActive,
    TrialEnded,
    TrialStarted,
    Trouble,
)
from swarm_bench.core.session.base import RecordView


class PlainLines:
    """Writes lines that begin with the seconds since the start."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._start = time.monotonic()
        self._deaf = False

    def emit(self, event: Event) -> None:
        """Write the line of an event. What an agent does in between gets none."""
        if isinstance(event, TrialActive) or self._deaf:
            return
        seconds = time.monotonic() - self._start
        try:
            line = printable(describe(event))
            print(f"[{seconds:7.1f}s] {line}", file=self._stream, flush=True)
        except OSError:  # nobody reads any more; the session is worth more than its progress
            self._deaf = True


def describe(event: Event) -> str:
    """Describe the event in one line of plain text."""
    match event:
        case SessionStarted():
            done = f", {event.done} of them done" if event.done else ""
            return f"session {event.session}, trials: {event.trials}{done}; results: {event.folder}"
        case Preparing():
            return event.step
        case BlockStarted():
            return f"run {event.run} of {event.runs}, order: {', '.join(event.order)}"
        case StepStarted():
            return f"run {event.run}, {event.arm}: {event.step}"
        case TrialStarted():
            return f"run {event.run}, {event.arm} {event.number} starts: {event.case}"
        case TrialEnded():
            return _ended(event.record)
        case Trouble():
            return f"trouble: {event.message}"
        case TrialActive():
            return f"run {event.run}, {event.arm} {event.number}: {event.activity.doing}"


def _ended(record: RecordView) -> str:
    seconds = "time unknown" if record.wall_seconds is None else f"{record.wall_seconds:.1f} s"
    tokens = record.effective_tokens
    spent = "tokens unknown" if tokens is None else f"{tokens} tokens"
    return (
        f"run {record.run}, {record.arm} {record.number} ended: {record.status} "
        f"({record.cause}), {seconds}, {spent}"
    )
