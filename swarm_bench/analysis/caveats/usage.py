"""Trials that did not use the tool of their mode, or of which it is not known what for."""

from collections.abc import Callable, Iterable, Iterator

from swarm_bench.analysis.adherence.treated import Treated, is_connected
from swarm_bench.analysis.wording import amount, listed, places
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import Evidence, Treatment, TrialRecord

LABELS = (Treatment.NOT_CONNECTED, Treatment.UNUSED)
"""What a trial of a mode with a tool is that did not use it."""

Trials = list[TrialRecord]


def labels(treated: Treated) -> Iterator[Caveat]:
    """Yield a caveat for each way of not having used the tool. A trial that the provider or the
    harness cut off had no chance to call anything."""
    ways: tuple[tuple[Callable[[TrialRecord], bool], str, str], ...] = (
        (
            lambda trial: trial.retrieval is Treatment.NOT_CONNECTED,
            "not connected",
            "were not connected to the retrieval tool: they ran without it, with whatever else "
            "their mode gives",
        ),
        (_never_called, "never called", "never called the retrieval tool they had"),
        (
            _never_answered,
            "called without an answer",
            "called the retrieval tool they had, and no call of it was answered",
        ),
        (
            _answered_beside,
            "called, but not to retrieve,",
            "called the retrieval tool they had only for something other than retrieval",
        ),
        (_unexplained, "not used", "did not use the retrieval tool they had"),
    )
    idle = treated.labelled(*LABELS)
    for applies, short, meaning in ways:
        trials = [trial for trial in idle if applies(trial)]
        if trials:
            some = f"{len(trials)} of {amount(len(treated.measured), 'trial')}"
            yield Caveat(
                qualification=f"{short} in {some}{_tools(trials)}",
                warning=f"{treated.mode}: {some} {meaning} "
                f"{places(trials, treated.selection)}{_detail(trials)}. "
                "They stay in the figures, which are as assigned.",
                is_void=treated.idle,
            )


def unclear(treated: Treated) -> Iterator[Caveat]:
    """Find trials that got answers only of tools of which it cannot be told what they are for."""
    trials = [
        trial
        for trial in treated.used
        if trial.evidence and trial.evidence.retrieved == 0 and trial.evidence.unclear
    ]
    if trials:
        names = sorted({tool for trial in trials for tool in _evidence(trial).unclear})
        some = f"{len(trials)} of {amount(len(treated.counted), 'trial')}"
        yield Caveat(
            qualification=f"what the tool was used for is not known in {some} ({listed(names)})",
            warning=f"{treated.mode}: in {some} only tools answered of which cannot be told "
            f"whether they search or read {places(trials, treated.selection)}: {listed(names)}. "
            "The mode's file can name its search (swarm-bench docs tool-index).",
        )


def unknown_use(treated: Treated) -> Iterator[Caveat]:
    """Find trials that cannot be told to have used the tool, or that lacked a server."""
    if not treated.selection.has_tool(treated.mode):
        return
    trials = amount(len(treated.counted), "trial")
    what = "used" if all(map(is_connected, treated.unknown)) else "connected"
    if treated.counted and len(treated.unknown) == len(treated.counted):
        yield Caveat(qualification=f"whether the tool was {what} cannot be told")
    elif treated.unknown:
        some = f"{len(treated.unknown)} of {trials}"
        yield Caveat(qualification=f"whether the tool was {what} cannot be told of {some}")
    for server, lacking in treated.partly.items():
        yield Caveat(qualification=f"the server {server} not connected in {lacking} of {trials}")


def _never_called(trial: TrialRecord) -> bool:
    return _unused(trial) and trial.evidence is not None and trial.evidence.calls == 0


def _never_answered(trial: TrialRecord) -> bool:
    evidence = trial.evidence
    return _unused(trial) and evidence is not None and bool(evidence.calls) and not evidence.others


def _answered_beside(trial: TrialRecord) -> bool:
    return _unused(trial) and trial.evidence is not None and bool(trial.evidence.others)


def _unexplained(trial: TrialRecord) -> bool:
    """Tell whether it is a record of an older version."""
    return _unused(trial) and (trial.evidence is None or trial.evidence.calls is None)


def _unused(trial: TrialRecord) -> bool:
    return trial.retrieval is Treatment.UNUSED


def _tools(trials: Trials) -> str:
    """Name the tools that answered and do not retrieve."""
    names = sorted({tool for trial in trials for tool in _evidence(trial).others})
    return f" ({listed(names)})" if names else ""


def _detail(trials: Trials) -> str:
    """Name those tools, or quote what the agents said of servers that were not connected."""
    names = sorted({tool for trial in trials for tool in _evidence(trial).others})
    states = _states(trials)
    return f": {listed(names)}" if names else (f": {listed(states)}" if states else "")


def _states(trials: Iterable[TrialRecord]) -> list[str]:
    return sorted(
        {
            f"{name} is {state}"
            for trial in trials
            for name, state in (trial.mcp_servers or {}).items()
            if state != "connected"
        }
    )


def _evidence(trial: TrialRecord) -> Evidence:
    return trial.evidence or Evidence()
