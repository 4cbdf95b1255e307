"""Why there is no verdict on a mode at all."""

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.adherence.uses import counted, counters
from swarm_bench.analysis.caveats.left_out import all_reasons, ends, planned
from swarm_bench.analysis.caveats.tools import reached_answers
from swarm_bench.analysis.comparison.pairs import stopped
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount
from swarm_bench.core.session.records import Treatment
from swarm_bench.core.status import Cause

_ENDS: dict[str, str] = {Cause.TIMEOUT: "timed out", Cause.MAX_TURNS: "ran out of turns"}
"""How trials ended, where the name of the cause is no verb."""


def barred_by(selection: Selection, mode: str) -> str | None:
    """Say why there is no verdict on the mode; `None` when there is one."""
    treated = treated_in(selection, mode)
    contaminated = treated.labelled(Treatment.CONTAMINATED)
    touched = [trial for trial in contaminated if not reached_answers(trial)]
    if touched and (mode == selection.modes[0] or not selection.has_tool(mode)):
        return (
            f"{len(touched)} of {amount(len(treated.measured), 'trial')} of it had a tool that "
            "the mode does not give."
        )
    if not selection.has_tool(mode) and _counts_without_tool(selection, mode):
        return "the tool's counters moved while its agents ran, although it gives no tool."
    if len(stopped(treated.selection, treated.mode)) == len(treated.compared):
        return _no_answer(treated)
    return _too_few_connected(selection, treated) if selection.has_tool(mode) else None


def _counts_without_tool(selection: Selection, mode: str) -> bool:
    """Tell whether counters moved in a session whose counters were not compared; where they were,
    the label says it."""
    swarms = tuple(swarm for swarm in selection.swarms_of(mode) if swarm.counters is None)
    return any(counted(swarms, probe, about) for probe, about in counters(selection).items())


def _too_few_connected(selection: Selection, treated: Treated) -> str | None:
    least = selection.data.experiment.min_connected
    trials, connected = len(treated.assessable), len(treated.connected)
    if not trials or connected / trials >= least:
        return None
    return (
        f"only {connected} of {amount(trials, 'trial')} were connected to the tool, and "
        f"{least * 100:.0f} % are needed (--min-connected)."
    )


def _no_answer(treated: Treated) -> str:
    """Say why none of the mode's trials is worth comparing."""
    causes = {**ends(treated), **all_reasons(treated)}
    trials = planned(treated)
    what = "gave an answer" if treated.compared else "can be compared"
    if not causes:
        return f"none of its trials {what}: none was run."
    ended = {_ENDS.get(why, why): count for why, count in causes.items()}
    if len(ended) == 1 and trials > 1 and trials in ended.values():
        return f"none of its trials {what}: all {trials} {''.join(ended)}."
    listed = ", ".join(f"{count} of {trials} {why}" for why, count in ended.items())
    return f"none of its trials {what}: {listed}."
