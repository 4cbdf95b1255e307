"""Prints what `modes`, `tasks`, `agents` and `benchmarks` list."""

import shutil
import sys
from collections.abc import Sequence
from textwrap import fill

from swarm_bench.cli.output.terminal import printable, show
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
