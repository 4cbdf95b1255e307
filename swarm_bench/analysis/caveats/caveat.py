"""What stands against believing the figures of a mode: said in the headline, and below it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.selection import Selection, once


@dataclass(frozen=True, kw_only=True)
class Caveat:
    """One thing that stands against a mode's figures. There is no warning without a qualification,
    so that the headline never says less than the warnings."""

    qualification: str
    """A clause for the headline. Equal ones are said once."""
    warning: str | None = None
    """One sentence or more, with the mode, the numbers and the places; `None` when the clause says
    it all."""


Kind = Callable[[Treated], Iterator[Caveat]]
"""Looks for one kind of caveat in a mode."""


@once
def caveats_of_kind(selection: Selection, mode: str, kind: Kind) -> tuple[Caveat, ...]:
    """Collect what a kind finds in a mode."""
    return tuple(kind(treated_in(selection, mode)))


def warned(selection: Selection, *kinds: Kind) -> Iterator[str]:
    """Yield the warnings of these kinds, one after the other, mode by mode."""
    for kind in kinds:
        for mode in selection.modes:
            for caveat in caveats_of_kind(selection, mode, kind):
                if caveat.warning:
                    yield caveat.warning
