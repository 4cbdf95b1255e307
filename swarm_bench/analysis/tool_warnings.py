"""What went wrong with the retrieval tools, each thing once."""

from collections.abc import Iterable, Iterator

from swarm_bench.analysis.contradictions import contradictions, lost, uncompared
from swarm_bench.analysis.exercise import COUNTERS, TOOLS, counted
from swarm_bench.analysis.selection import Selection, Slice
from swarm_bench.analysis.treated import Treated
from swarm_bench.analysis.wording import amount, listed, places
from swarm_bench.core.records import Treatment, TrialRecord

_LABELS = {
    Treatment.NOT_CONNECTED: "were not connected to the retrieval tool: they ran without it, with "
    "whatever else their mode gives",
    Treatment.UNUSED: "never used the retrieval tool they had",
}


def contaminated(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        treated = Treated(selection, mode)
        trials = treated.all
        touched = [trial for trial in trials if trial.retrieval is Treatment.CONTAMINATED]
        if touched:
            yield (
                f"{mode} is contaminated: {len(touched)} of {len(trials)} trials had a tool that "
                f"the mode does not give {places(touched, selection)}{_foreign(touched)}; they are "
                "left out of the comparison."
            )
        elif not selection.has_tool(mode):
            yield from _counted_without_tool(treated)


def _foreign(trials: Iterable[TrialRecord]) -> str:
    """The names that the agents showed."""
    found = {name for trial in trials if trial.evidence for name in trial.evidence.foreign}
    return f": {listed(sorted(found))}" if found else ""


def _counted_without_tool(treated: Treated) -> Iterator[str]:
    """In a session whose counters were not compared with the transcripts."""
    swarms = tuple(swarm for swarm in treated.swarms if swarm.counters is None)
    for probe in COUNTERS:
        uses = counted(swarms, probe)
        if uses:
            yield (
                f"{treated.mode} is contaminated: it gives no retrieval tool, yet {TOOLS[probe]} "
                f"counted {uses:g} queries and expands while its agents ran."
            )


def contradicted(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        for sentence, where in contradictions(Treated(selection, mode)).items():
            yield f"{mode}: the witnesses contradict each other{where}. {sentence}"


def not_exercised(selection: Selection) -> Iterator[str]:
    """Counters that stood still, where neither labels nor contradictions say so."""
    for mode in filter(selection.has_tool, selection.modes):
        parts = [part for part in selection.slices(mode) if part.trials]
        for probe in filter(selection.probes(mode).__contains__, COUNTERS):
            idle = [part for part in parts if counted(part.swarms, probe) == 0]
            idle = [part for part in idle if not _said_otherwise(part)]
            if idle:
                shows = sum(
                    trial.retrieval is Treatment.USED for part in idle for trial in part.trials
                )
                yield (
                    f"{mode}: retrieval was not exercised. {TOOLS[probe].capitalize()} counted no "
                    f"query and no expand in {_runs(len(idle), len(parts))}"
                    + (f", although {shows} transcripts show calls of the tool" if shows else "")
                    + "; the figures are not those of agents that used it."
                )


def _said_otherwise(part: Slice) -> bool:
    contradicting = any(swarm.counters == "contradict" for swarm in part.swarms)
    return contradicting or all(trial.retrieval in _LABELS for trial in part.trials)


def labels(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        # A trial that the provider or the harness cut off had no chance to call anything.
        treated = Treated(selection, mode)
        for label, meaning in _LABELS.items():
            so = treated.labelled(label)
            if so:
                yield (
                    f"{mode}: {len(so)} of {amount(len(treated.measured), 'trial')} {meaning} "
                    f"{places(so, selection)}{_states(so)}. "
                    "They stay in the figures, which are as assigned."
                )


def unusable(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        trials = [trial for trial in selection.of(mode) if trial.unusable_tools]
        names = sorted({name for trial in trials for name in trial.unusable_tools or ()})
        if names:
            agents = sorted({trial.program for trial in trials if trial.program})
            yield (
                f"{mode}: {', '.join(agents) or 'the agent'} had no way to use "
                f"{amount(len(names), 'tool')}: {listed(names)}."
            )


def unheard(selection: Selection) -> Iterator[str]:
    """Counters that were not read, or not compared with the transcripts."""
    for mode in filter(selection.has_tool, selection.modes):
        treated = Treated(selection, mode)
        swarms = [swarm for swarm in treated.swarms if not swarm.failure]
        said = set[str]()
        for probe in filter(selection.probes(mode).__contains__, COUNTERS):
            missing = [swarm for swarm in swarms if lost(swarm, probe)]
            said.update(swarm.swarm for swarm in missing)
            if missing:
                yield (
                    f"{mode}: there are no usable counters of {TOOLS[probe]} in {len(missing)} of "
                    f"{amount(len(swarms), 'swarm')}."
                )
        silent = [swarm for swarm in uncompared(treated) if swarm.swarm not in said]
        if silent:
            yield (
                f"{mode}: the tool's counters were not compared with the transcripts in "
                f"{len(silent)} of {amount(len(swarms), 'swarm')}."
            )


def _states(trials: Iterable[TrialRecord]) -> str:
    """What the agents said of servers that were not connected."""
    said = {
        f"{name} is {state}"
        for trial in trials
        for name, state in (trial.mcp_servers or {}).items()
        if state != "connected"
    }
    return f": {', '.join(sorted(said))}" if said else ""


def _runs(some: int, all_: int) -> str:
    return "its run" if all_ == 1 else f"{some} of {all_} runs"
