"""What leaves no evidence of a mode: no gain is claimed then, and no limit holds."""

from collections.abc import Callable, Iterator

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.caveats.afterwards import set_by_hand
from swarm_bench.analysis.caveats.empty_answers import hollow_answers
from swarm_bench.analysis.caveats.integrity import (
    changed,
    changed_beside,
    contradicted_by_streams,
    set_aside,
)
from swarm_bench.analysis.caveats.missing_figures import same_names, same_text
from swarm_bench.analysis.caveats.outside import reached_outside
from swarm_bench.analysis.caveats.usage import labels
from swarm_bench.analysis.once import once
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report.standing import Caveat, describe_void

Kind = Callable[[Treated], Iterator[Caveat]]
"""Looks for one kind of caveat in a mode."""

VOID: tuple[Kind, ...] = (
    set_by_hand,
    set_aside,
    changed,
    changed_beside,
    contradicted_by_streams,
    reached_outside,
    same_text,
    same_names,
    labels,
    hollow_answers,
)
"""The kinds of which some leave no evidence. None of them asks for a verdict, which asks for
them."""


@once
def of_kind(selection: Selection, mode: str, kind: Kind) -> tuple[Caveat, ...]:
    """Collect what a kind finds in a mode."""
    return tuple(kind(treated_in(selection, mode)))


@once
def no_evidence(selection: Selection, mode: str, reference: str | None = None) -> str:
    """Say why nothing can be concluded from the figures of a mode, or from those of the reference
    that it is held against; empty where something can."""
    sides = dict.fromkeys((mode, reference or mode))
    return describe_void(
        {side: [it for kind in VOID for it in of_kind(selection, side, kind)] for side in sides}
    )
