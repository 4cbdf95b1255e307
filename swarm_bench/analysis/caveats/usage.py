"""Trials that did not use the tool of their mode, or of which it is not known what for, and what
agents reached beside its servers."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from swarm_bench.analysis.mode_trials import ModeTrials, get_mode_trials, is_connected
from swarm_bench.analysis.wording import format_places, list_few, quantify
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import Evidence, Treatment, TrialRecord

LABELS = (Treatment.NOT_CONNECTED, Treatment.UNUSED)
"""Labels of a trial of a mode with a tool that did not use it."""

Trials = list[TrialRecord]


def find_unused(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Yield a caveat for each way of not having used the tool. A trial that the provider or the
    harness cut off had no chance to call anything."""
    categories: tuple[tuple[Callable[[TrialRecord], bool], str, str], ...] = (
        (
            lambda trial: trial.retrieval is Treatment.NOT_CONNECTED,
            "not connected",
            "were not connected to the retrieval tool: they ran without it, with whatever else "
            "their mode gives",
        ),
        (_is_never_called, "never called", "never called the retrieval tool they had"),
        (
            _is_never_answered,
            "called without an answer",
            "called the retrieval tool they had, and no call of it was answered",
        ),
        (
            _is_other_use,
            "called, but not to retrieve,",
            "called the retrieval tool they had only for something other than retrieval",
        ),
        (_is_unexplained, "not used", "did not use the retrieval tool they had"),
    )
    unused_trials = mode_trials.select_labelled(*LABELS)
    for applies, short, meaning in categories:
        trials = [trial for trial in unused_trials if applies(trial)]
        if trials:
            count_text = f"{len(trials)} of {quantify(len(mode_trials.measured_trials), 'trial')}"
            yield Caveat(
                qualification=f"{short} in {count_text}{_name_tools(trials)}",
                warning=f"{mode_trials.mode}: {count_text} {meaning} "
                f"{format_places(trials, mode_trials.selection)}{_describe_detail(trials)}. "
                "They stay in the figures, which are as assigned.",
                is_void=mode_trials.is_unused,
            )


def find_unclear_use(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find trials that got answers only of tools of which it cannot be told what they are for."""
    trials = [
        trial
        for trial in mode_trials.used_trials
        if trial.evidence and trial.evidence.retrieved == 0 and trial.evidence.unclear
    ]
    if trials:
        names = sorted({tool for trial in trials for tool in _get_evidence(trial).unclear})
        count_text = f"{len(trials)} of {quantify(len(mode_trials.counted_trials), 'trial')}"
        yield Caveat(
            qualification=f"what the tool was used for is not known in {count_text} "
            f"({list_few(names)})",
            warning=f"{mode_trials.mode}: in {count_text} only tools answered of which cannot be "
            f"told whether they search or read {format_places(trials, mode_trials.selection)}: "
            f"{list_few(names)}. The mode's file can name its search (swarm-bench docs "
            f"tool-index).",
        )


def find_unknown_use(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find trials that cannot be told to have used the tool, or that lacked a server."""
    if not mode_trials.selection.has_tool(mode_trials.mode):
        return
    trials = quantify(len(mode_trials.counted_trials), "trial")
    verb = "used" if all(map(is_connected, mode_trials.unknown_trials)) else "connected"
    if mode_trials.counted_trials and len(mode_trials.unknown_trials) == len(
        mode_trials.counted_trials
    ):
        yield Caveat(qualification=f"whether the tool was {verb} cannot be told")
    elif mode_trials.unknown_trials:
        count_text = f"{len(mode_trials.unknown_trials)} of {trials}"
        yield Caveat(qualification=f"whether the tool was {verb} cannot be told of {count_text}")
    for server, lacking in mode_trials.missing_servers.items():
        yield Caveat(qualification=f"the server {server} not connected in {lacking} of {trials}")


def _is_never_called(trial: TrialRecord) -> bool:
    return _is_unused(trial) and trial.evidence is not None and trial.evidence.calls == 0


def _is_never_answered(trial: TrialRecord) -> bool:
    evidence = trial.evidence
    return (
        _is_unused(trial) and evidence is not None and bool(evidence.calls) and not evidence.others
    )


def _is_other_use(trial: TrialRecord) -> bool:
    return _is_unused(trial) and trial.evidence is not None and bool(trial.evidence.others)


def _is_unexplained(trial: TrialRecord) -> bool:
    """Tell whether it is a record of an older version."""
    return _is_unused(trial) and (trial.evidence is None or trial.evidence.calls is None)


def _is_unused(trial: TrialRecord) -> bool:
    return trial.retrieval is Treatment.UNUSED


def _name_tools(trials: Trials) -> str:
    """Name the tools that answered and do not retrieve."""
    names = sorted({tool for trial in trials for tool in _get_evidence(trial).others})
    return f" ({list_few(names)})" if names else ""


def _describe_detail(trials: Trials) -> str:
    """Name those tools, or quote what the agents said of servers that were not connected."""
    names = sorted({tool for trial in trials for tool in _get_evidence(trial).others})
    states = sorted(
        {
            f"{name} is {state}"
            for trial in trials
            for name, state in (trial.mcp_servers or {}).items()
            if state != "connected"
        }
    )
    return f": {list_few(names)}" if names else (f": {list_few(states)}" if states else "")


def _get_evidence(trial: TrialRecord) -> Evidence:
    return trial.evidence or Evidence()


_MAX_SENTENCES = 3
"""Sentences; the records have all of them."""
_LEAST_SHARE = 0.1
"""The share of the trials of a reference that have to show such signs before it is none: a
comparison with it could be turned by that."""


def find_reached_outside(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find signs of tools that a mode does not give. A name in a command is weaker proof than a
    server that was connected: the trials keep their label, and stay in the figures."""
    mode, selection = mode_trials.mode, mode_trials.selection
    reference = get_mode_trials(selection, selection.modes[0])
    trials = _list_reaching(mode_trials)
    if trials:
        addresses = Counter(
            address for trial in trials if trial.evidence for address in trial.evidence.outside
        )
        rest_text = (
            f" And {len(addresses) - _MAX_SENTENCES} more, in metrics.jsonl."
            if len(addresses) > _MAX_SENTENCES
            else ""
        )
        yield Caveat(
            qualification=f"{_format_count(mode_trials, trials)} seem to have reached a tool that "
            f"it does not give",
            warning=f"{mode}: {_format_count(mode_trials, trials)} seem to have reached a tool "
            f"that the mode does not give {format_places(trials, selection)}. "
            f"{' '.join([*addresses][:_MAX_SENTENCES])}{rest_text} They stay in the figures; look "
            f"at their streams.",
            is_void=mode_trials is reference and _is_telling(reference, trials),
        )
    reference_trials = _list_reaching(reference)
    is_void = _is_telling(reference, reference_trials)  # which is said anyway
    if mode != reference.mode and reference_trials and not is_void:
        yield Caveat(
            qualification=f"{_format_count(reference, reference_trials)} of {reference.mode}, "
            f"with which it is compared, seem to have reached a tool that {reference.mode} does "
            f"not give"
        )


def _is_telling(reference: ModeTrials, reaching: Sequence[TrialRecord]) -> bool:
    return len(reaching) >= _LEAST_SHARE * len(reference.measured_trials)


def _list_reaching(mode_trials: ModeTrials) -> list[TrialRecord]:
    return [
        trial for trial in mode_trials.measured_trials if trial.evidence and trial.evidence.outside
    ]


def _format_count(mode_trials: ModeTrials, trials: Sequence[TrialRecord]) -> str:
    return f"{len(trials)} of {quantify(len(mode_trials.measured_trials), 'trial')}"
