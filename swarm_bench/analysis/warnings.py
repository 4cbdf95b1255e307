"""What went wrong, in plain sentences, the gravest first. Each names the mode and the numbers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from swarm_bench.analysis.exercise import COUNTERS, counted
from swarm_bench.analysis.selection import Selection, is_ours
from swarm_bench.core.records import Treatment, TrialRecord
from swarm_bench.core.status import CONSEQUENCES, Cause, Status

_EFFECT = {
    Status.AGENT_FAILED: "they count as unsuccessful; what they did not report is missing, not 0",
    Status.BUDGET_REACHED: "they count as unsuccessful",
    Status.PROVIDER_LIMITED: "they are left out of every figure; --continue runs them again",
    Status.HARNESS_FAILED: "they are left out of every figure; --continue runs them again",
    Status.CANCELLED: "they are left out of every figure; --continue runs them again",
}
_SHOWN_TRIALS = 6
_TELLING_CALLS = 3
_TOOLS = {"service": "the service", "feedback": "the feedback database"}


def warnings(selection: Selection) -> tuple[str, ...]:
    return (
        *_nothing(selection),
        *_contaminated(selection),
        *_unasked(selection),
        *_not_exercised(selection),
        *_swarm_failures(selection),
        *_causes(selection),
        *_not_run(selection),
        *_labels(selection),
        *_broken_tools(selection),
        *_lost_counters(selection),
        *_counted_twice(selection),
        *_mixed(selection),
        *_unknown_prices(selection),
        *selection.data.warnings,
    )


def _nothing(selection: Selection) -> Iterator[str]:
    if not selection.trials:
        yield "There is no record of any trial."
    elif all(is_ours(trial) for trial in selection.trials):
        yield "Nothing could be measured: no trial came to an end of its own."


def _contaminated(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        trials = selection.of(mode)
        touched = [trial for trial in trials if trial.retrieval is Treatment.CONTAMINATED]
        if touched:
            yield (
                f"{mode} is contaminated: {len(touched)} of {len(trials)} trials had a tool that "
                f"the mode does not give{_where(touched, selection)}; they are left out of the "
                "comparison."
            )
        if not selection.has_tool(mode):
            yield from _counted_without_tool(selection, mode)


def _counted_without_tool(selection: Selection, mode: str) -> Iterator[str]:
    for probe in COUNTERS:
        uses = counted(selection.swarms_of(mode), probe)
        if uses:
            yield (
                f"{mode} is contaminated: it gives no retrieval tool, yet {_TOOLS[probe]} counted "
                f"{uses:g} queries and expands while its agents ran."
            )


def _not_exercised(selection: Selection) -> Iterator[str]:
    for mode in filter(selection.has_tool, selection.modes):
        parts = [part for part in selection.slices(mode) if part.trials]
        for probe in filter(selection.probes(mode).__contains__, COUNTERS):
            idle = [part for part in parts if counted(part.swarms, probe) == 0]
            if idle:
                shows = sum(
                    trial.retrieval is Treatment.USED for part in idle for trial in part.trials
                )
                yield (
                    f"{mode}: retrieval was not exercised. {_TOOLS[probe].capitalize()} counted no "
                    f"query and no expand in {_runs(len(idle), len(parts))}"
                    + (f", although {shows} transcripts show calls of the tool" if shows else "")
                    + "; the figures are not those of agents that used it."
                )


def _swarm_failures(selection: Selection) -> Iterator[str]:
    """Those that no trial tells of, and that no later attempt made good."""
    for swarm in selection.swarms:
        trials = [
            trial
            for trial in selection.of(swarm.mode)
            if trial.run == swarm.run and trial.agent in swarm.agents
        ]
        good = len(trials) == len(swarm.agents) and not any(map(is_ours, trials))
        if good or swarm.failure in {trial.detail for trial in trials}:
            continue
        if swarm.failure:
            yield f"{swarm.mode}, run {swarm.run}: {swarm.failure}"
        elif swarm.service_healthy is False:
            yield f"{swarm.mode}, run {swarm.run}: its service died while the agents ran."


def _causes(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        trials = selection.of(mode)
        by_cause: dict[Cause, list[TrialRecord]] = defaultdict(list)
        for trial in trials:
            if trial.cause and trial.cause is not Cause.FINISHED:
                by_cause[trial.cause].append(trial)
        for cause, ended in by_cause.items():
            consequence = CONSEQUENCES[cause]
            detail = next((trial.detail for trial in ended if trial.detail), None)
            yield (
                f"{mode}: {len(ended)} of {_trials(len(trials))} {consequence.meaning}"
                f"{_where(ended, selection)}; {_EFFECT[consequence.status]}."
                + (f" The first says: {detail}" if detail else "")
            )


def _not_run(selection: Selection) -> Iterator[str]:
    how = "; --continue runs them" if selection.data.experiment else ""
    for mode, planned in selection.data.planned.items():
        there = len(selection.of(mode))
        if there < planned:
            yield f"{mode}: {planned - there} of {_trials(planned)} planned have no record{how}."


def _labels(selection: Selection) -> Iterator[str]:
    meanings = {
        Treatment.NOT_CONNECTED: "were not connected to the retrieval tool: they ran as a "
        "baseline with other instructions",
        Treatment.UNUSED: "never called the retrieval tool they had",
    }
    for mode in selection.modes:
        # A trial that the provider or the harness cut off had no chance to call anything.
        trials = [trial for trial in selection.of(mode) if not is_ours(trial)]
        for label, meaning in meanings.items():
            so = [trial for trial in trials if trial.retrieval is label]
            if so:
                yield (
                    f"{mode}: {len(so)} of {_trials(len(trials))} {meaning}"
                    f"{_where(so, selection)}{_states(so)}. "
                    "They stay in the figures, which are as assigned."
                )


def _broken_tools(selection: Selection) -> Iterator[str]:
    """A built-in tool that never works makes a mode dearer for no reason of its own."""
    for mode in selection.modes:
        calls, failures = Counter[str](), Counter[str]()
        for trial in selection.of(mode):
            calls.update(trial.tool_calls or {})
            failures.update(trial.tool_failures or {})
        for tool, number in failures.items():
            if number == calls[tool] and number >= _TELLING_CALLS:
                yield (
                    f"{mode}: every call of the tool {tool} failed ({number} of {number}); see the "
                    "agents' streams for the reason, since it may cost this mode turns."
                )


def _unasked(selection: Selection) -> Iterator[str]:
    """Who answered, if not the rehearsal server?"""
    for mode in selection.modes:
        so = [
            trial
            for trial in selection.of(mode)
            if trial.rehearsal and trial.cause is Cause.FINISHED and not trial.rehearsal_requests
        ]
        if so:
            yield (
                f"{mode}: {len(so)} of {_trials(len(selection.of(mode)))} gave an answer without "
                f"asking the rehearsal server{_where(so, selection)}: look whether they asked a "
                "provider, who may have billed it."
            )


def _lost_counters(selection: Selection) -> Iterator[str]:
    for mode in filter(selection.has_tool, selection.modes):
        swarms = [swarm for swarm in selection.swarms_of(mode) if not swarm.failure]
        for probe in filter(selection.probes(mode).__contains__, COUNTERS):
            lost = sum(counted((swarm,), probe) is None for swarm in swarms)
            if lost:
                yield (
                    f"{mode}: there are no counters of {_TOOLS[probe]} in {lost} of {len(swarms)} "
                    f"{'swarm' if len(swarms) == 1 else 'swarms'}."
                )


def _counted_twice(selection: Selection) -> Iterator[str]:
    for mode in selection.modes:
        again = sum(selection.rerun_of(swarm) for swarm in selection.swarms_of(mode))
        if again:
            yield (
                f"{mode}: the tool's counters also have what {_trials(again)} did before being cut "
                "off and run again."
            )


def _mixed(selection: Selection) -> Iterator[str]:
    """Figures of different makers do not compare."""
    for what, key in (
        ("models", "model"),
        ("versions of the agent", "program_version"),
        ("token counters", "token_counter"),
    ):
        found = Counter(getattr(trial, key) for trial in selection.trials)
        found.pop(None, None)
        if len(found) > 1:
            listed = ", ".join(f"{name} ({number} trials)" for name, number in found.items())
            yield f"The trials differ in their {what}: {listed}."


def _unknown_prices(selection: Selection) -> Iterator[str]:
    so = [trial for trial in selection.trials if trial.cost_unreliable]
    if so:
        models = ", ".join(sorted({trial.model or "unknown" for trial in so}))
        yield (
            f"The cost of {_trials(len(so))} is unreliable: the agent's program has no price of "
            f"the model ({models}) and took that of another."
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


def _where(trials: Iterable[TrialRecord], selection: Selection) -> str:
    several = selection.runs > 1
    places = [f"{trial.run}/{trial.agent}" if several else str(trial.agent) for trial in trials]
    shown = ", ".join(places[:_SHOWN_TRIALS]) + (", ..." if len(places) > _SHOWN_TRIALS else "")
    return f" ({'run/agent' if several else 'agent'} {shown})"


def _trials(number: int) -> str:
    return f"{number} trial" if number == 1 else f"{number} trials"


def _runs(some: int, all_: int) -> str:
    return "its run" if all_ == 1 else f"{some} of {all_} runs"
