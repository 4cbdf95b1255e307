"""How a call ends after an error: a sentence for each, and one of the documented exit codes."""

from collections.abc import Iterator
from contextlib import suppress

import typer

from swarm_bench.cli.output.terminal import printable
from swarm_bench.core.errors import HarnessError, SwarmBenchError
from swarm_bench.core.interruption import INTERRUPTED

DEBUG = "SWARM_BENCH_DEBUG"
"""Variable with which a traceback is shown."""


def ending(error: BaseException) -> int | str | None:
    """Say what happened on standard error, and return the exit code.

    Task groups raise all that went wrong in them at once: an interruption wins, since whoever
    interrupts knows why it ended, and else each is said, and the first one of ours decides.
    """
    errors = list(_alone(error))
    if any(isinstance(error, KeyboardInterrupt) for error in errors):
        return INTERRUPTED
    for error in errors:
        if isinstance(error, SystemExit):
            return error.code
    for sentence in dict.fromkeys(map(_sentence, errors)):
        with suppress(OSError):  # nobody reads it
            typer.echo(printable(f"swarm-bench: {sentence}"), err=True)
    codes = (error.exit_code for error in errors if isinstance(error, SwarmBenchError))
    return next(codes, HarnessError.exit_code)


def _alone(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, and of the groups in it."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _alone(inner)
    else:
        yield error


def _sentence(error: BaseException) -> str:
    if isinstance(error, SwarmBenchError):
        return str(error)
    if isinstance(error, OSError):  # what has no name is what we print to
        return f"{error.filename or 'the output'}: {error.strerror or error}; fix that"
    return (
        f"a defect of swarm-bench ended this: {type(error).__name__}: {error}; "
        f"{DEBUG}=1 shows where, please report it"
    )
