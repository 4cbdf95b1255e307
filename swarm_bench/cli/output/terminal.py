"""Writing to a terminal or a pipe: agents and programs can print what would drive the one, and the
other can be closed."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import typer

from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.listing import Listing

_INDENT = "    "


def print_listing(listings: Sequence[Listing]) -> None:
    """Print a paragraph for each; what cannot be used says why."""
    for listing in listings:
        state = (listing.caveat or "usable") if listing.problem is None else "not usable"
        name = printable(f"{listing.name}  ({state}, from {listing.source})")
        description = printable(listing.problem or listing.about)
        show(f"{_fit(name, '')}\n{_fit(description, _INDENT)}\n")


def _fit(text: str, indent: str) -> str:
    """Break the line between words for a person; a pipe gets it whole."""
    if not sys.stdout.isatty():
        return indent + text
    return fill(
        text,
        shutil.get_terminal_size().columns,
        initial_indent=indent,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


if TYPE_CHECKING:
    from swarm_bench.core.report.document import RenderedDocument


def show(text: str) -> None:
    """Print a result. A reader who has seen enough changes nothing, the exit code included."""
    try:
        typer.echo(remove_logins(text), nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_summary(summary: "RenderedDocument", folder: Path | None = None) -> None:
    """Print a summary or a page: to a person the brief, and where the rest is, or all of what has
    no brief; to a pipe all of it."""
    width = terminal_width()
    if width is None:
        show(summary.markdown)
        return
    from swarm_bench.app.result import shorten_summary  # heavy

    show(shorten_summary(summary, width, colours=has_colours()))
    if folder:
        say(f"Results: {folder}")


def terminal_width() -> int | None:
    """Return the columns of the terminal that a result is printed at; `None` for a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def has_colours() -> bool:
    """Tell whether a terminal may be written to in colours; `echo` takes them out for a pipe."""
    return "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def say(sentence: str) -> None:
    """Tell a person how far it is, beside the result."""
    typer.echo(printable(sentence), err=True)


def printable(text: str) -> str:
    """Return the text on one line, without characters that a terminal takes for commands, and
    without the logins of addresses."""
    return "".join(
        character if character.isprintable() else " " for character in remove_logins(text)
    )


def shorten_path(folder: str) -> str:
    """Write a path below the working folder without that."""
    path = Path(folder)
    working_folder = Path.cwd()
    return str(path.relative_to(working_folder)) if path.is_relative_to(working_folder) else folder
