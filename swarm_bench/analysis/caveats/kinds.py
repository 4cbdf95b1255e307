"""All kinds of caveats on a mode. What they find is decided once, for headline, gate, diff and
exports."""

from collections.abc import Iterator

from swarm_bench.analysis.caveats.afterwards import set_by_hand
from swarm_bench.analysis.caveats.censoring import stopped_as_worst
from swarm_bench.analysis.caveats.clones import (
    brought,
    held_keys,
    instructions_changed,
    littered,
    not_torn_down,
)
from swarm_bench.analysis.caveats.empty_answers import hollow_answers
from swarm_bench.analysis.caveats.integrity import (
    changed,
    changed_beside,
    contradicted_by_streams,
    set_aside,
    unrecorded,
)
from swarm_bench.analysis.caveats.left_out import left_out, lost_before, uneven_failures, unfinished
from swarm_bench.analysis.caveats.missing_figures import (
    as_good_as_constant,
    missing_figures,
    same_names,
    same_text,
    single_lines,
)
from swarm_bench.analysis.caveats.order.drift import drifted
from swarm_bench.analysis.caveats.order.turns import always_in_one_order
from swarm_bench.analysis.caveats.outside import reached_outside
from swarm_bench.analysis.caveats.scorers import failed_scorers
from swarm_bench.analysis.caveats.tools import (
    broken,
    contaminated,
    contradicted,
    counted_twice,
    failing,
    nameless,
    not_exercised,
    shared,
    slow,
    unheard,
    unusable,
)
from swarm_bench.analysis.caveats.usage import labels, unclear, unknown_use
from swarm_bench.analysis.caveats.void import Kind, of_kind
from swarm_bench.analysis.comparison.placebos import beside_placebo
from swarm_bench.analysis.once import once
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report.standing import Caveat

GRAVEST: tuple[Kind, ...] = (
    set_by_hand,
    set_aside,
    left_out,
    unfinished,
    beside_placebo,
    unknown_use,
    changed,
    changed_beside,
    unrecorded,
    contradicted_by_streams,
    contaminated,
    held_keys,
    reached_outside,
    contradicted,
    not_exercised,
)
"""Their warnings stand before those on how trials ended."""
KINDS: tuple[Kind, ...] = (
    *GRAVEST,
    uneven_failures,
    lost_before,
    failed_scorers,
    missing_figures,
    single_lines,
    same_text,
    same_names,
    as_good_as_constant,
    brought,
    littered,
    instructions_changed,
    labels,
    unclear,
    hollow_answers,
    unusable,
    nameless,
    broken,
    unheard,
    shared,
    counted_twice,
    not_torn_down,
    stopped_as_worst,
    drifted,
    always_in_one_order,
    failing,
    slow,
)


@once
def caveats(selection: Selection, mode: str) -> tuple[Caveat, ...]:
    """Collect what stands against believing the figures of a mode, each clause once."""
    by_clause = dict[str, Caveat]()
    for kind in KINDS:
        for caveat in of_kind(selection, mode, kind):
            by_clause.setdefault(caveat.qualification, caveat)
    return tuple(by_clause.values())


def warned(selection: Selection, *kinds: Kind) -> Iterator[str]:
    """Yield the warnings of these kinds, one after the other, mode by mode."""
    for kind in kinds:
        for mode in selection.modes:
            for caveat in of_kind(selection, mode, kind):
                if caveat.warning:
                    yield caveat.warning
