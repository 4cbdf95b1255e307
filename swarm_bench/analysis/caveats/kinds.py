"""All kinds of caveats on a mode. What they find is decided once, for headline, gate, diff and
exports."""

from collections.abc import Iterator

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.caveats.censoring import find_stopped_as_worst
from swarm_bench.analysis.caveats.clones import (
    find_changed_instructions,
    find_committed_index,
    find_exposed_keys,
    find_failed_teardown,
    find_unexpected_files,
)
from swarm_bench.analysis.caveats.declaration import find_set_by_hand
from swarm_bench.analysis.caveats.empty_answers import find_hollow_answers
from swarm_bench.analysis.caveats.integrity import (
    find_changed_records,
    find_other_changes,
    find_replaced_files,
    find_stream_contradictions,
    find_unrecorded,
)
from swarm_bench.analysis.caveats.missing_figures import (
    find_constant_level,
    find_failed_scorers,
    find_missing_figures,
    find_same_names,
    find_same_text,
    find_single_lines,
)
from swarm_bench.analysis.caveats.no_verdict import Kind, find_caveats
from swarm_bench.analysis.caveats.omitted_trials import (
    find_omitted,
    find_uneven_failures,
    find_uneven_losses,
    find_unfinished,
)
from swarm_bench.analysis.caveats.order import find_constant_order, find_drift_caveat
from swarm_bench.analysis.caveats.tools import (
    find_broken_tools,
    find_contaminated,
    find_contradictions,
    find_double_counts,
    find_failing_calls,
    find_missing_counters,
    find_not_exercised,
    find_shared_counters,
    find_shortened_names,
    find_slow_servers,
    find_unusable_tools,
)
from swarm_bench.analysis.caveats.usage import (
    find_reached_outside,
    find_unclear_use,
    find_unknown_use,
    find_unused,
)
from swarm_bench.analysis.comparison.controls import find_placebo_caveats
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report.standing import Caveat

GRAVEST: tuple[Kind, ...] = (
    find_set_by_hand,
    find_replaced_files,
    find_omitted,
    find_unfinished,
    find_placebo_caveats,
    find_unknown_use,
    find_changed_records,
    find_other_changes,
    find_unrecorded,
    find_stream_contradictions,
    find_contaminated,
    find_exposed_keys,
    find_reached_outside,
    find_contradictions,
    find_not_exercised,
)
"""Their warnings stand before those on how trials ended."""
KINDS: tuple[Kind, ...] = (
    *GRAVEST,
    find_uneven_failures,
    find_uneven_losses,
    find_failed_scorers,
    find_missing_figures,
    find_single_lines,
    find_same_text,
    find_same_names,
    find_constant_level,
    find_committed_index,
    find_unexpected_files,
    find_changed_instructions,
    find_unused,
    find_unclear_use,
    find_hollow_answers,
    find_unusable_tools,
    find_shortened_names,
    find_broken_tools,
    find_missing_counters,
    find_shared_counters,
    find_double_counts,
    find_failed_teardown,
    find_stopped_as_worst,
    find_drift_caveat,
    find_constant_order,
    find_failing_calls,
    find_slow_servers,
)


@once
def list_caveats(selection: Selection, mode: str) -> tuple[Caveat, ...]:
    """Collect what stands against believing the figures of a mode, each clause once."""
    by_clause = dict[str, Caveat]()
    for kind in KINDS:
        for caveat in find_caveats(selection, mode, kind):
            by_clause.setdefault(caveat.qualification, caveat)
    return tuple(by_clause.values())


def list_kind_warnings(selection: Selection, *kinds: Kind) -> Iterator[str]:
    """Yield the warnings of these kinds, one after the other, mode by mode."""
    for kind in kinds:
        for mode in selection.modes:
            for caveat in find_caveats(selection, mode, kind):
                if caveat.warning:
                    yield caveat.warning
