"""The command `swarm-bench`: options in, one call, print."""

import signal
import sys
from contextlib import suppress
from typing import Annotated

import typer

from swarm_bench.app.shielding import shield_memory
from swarm_bench.cli import ab, agents, calibrate, compare, doctor, modes, report, tasks
from swarm_bench.cli.running import INTERRUPTED
from swarm_bench.cli.terminal import printable
from swarm_bench.core.errors import SwarmBenchError

UNUSABLE = 3

app = typer.Typer(
    name="swarm-bench",
    help="Measures whether a retrieval tool helps coding agents, on your code, for its price.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (compare, ab, calibrate, doctor, report, modes, tasks, agents):
    command.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # only this option needs it

        typer.echo(f"swarm-bench {version('swarm-bench')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Without a command there is nothing to do."""
    del version


def main() -> None:
    """Run a command; turn an error of ours into one sentence and its exit code."""
    shield_memory()
    # Until a session listens itself: what was begun is put away, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under nohup
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        app()
    except SwarmBenchError as error:
        typer.echo(printable(f"swarm-bench: {error}"), err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # what has no name is what we print to
        place = error.filename or "the output"
        with suppress(OSError):
            typer.echo(printable(f"swarm-bench: {place}: {error.strerror}; fix that"), err=True)
        sys.exit(UNUSABLE)
