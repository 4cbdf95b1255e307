"""What a rehearsal is for: whether each tool is connected and called, and what it adds."""

from swarm_bench.analysis.adherence.treated import get_mode_trials, is_connected
from swarm_bench.analysis.sections.overhead import read_overhead
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report.report import Rehearsed
from swarm_bench.core.session.records import Treatment, TrialRecord


def describe_rehearsal(selection: Selection) -> tuple[Rehearsed, ...] | None:
    """Return what a rehearsal shows of each mode with a tool; `None` in a session that is
    none."""
    if not selection.rehearsal:
        return None
    return tuple(
        _describe_mode(selection, mode) for mode in selection.modes if selection.has_tool(mode)
    )


def _describe_mode(selection: Selection, mode: str) -> Rehearsed:
    trials = get_mode_trials(selection, mode).counted_trials
    figures = read_overhead(selection, mode)
    return Rehearsed(
        mode=mode,
        trials=len(trials),
        connected=sum(is_connected(trial) is True for trial in trials),
        called=sum(map(_has_called, trials)),
        answered=sum(trial.retrieval is Treatment.USED for trial in trials),
        added_tokens=figures["prompt_difference"],
        seconds=figures["server_seconds"],
    )


def _has_called(trial: TrialRecord) -> bool:
    """Tell whether the agent called a tool of its mode, whatever came back."""
    has_calls = bool(trial.evidence and trial.evidence.calls)
    return has_calls or trial.retrieval is Treatment.USED
