"""Why there is no verdict on a mode at all, and what leaves no evidence of it: no gain is claimed
then, and no limit holds."""

from collections.abc import Callable, Iterator

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.caveats.declaration import find_set_by_hand
from swarm_bench.analysis.caveats.empty_answers import find_hollow_answers
from swarm_bench.analysis.caveats.integrity import (
    find_changed_records,
    find_other_changes,
    find_replaced_files,
    find_stream_contradictions,
)
from swarm_bench.analysis.caveats.missing_figures import find_same_names, find_same_text
from swarm_bench.analysis.caveats.omitted_trials import count_all_reasons, count_ends, count_planned
from swarm_bench.analysis.caveats.tools import has_reached_answers
from swarm_bench.analysis.caveats.usage import find_reached_outside, find_unused
from swarm_bench.analysis.comparison.pairs import list_stopped
from swarm_bench.analysis.mode_trials import ModeTrials, get_mode_trials
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.tool_use import collect_counters, count_uses
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.standing import Caveat, describe_void
from swarm_bench.core.session.records import Treatment


def explain_no_verdict(selection: Selection, mode: str) -> str | None:
    """Say why there is no verdict on the mode; `None` when there is one."""
    mode_trials = get_mode_trials(selection, mode)
    contaminated = mode_trials.select_labelled(Treatment.CONTAMINATED)
    touched = [trial for trial in contaminated if not has_reached_answers(trial)]
    if touched and (mode == selection.modes[0] or not selection.has_tool(mode)):
        return (
            f"{len(touched)} of {quantify(len(mode_trials.measured_trials), 'trial')} of it had a "
            f"tool that the mode does not give."
        )
    if not selection.has_tool(mode) and _has_counts_without_tool(selection, mode):
        return "the tool's counters moved while its agents ran, although it gives no tool."
    if len(list_stopped(mode_trials.selection, mode_trials.mode)) == len(
        mode_trials.compared_trials
    ):
        return _explain_no_answer(mode_trials)
    return _explain_too_few_connected(selection, mode_trials) if selection.has_tool(mode) else None


def _has_counts_without_tool(selection: Selection, mode: str) -> bool:
    """Tell whether counters moved in a session whose counters were not compared; where they were,
    the label says it."""
    swarms = tuple(swarm for swarm in selection.select_swarms(mode) if swarm.counters is None)
    return any(
        count_uses(swarms, probe, spec) for probe, spec in collect_counters(selection).items()
    )


def _explain_too_few_connected(selection: Selection, mode_trials: ModeTrials) -> str | None:
    least = selection.data.experiment.min_connected
    trials, connected = len(mode_trials.assessable), len(mode_trials.connected_trials)
    if not trials or connected / trials >= least:
        return None
    return (
        f"only {connected} of {quantify(trials, 'trial')} were connected to the tool, and "
        f"{least * 100:.0f} % are needed (--min-connected)."
    )


def _explain_no_answer(mode_trials: ModeTrials) -> str:
    """Say why none of the mode's trials is worth comparing."""
    counts_by_end = {**count_ends(mode_trials), **count_all_reasons(mode_trials)}
    trials = count_planned(mode_trials)
    verb = "gave an answer" if mode_trials.compared_trials else "can be compared"
    if not counts_by_end:
        return f"none of its trials {verb}: none was run."
    enumeration = ", ".join(f"{count} of {trials} {end}" for end, count in counts_by_end.items())
    return f"none of its trials {verb}: {enumeration}."


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
