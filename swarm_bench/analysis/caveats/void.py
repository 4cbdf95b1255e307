"""What leaves no evidence of a mode: no gain is claimed then, and no limit holds."""

from collections.abc import Callable, Iterator

from swarm_bench.analysis.adherence.treated import ModeTrials, get_mode_trials
from swarm_bench.analysis.caveats.afterwards import find_set_by_hand
from swarm_bench.analysis.caveats.empty_answers import find_hollow_answers
from swarm_bench.analysis.caveats.integrity import (
    find_changed_records,
    find_other_changes,
    find_replaced_files,
    find_stream_contradictions,
)
from swarm_bench.analysis.caveats.missing_figures import find_same_names, find_same_text
from swarm_bench.analysis.caveats.outside import find_reached_outside
from swarm_bench.analysis.caveats.usage import find_unused
from swarm_bench.analysis.once import once
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report.standing import Caveat, describe_void

Kind = Callable[[ModeTrials], Iterator[Caveat]]
"""Looks for one kind of caveat in a mode."""

VOID: tuple[Kind, ...] = (
    find_set_by_hand,
    find_replaced_files,
    find_changed_records,
    find_other_changes,
    find_stream_contradictions,
    find_reached_outside,
    find_same_text,
    find_same_names,
    find_unused,
    find_hollow_answers,
)
"""The kinds of which some leave no evidence. None of them asks for a verdict, which asks for
them."""


@once
def find_caveats(selection: Selection, mode: str, kind: Kind) -> tuple[Caveat, ...]:
    """Collect what a kind finds in a mode."""
    return tuple(kind(get_mode_trials(selection, mode)))


@once
def explain_no_evidence(selection: Selection, mode: str, reference: str | None = None) -> str:
    """Say why nothing can be concluded from the figures of a mode, or from those of the reference
    that it is held against; empty where something can."""
    sides = dict.fromkeys((mode, reference or mode))
    return describe_void(
        {
            side: [caveat for kind in VOID for caveat in find_caveats(selection, side, kind)]
            for side in sides
        }
    )
