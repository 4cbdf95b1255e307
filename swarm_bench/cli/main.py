"""The command `swarm-bench`: options in, one call, print."""

import os
import sys

_PR_SET_DUMPABLE = 4
INTERRUPTED = 130
"""Exit code, as in `core/interruption.py`, which is not imported yet when a signal may come."""


def main() -> None:
    """Run a command; turn whatever leaves it into one sentence and its exit code."""
    try:
        # Imported here, as each takes a while in which a signal may come; so are those below.
        from swarm_bench.core import interruption

        _open_closed_streams()
        # Until a session listens itself: what was begun is put away, as after Ctrl-C.
        interruption.listen()
        _run()
    except KeyboardInterrupt:  # before there is anything that could say more
        sys.exit(INTERRUPTED)


def _open_closed_streams() -> None:
    """Open on the null device what a caller closed, as in `>&-`.

    The next file that is opened would get its number.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w"))


def shield_memory() -> None:
    """Close `/proc/PID/environ`, `mem` and `ptrace` of this process to all but root, and leave no
    core dump: agents run with the same user's rights, and all keys are in our environment.
    Programs that it starts are as open as ever, from their `exec` on. A kernel that refuses leaves
    everything as it was."""
    import ctypes  # which takes a while, as above

    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _run() -> None:
    shield_memory()
    from swarm_bench.cli.commands import app
    from swarm_bench.cli.output.ending import DEBUG, report_end
    from swarm_bench.core import interruption

    try:
        # What was typed wrong ends as any other error does.
        code = app(standalone_mode=False)
        interruption.leave(code if isinstance(code, int) else None)
    except BaseException as error:  # the one place where everything ends
        if os.environ.get(DEBUG):
            raise
        interruption.leave(report_end(error))
