"""Prints what `modes`, `tasks` and `agents` found."""

from collections.abc import Sequence

import typer

from swarm_bench.core.listing import Listing


def print_listing(listings: Sequence[Listing]) -> None:
    """A paragraph for each; what cannot be used says why."""
    for listing in listings:
        state = "usable" if listing.problem is None else "not usable"
        typer.echo(f"{listing.name}  ({state}, from {listing.source})")
        typer.echo(f"    {listing.problem or listing.about}")
