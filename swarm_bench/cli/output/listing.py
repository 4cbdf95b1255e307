"""Prints what `modes`, `tasks`, `agents` and `benchmarks` list."""

from collections.abc import Sequence

from swarm_bench.cli.output.terminal import printable, show
from swarm_bench.core.listing import Listing


def print_listing(listings: Sequence[Listing]) -> None:
    """Print a paragraph for each; what cannot be used says why."""
    for listing in listings:
        state = (listing.caveat or "usable") if listing.problem is None else "not usable"
        name = printable(f"{listing.name}  ({state}, from {listing.source})")
        show(f"{name}\n    {printable(listing.problem or listing.about)}\n")
