"""What went wrong with the retrieval tools, each thing once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from swarm_bench.analysis.adherence.contradictions import contradictions, lost, uncompared
from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.adherence.uses import counted, counters
from swarm_bench.analysis.caveats.usage import LABELS
from swarm_bench.analysis.slices import Slice
from swarm_bench.analysis.wording import amount, listed, places
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.core.treatment.counters import Counters

_TELLING_CALLS = 3
_SLOW_SECONDS = 5


def contaminated(treated: Treated) -> Iterator[Caveat]:
    trials, mode = treated.all, treated.mode
    touched = [trial for trial in trials if trial.retrieval is Treatment.CONTAMINATED]
    informed = [trial for trial in touched if reached_answers(trial)]
    exposed = [trial for trial in touched if not reached_answers(trial)]
    for some, did, names in (
        (exposed, "had a tool that the mode does not give", _foreign(exposed)),
        (informed, "reached what may tell the answer", _reached(informed)),
    ):
        if some:
            yield Caveat(
                qualification=f"{len(some)} of {amount(len(trials), 'trial')} contaminated, and "
                "left out of the ratios",
                warning=f"{mode} is contaminated: {len(some)} of {len(trials)} trials "
                f"{did} {places(some, treated.selection)}{names}; they are left out of the "
                "comparison.",
            )
    if not touched and not treated.selection.has_tool(mode):
        yield from _counted_without_tool(treated)


def reached_answers(trial: TrialRecord) -> bool:
    """Tell whether its agent may have read the answer."""
    return trial.evidence is not None and bool(trial.evidence.answers)


def _reached(trials: Iterable[TrialRecord]) -> str:
    sentences = {text for trial in trials if trial.evidence for text in trial.evidence.answers}
    return f": {' '.join(sorted(sentences)).removesuffix('.')}" if sentences else ""


def _foreign(trials: Iterable[TrialRecord]) -> str:
    """List the names that the agents showed."""
    names = {name for trial in trials if trial.evidence for name in trial.evidence.foreign}
    return f": {listed(sorted(names))}" if names else ""


def _counted_without_tool(treated: Treated) -> Iterator[Caveat]:
    """Find counters that moved in a session where they were not compared with the transcripts."""
    swarms = tuple(swarm for swarm in treated.swarms if swarm.counters is None)
    for probe, about in counters(treated.selection).items():
        uses = counted(swarms, probe, about)
        if uses:
            yield Caveat(
                qualification=f"{about.tool} counted calls, and the mode gives no tool",
                warning=f"{treated.mode} is contaminated: it gives no retrieval tool, yet "
                f"{about.tool} counted {uses:g} queries and expands while its agents ran.",
            )


def contradicted(treated: Treated) -> Iterator[Caveat]:
    for sentence, where in contradictions(treated).items():
        yield Caveat(
            qualification="the witnesses contradict each other",
            warning=f"{treated.mode}: the witnesses contradict each other{where}. {sentence}",
        )


def not_exercised(treated: Treated) -> Iterator[Caveat]:
    """Find counters that stood still, where neither labels nor contradictions say it."""
    selection, mode = treated.selection, treated.mode
    if not selection.has_tool(mode):
        return
    parts = [part for part in selection.slices(mode) if part.trials]
    for probe, about in _asked(treated):
        idle = [part for part in parts if counted(part.swarms, probe, about) == 0]
        idle = [part for part in idle if not _has_other_evidence(part)]
        if idle:
            shows = sum(trial.retrieval is Treatment.USED for part in idle for trial in part.trials)
            where = _runs(len(idle), len(parts))
            yield Caveat(
                qualification=f"{about.tool} counted no query and no expand in {where}",
                warning=f"{mode}: retrieval was not exercised. {about.tool.capitalize()} counted "
                f"no query and no expand in {where}"
                + (f", although {shows} transcripts show calls of the tool" if shows else "")
                + "; the figures are not those of agents that used it.",
            )


def _asked(treated: Treated) -> list[tuple[str, Counters]]:
    """Select the probes of the mode, and what they count."""
    asked = treated.selection.probes(treated.mode)
    return [(name, of) for name, of in counters(treated.selection).items() if name in asked]


def _has_other_evidence(part: Slice) -> bool:
    contradicting = any(swarm.counters == "contradict" for swarm in part.swarms)
    return contradicting or all(trial.retrieval in LABELS for trial in part.trials)


def unusable(treated: Treated) -> Iterator[Caveat]:
    """Find tools that the agent could not use, in trials that did not use the mode. One that used
    it has what it needs of it."""
    trials = [
        trial
        for trial in treated.counted
        if trial.unusable_tools and trial.retrieval is not Treatment.USED
    ]
    names = sorted({name for trial in trials for name in trial.unusable_tools or ()})
    if names:
        agents = sorted({trial.program for trial in trials if trial.program})
        tools = f"had no way to use {amount(len(names), 'tool')}"
        yield Caveat(
            qualification=f"the agent {tools} ({listed(names)})",
            warning=f"{treated.mode}: {', '.join(agents) or 'the agent'} {tools}: {listed(names)}.",
        )


def nameless(treated: Treated) -> Iterator[Caveat]:
    """Find names that are not kept as the agents gave them; no honest one has so many, or such long
    ones."""
    cut = sum(trial.names_cut or 0 for trial in treated.all)
    if cut:
        trials = amount(sum(bool(trial.names_cut) for trial in treated.all), "trial")
        about = f"{amount(cut, 'name')} of tools and servers in {trials} were shortened or left out"
        yield Caveat(
            qualification=about,
            warning=f"{treated.mode}: {about}: look at what the agents' streams say.",
        )


def broken(treated: Treated) -> Iterator[Caveat]:
    """Find tools that never work: they make a mode dearer for no reason of its own, a built-in one
    too."""
    calls = _added_up(trial.tool_calls for trial in treated.all)
    failures = _added_up(trial.tool_failures for trial in treated.all)
    for tool, number in failures.items():
        if number == calls[tool] and number >= _TELLING_CALLS and not _all_failed(treated):
            yield Caveat(
                qualification=f"every call of {tool} failed",
                warning=f"{treated.mode}: every call of the tool {tool} failed ({number} of "
                f"{number}); see the agents' streams for the reason, since it may cost this mode "
                "turns.",
            )


def _all_failed(treated: Treated) -> bool:
    """Tell whether no call of its tools was answered, which the labels of its trials say."""
    return treated.idle and 0 < treated.calls == treated.failed


def _added_up(each: Iterable[Mapping[str, int] | None]) -> Counter[str]:
    totals = Counter[str]()
    for figures in each:
        for tool, number in (figures or {}).items():
            totals[tool] += number
    return totals


def failing(treated: Treated) -> Iterator[Caveat]:
    """Count the calls of the mode's tools that failed, or were never answered."""
    if not treated.selection.has_tool(treated.mode):
        return
    calls = amount(treated.calls, "call")
    if treated.failed and not _all_failed(treated):
        yield Caveat(qualification=f"{treated.failed} of {calls} of its tools failed")
    if treated.unanswered:
        verb = "was" if treated.unanswered == 1 else "were"
        yield Caveat(
            qualification=f"{treated.unanswered} of {calls} of its tools {verb} never answered"
        )


def slow(treated: Treated) -> Iterator[Caveat]:
    """Find servers that took long to answer before the session."""
    lines = treated.selection.data.overhead if treated.selection.has_tool(treated.mode) else ()
    measured = {line.mode: line.server_seconds for line in lines}
    for server, seconds in measured.get(treated.mode, {}).items():
        if seconds > _SLOW_SECONDS:
            yield Caveat(
                qualification=f"the server {server} took {seconds:.1f} s to answer before the "
                "session, and its agents wait for it too"
            )


def shared(treated: Treated) -> Iterator[Caveat]:
    """Say that counters of a service that others may ask have no upper bound."""
    if treated.selection.data.experiment.service_url is None:
        return
    shared = [(probe, about) for probe, about in _asked(treated) if about.shared]
    if any(counted(treated.swarms, probe, about) for probe, about in shared):
        what = "others may have asked its service (--service-url)"
        yield Caveat(
            qualification=f"{what}, so its counters do not say whose calls they are",
            warning=f"{treated.mode}: {what} while its agents ran, so the service's counters do "
            "not say whose calls they are; without --service-url each swarm has a service of its "
            "own.",
        )


def counted_twice(treated: Treated) -> Iterator[Caveat]:
    again = sum(map(treated.selection.rerun_of, treated.swarms))
    if again and _asked(treated):
        what = f"the tool's counters also have what {amount(again, 'trial')} did before"
        yield Caveat(
            qualification=what,
            warning=f"{treated.mode}: {what} being cut off and run again.",
        )


def unheard(treated: Treated) -> Iterator[Caveat]:
    """Find counters that were not read, or not compared with the transcripts."""
    selection, mode = treated.selection, treated.mode
    if not selection.has_tool(mode):
        return
    swarms = [swarm for swarm in treated.swarms if not swarm.failure]
    silent = {swarm.swarm for swarm in uncompared(treated)}
    for probe, about in _asked(treated):
        missing = [swarm for swarm in swarms if lost(swarm, probe, about)]
        silent -= {swarm.swarm for swarm in missing}
        if missing:
            yield _unheard(
                treated,
                len(missing),
                f"the counters of {about.tool} were not compared with the transcripts",
                f"there are no usable counters of {about.tool}",
            )
    if silent:
        what = "the tool's counters were not compared with the transcripts"
        yield _unheard(treated, len(silent), what, what)


def _unheard(treated: Treated, some: int, short: str, long: str) -> Caveat:
    swarms = [swarm for swarm in treated.swarms if not swarm.failure]
    where = f" in {some} of {amount(len(swarms), 'swarm')}"
    return Caveat(
        qualification=short + (where if len(swarms) > 1 else ""),
        warning=f"{treated.mode}: {long}{where}.",
    )


def _runs(some: int, all_: int) -> str:
    return "its run" if all_ == 1 else f"{some} of {all_} runs"
