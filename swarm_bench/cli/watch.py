"""Shows what a session does while it runs: a live view in a terminal, plain lines in a pipe."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from swarm_bench.core.events import Emit


@contextmanager
def watching(*, quiet: bool) -> Iterator[Emit]:
    """The function to hand to the engine. Everything goes to standard error."""
    if quiet:
        yield lambda event: None
    elif sys.stderr.isatty():
        from swarm_bench.cli.live import live_view

        with live_view() as emit:
            yield emit
    else:
        from swarm_bench.cli.lines import PlainLines

        yield PlainLines(sys.stderr).emit
