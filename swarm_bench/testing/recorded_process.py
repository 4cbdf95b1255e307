"""Prints what an agent printed when it was recorded, and ends as it ended.

    python -I -m swarm_bench.testing.recorded_process --stdout FILE --stderr FILE --code N

A negative code is the number of a signal, which the process then sends to itself.
"""

import argparse
import os
import resource
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
"""Signals that end nothing."""


def main() -> None:
    """Play the recording that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stdout", type=Path, required=True)
    parser.add_argument("--stderr", type=Path, required=True)
    parser.add_argument("--code", type=int, required=True)
    options = parser.parse_args()
    # Whoever stops it by what it reads wants the last output as well: that was recorded.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _print(options.stderr, sys.stderr.buffer)
    _print(options.stdout, sys.stdout.buffer)
    end(options.code)


def end(code: int) -> None:
    """End with the exit code, or by the signal."""
    if code >= 0:
        os._exit(code)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the original has left its own core
    if -code not in STOPPING:
        with suppress(OSError, ValueError):  # ValueError: no signal of this system
            signal.signal(-code, signal.SIG_DFL)
        with suppress(OSError, ValueError):
            os.kill(os.getpid(), -code)
    os._exit(1)


def _print(path: Path, target: IO[bytes]) -> None:
    # A link would lead out of the recording, which may come from somebody else.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as source:
        shutil.copyfileobj(source, target)
    target.flush()


if __name__ == "__main__":
    main()
