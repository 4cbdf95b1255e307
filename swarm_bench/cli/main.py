"""The command `swarm-bench`: options in, one call, print."""

import os
import signal
import sys
from typing import Annotated

import typer

from swarm_bench.app.shielding import shield_memory
from swarm_bench.cli import ab, agents, calibrate, compare, doctor, modes, report, tasks
from swarm_bench.cli.ending import DEBUG, ending

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
    """Run a command; turn whatever leaves it into one sentence and its exit code."""
    shield_memory()
    # Until a session listens itself: what was begun is put away, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under nohup
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        app()
    except BaseException as error:  # the one place where everything ends
        if os.environ.get(DEBUG):
            raise
        sys.exit(ending(error))
