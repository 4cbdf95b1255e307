"""What went wrong with the retrieval tools, each thing once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from swarm_bench.analysis.caveats.usage import LABELS
from swarm_bench.analysis.mode_trials import ModeTrials
from swarm_bench.analysis.selection import Slice
from swarm_bench.analysis.tool_use import (
    collect_counters,
    count_contradictions,
    count_uses,
    is_lost,
    list_uncompared,
)
from swarm_bench.analysis.wording import format_places, list_few, quantify
from swarm_bench.core.report.standing import Caveat, make_caveat
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.core.treatment.counters import Counters

_TELLING_CALLS = 3
_SLOW_SECONDS = 5


def find_contaminated(mode_trials: ModeTrials) -> Iterator[Caveat]:
    trials, mode = mode_trials.all, mode_trials.mode
    touched = [trial for trial in trials if trial.retrieval is Treatment.CONTAMINATED]
    informed = [trial for trial in touched if has_reached_answers(trial)]
    exposed = [trial for trial in touched if not has_reached_answers(trial)]
    for affected, did, names in (
        (exposed, "had a tool that the mode does not give", _list_foreign(exposed)),
        (informed, "reached what may tell the answer", _describe_reached(informed)),
    ):
        if affected:
            yield Caveat(
                qualification=f"{len(affected)} of {quantify(len(trials), 'trial')} contaminated, "
                f"and left out of the ratios",
                warning=f"{mode} is contaminated: {len(affected)} of {len(trials)} trials "
                f"{did} {format_places(affected, mode_trials.selection)}{names}; they are left "
                f"out of the comparison.",
            )
    if not touched and not mode_trials.selection.has_tool(mode):
        yield from _find_counts_without_tool(mode_trials)


def has_reached_answers(trial: TrialRecord) -> bool:
    """Tell whether its agent may have read the answer."""
    return trial.evidence is not None and bool(trial.evidence.answers)


def _describe_reached(trials: Iterable[TrialRecord]) -> str:
    sentences = {text for trial in trials if trial.evidence for text in trial.evidence.answers}
    return f": {' '.join(sorted(sentences)).removesuffix('.')}" if sentences else ""


def _list_foreign(trials: Iterable[TrialRecord]) -> str:
    """List the names that the agents showed."""
    names = {name for trial in trials if trial.evidence for name in trial.evidence.foreign}
    return f": {list_few(sorted(names))}" if names else ""


def _find_counts_without_tool(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find counters that moved in a session where they were not compared with the transcripts."""
    swarms = tuple(swarm for swarm in mode_trials.swarms if swarm.counters is None)
    for probe, spec in collect_counters(mode_trials.selection).items():
        uses = count_uses(swarms, probe, spec)
        if uses:
            yield Caveat(
                qualification=f"{spec.tool} counted calls, and the mode gives no tool",
                warning=f"{mode_trials.mode} is contaminated: it gives no retrieval tool, yet "
                f"{spec.tool} counted {uses:g} queries and expands while its agents ran.",
            )


def find_contradictions(mode_trials: ModeTrials) -> Iterator[Caveat]:
    for sentence, share_text in count_contradictions(mode_trials).items():
        yield Caveat(
            qualification="the witnesses contradict each other",
            warning=f"{mode_trials.mode}: the witnesses contradict each other{share_text}. "
            f"{sentence}",
        )


def find_not_exercised(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find counters that stood still, where neither labels nor contradictions say it."""
    selection, mode = mode_trials.selection, mode_trials.mode
    if not selection.has_tool(mode):
        return
    parts = [part for part in selection.list_slices(mode) if part.trials]
    for probe, spec in _list_probes(mode_trials):
        unused_parts = [part for part in parts if count_uses(part.swarms, probe, spec) == 0]
        unused_parts = [part for part in unused_parts if not _has_other_evidence(part)]
        if unused_parts:
            shows = sum(
                trial.retrieval is Treatment.USED for part in unused_parts for trial in part.trials
            )
            share_text = (
                "its run" if len(parts) == 1 else f"{len(unused_parts)} of {len(parts)} runs"
            )
            yield Caveat(
                qualification=f"{spec.tool} counted no query and no expand in {share_text}",
                warning=f"{mode}: retrieval was not exercised. {spec.tool.capitalize()} counted "
                f"no query and no expand in {share_text}"
                + (f", although {shows} transcripts show calls of the tool" if shows else "")
                + "; the figures are not those of agents that used it.",
            )


def _list_probes(mode_trials: ModeTrials) -> list[tuple[str, Counters]]:
    """Select the probes of the mode, and what they count."""
    probe_names = mode_trials.selection.find_probes(mode_trials.mode)
    return [
        (name, spec)
        for name, spec in collect_counters(mode_trials.selection).items()
        if name in probe_names
    ]


def _has_other_evidence(part: Slice) -> bool:
    contradicting = any(swarm.counters == "contradict" for swarm in part.swarms)
    return contradicting or all(trial.retrieval in LABELS for trial in part.trials)


def find_unusable_tools(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find tools that the agent could not use, in trials that did not use the mode. One that used
    it has what it needs of it."""
    trials = [
        trial
        for trial in mode_trials.counted_trials
        if trial.unusable_tools and trial.retrieval is not Treatment.USED
    ]
    names = sorted({name for trial in trials for name in trial.unusable_tools or ()})
    if names:
        agents = sorted({trial.program for trial in trials if trial.program})
        tools = f"had no way to use {quantify(len(names), 'tool')}"
        yield Caveat(
            qualification=f"the agent {tools} ({list_few(names)})",
            warning=f"{mode_trials.mode}: {', '.join(agents) or 'the agent'} {tools}: "
            f"{list_few(names)}.",
        )


def find_shortened_names(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find names that are not kept as the agents gave them; no honest one has so many, or such long
    ones."""
    cut = sum(trial.names_cut or 0 for trial in mode_trials.all)
    if cut:
        trials = quantify(sum(bool(trial.names_cut) for trial in mode_trials.all), "trial")
        clause = (
            f"{quantify(cut, 'name')} of tools and servers in {trials} were shortened or left out"
        )
        yield make_caveat(mode_trials.mode, clause, ": look at what the agents' streams say.")


def find_broken_tools(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find tools that never work: they make a mode dearer for no reason of its own, a built-in one
    too."""
    calls = _add_up(trial.tool_calls for trial in mode_trials.all)
    failures = _add_up(trial.tool_failures for trial in mode_trials.all)
    for tool, number in failures.items():
        if (
            number == calls[tool]
            and number >= _TELLING_CALLS
            and not _has_only_failures(mode_trials)
        ):
            yield Caveat(
                qualification=f"every call of {tool} failed",
                warning=f"{mode_trials.mode}: every call of the tool {tool} failed ({number} of "
                f"{number}); see the agents' streams for the reason, since it may cost this mode "
                "turns.",
            )


def _has_only_failures(mode_trials: ModeTrials) -> bool:
    """Tell whether no call of its tools was answered, which the labels of its trials say."""
    return mode_trials.is_unused and 0 < mode_trials.calls == mode_trials.failed_calls


def _add_up(counts: Iterable[Mapping[str, int] | None]) -> Counter[str]:
    totals = Counter[str]()
    for figures in counts:
        for tool, number in (figures or {}).items():
            totals[tool] += number
    return totals


def find_failing_calls(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Count the calls of the mode's tools that failed, or were never answered."""
    if not mode_trials.selection.has_tool(mode_trials.mode):
        return
    calls = quantify(mode_trials.calls, "call")
    if mode_trials.failed_calls and not _has_only_failures(mode_trials):
        yield Caveat(qualification=f"{mode_trials.failed_calls} of {calls} of its tools failed")
    if mode_trials.unanswered_calls:
        verb = "was" if mode_trials.unanswered_calls == 1 else "were"
        yield Caveat(
            qualification=f"{mode_trials.unanswered_calls} of {calls} of its tools {verb} never "
            f"answered"
        )


def find_slow_servers(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find servers that took long to answer before the session."""
    lines = (
        mode_trials.selection.data.overhead
        if mode_trials.selection.has_tool(mode_trials.mode)
        else ()
    )
    seconds_by_mode = {line.mode: line.server_seconds for line in lines}
    for server, seconds in seconds_by_mode.get(mode_trials.mode, {}).items():
        if seconds > _SLOW_SECONDS:
            yield Caveat(
                qualification=f"the server {server} took {seconds:.1f} s to answer before the "
                "session, and its agents wait for it too"
            )


def find_shared_counters(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Say that counters of a service that others may ask have no upper bound."""
    if mode_trials.selection.data.experiment.service_url is None:
        return
    shared_probes = [(probe, spec) for probe, spec in _list_probes(mode_trials) if spec.shared]
    if any(count_uses(mode_trials.swarms, probe, spec) for probe, spec in shared_probes):
        clause = "others may have asked its service (--service-url)"
        yield Caveat(
            qualification=f"{clause}, so its counters do not say whose calls they are",
            warning=f"{mode_trials.mode}: {clause} while its agents ran, so the service's "
            f"counters do not say whose calls they are; without --service-url each swarm has a "
            f"service of its own.",
        )


def find_double_counts(mode_trials: ModeTrials) -> Iterator[Caveat]:
    rerun_count = sum(map(mode_trials.selection.count_reruns, mode_trials.swarms))
    if rerun_count and _list_probes(mode_trials):
        clause = f"the tool's counters also have what {quantify(rerun_count, 'trial')} did before"
        yield make_caveat(mode_trials.mode, clause, " being cut off and run again.")


def find_missing_counters(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find counters that were not read, or not compared with the transcripts."""
    selection, mode = mode_trials.selection, mode_trials.mode
    if not selection.has_tool(mode):
        return
    swarms = [swarm for swarm in mode_trials.swarms if not swarm.failure]
    silent = {swarm.swarm for swarm in list_uncompared(mode_trials)}
    for probe, spec in _list_probes(mode_trials):
        missing = [swarm for swarm in swarms if is_lost(swarm, probe, spec)]
        silent -= {swarm.swarm for swarm in missing}
        if missing:
            yield _make_counter_caveat(
                mode_trials,
                len(missing),
                f"the counters of {spec.tool} were not compared with the transcripts",
                f"there are no usable counters of {spec.tool}",
            )
    if silent:
        clause = "the tool's counters were not compared with the transcripts"
        yield _make_counter_caveat(mode_trials, len(silent), clause, clause)


def _make_counter_caveat(mode_trials: ModeTrials, count: int, short: str, long: str) -> Caveat:
    swarms = [swarm for swarm in mode_trials.swarms if not swarm.failure]
    share_text = f" in {count} of {quantify(len(swarms), 'swarm')}"
    return Caveat(
        qualification=short + (share_text if len(swarms) > 1 else ""),
        warning=f"{mode_trials.mode}: {long}{share_text}.",
    )
