"""Writing to a terminal or a pipe: agents and programs can print what would drive the one, and the
other can be closed."""

import os
import sys

import typer

from swarm_bench.config.addresses import without_logins


def show(text: str) -> None:
    """Print a result. A reader who has seen enough changes nothing, the exit code included."""
    try:
        typer.echo(without_logins(text), nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(sentence: str) -> None:
    """Tell a person how far it is, beside the result."""
    typer.echo(printable(sentence), err=True)


def printable(text: str) -> str:
    """Return the text on one line, without characters that a terminal takes for commands, and
    without the logins of addresses."""
    return "".join(
        character if character.isprintable() else " " for character in without_logins(text)
    )
