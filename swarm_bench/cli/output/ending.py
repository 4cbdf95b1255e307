"""How a call ends after an error: a sentence for each, and one of the documented exit codes."""

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from textwrap import fill
from typing import Any

import typer
from typer.exceptions import TyperException

from swarm_bench.cli.output.terminal import printable
from swarm_bench.core.errors import HarnessError, SwarmBenchError, UsageError
from swarm_bench.core.interruption import INTERRUPTED

DEBUG = "SWARM_BENCH_DEBUG"
"""Variable with which a traceback is shown."""
_PLAINER = (
    (r"Invalid value for '([^']+)': Value error, (.*)", r"\1: \2"),
    (
        r"Invalid value for '([^']+)': Input should be a valid integer.*",
        r"\1 must be a whole number",
    ),
    (r"Invalid value for '([^']+)': (.*)", r"\1: \2"),
    (r"Invalid value: (.*)", r"\1"),
    (r"No such option: (\S+) \(Possible options: (.*)\)", r"There is no option \1; is it \2?"),
    (r"No such option:? (\S+?)[.?]? Did you mean (.*)\?", r"There is no option \1; is it \2?"),
    (r"No such option: (\S+)", r"There is no option \1"),
    (r"No such command '([^']+)'\. Did you mean (.*)\?", r"There is no command '\1'; is it \2?"),
    (r"No such command (.*)", r"There is no command \1"),
    (r"Missing argument '([^']+)'", r"\1 is missing"),
    (r"Option '([^']+)' requires an argument", r"\1 needs a value"),
    (r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", r"unexpected: \1"),
)
"""Patterns of the library's messages on a command line, and our wording."""
_COMMAND = ": swarm-bench "


def report_end(error: BaseException) -> int | str | None:
    """Say what happened on standard error, and return the exit code.

    Task groups raise all that went wrong in them at once: an interruption wins, since whoever
    interrupts knows why it ended, and else each is said, and the first one of ours decides.
    """
    errors = list(_iterate_errors(error))
    if any(isinstance(error, KeyboardInterrupt) for error in errors):
        return INTERRUPTED
    for error in errors:
        if isinstance(error, SystemExit):
            return error.code
    for sentence in dict.fromkeys(map(_describe, errors)):
        with suppress(OSError):  # nobody reads it
            typer.echo(_wrap(printable(f"swarm-bench: {sentence}")), err=True)
    codes = (code for error in errors if (code := _find_exit_code(error)) is not None)
    return next(codes, HarnessError.exit_code)


def _find_exit_code(error: BaseException) -> int | None:
    if isinstance(error, TyperException):
        return UsageError.exit_code
    return error.exit_code if isinstance(error, SwarmBenchError) else None


def _iterate_errors(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, and of the groups in it."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _iterate_errors(inner)
    else:
        yield error


def _describe(error: BaseException) -> str:
    if isinstance(error, SwarmBenchError):
        return str(error)
    if isinstance(error, TyperException):
        return _describe_usage_error(error)
    if isinstance(error, OSError):  # what has no name is what we print to
        return f"{error.filename or 'the output'}: {error.strerror or error}; fix that"
    return (
        f"a defect of swarm-bench ended this: {type(error).__name__}: {error}; "
        f"{DEBUG}=1 shows where, please report it"
    )


def _describe_usage_error(error: Any) -> str:
    """Say what is wrong in what was typed, and where to read what can be."""
    text = error.format_message().rstrip(".")
    context = error.ctx
    for pattern, plainer in _PLAINER:
        if match := re.fullmatch(pattern, text, re.DOTALL):
            text = match.expand(plainer)
            break
    return f"{text}; see: {context.command_path if context else 'swarm-bench'} --help"


def _wrap(text: str) -> str:
    """Break lines between words for a person; a command to be copied stays whole."""
    if not sys.stderr.isatty():
        return text
    text, colon, command = text.partition(_COMMAND)
    columns = shutil.get_terminal_size().columns
    sentence = fill(f"{text}:" if colon else text, columns, break_long_words=False)
    return f"{sentence}\n  swarm-bench {command}" if colon else sentence
