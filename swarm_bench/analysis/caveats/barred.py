"""Why there is no verdict on a mode at all."""

from swarm_bench.analysis.adherence.treated import ModeTrials, get_mode_trials
from swarm_bench.analysis.adherence.uses import collect_counters, count_uses
from swarm_bench.analysis.caveats.left_out import count_all_reasons, count_ends, count_planned
from swarm_bench.analysis.caveats.tools import has_reached_answers
from swarm_bench.analysis.comparison.pairs import list_stopped
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.session.records import Treatment
from swarm_bench.core.status import Cause

_END_VERBS: dict[str, str] = {Cause.TIMEOUT: "timed out", Cause.MAX_TURNS: "ran out of turns"}
"""How trials ended, where the name of the cause is no verb."""


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
    causes = {**count_ends(mode_trials), **count_all_reasons(mode_trials)}
    trials = count_planned(mode_trials)
    verb = "gave an answer" if mode_trials.compared_trials else "can be compared"
    if not causes:
        return f"none of its trials {verb}: none was run."
    counts_by_end = {_END_VERBS.get(cause, cause): count for cause, count in causes.items()}
    if len(counts_by_end) == 1 and trials > 1 and trials in counts_by_end.values():
        return f"none of its trials {verb}: all {trials} {''.join(counts_by_end)}."
    enumeration = ", ".join(
        f"{count} of {trials} {cause}" for cause, count in counts_by_end.items()
    )
    return f"none of its trials {verb}: {enumeration}."
