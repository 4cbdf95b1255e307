"""Calls of the tools, whether the retrieval tool was used at all by its own counters, and where the
witnesses do not say the same."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from statistics import median
from typing import NamedTuple

from swarm_bench.analysis.aggregates import read_finite
from swarm_bench.analysis.caching import once
from swarm_bench.analysis.mode_trials import ModeTrials
from swarm_bench.analysis.sections.overhead import Figures, make_sheet
from swarm_bench.analysis.selection import Selection, Slice
from swarm_bench.core.figures import total
from swarm_bench.core.report.report import Figure, Sheet
from swarm_bench.core.session.records import SwarmRecord, Treatment
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.core.treatment.tool_answers import ToolAnswers
from swarm_bench.retrieval.probes.registered import SHIPPED, find_counters
from swarm_bench.retrieval.witnesses.agreement import explain_unread
from swarm_bench.retrieval.witnesses.treatment import MCP_PREFIX, is_of_server


def count_contradictions(mode_trials: ModeTrials) -> dict[str, str]:
    """Count the contradictions by sentence. A difference that a known rule explains is none."""
    swarms = Counter(
        sentence
        for swarm in mode_trials.swarms
        if swarm.counters == "contradict"
        for sentence in swarm.counters_why
    )
    trials = Counter(
        sentence
        for trial in mode_trials.measured_trials
        if trial.evidence and trial.evidence.start == "contradict"
        for sentence in trial.evidence.why
        if sentence not in swarms
    )
    return {
        **{
            sentence: _describe_share(times, len(mode_trials.swarms), "swarms")
            for sentence, times in swarms.items()
        },
        **{
            sentence: _describe_share(times, len(mode_trials.measured_trials), "trials")
            for sentence, times in trials.items()
        },
    }


def _describe_share(count: int, all_: int, noun: str) -> str:
    """Say in how many of them, unless there is only one."""
    return f" in {count} of {all_} {noun}" if all_ > 1 else ""


def list_uncompared(mode_trials: ModeTrials) -> tuple[SwarmRecord, ...]:
    """List the swarms whose counters should have been held against the transcripts and were not.
    What canopy's script wrote has no transcripts."""
    selection = mode_trials.selection
    if not selection.find_probes(mode_trials.mode) or selection.data.experiment.origin:
        return ()
    return tuple(s for s in mode_trials.swarms if s.counters is None and not s.failure)


def is_lost(swarm: SwarmRecord, probe: str, counter_spec: Counters) -> bool:
    """Tell whether the probe's counters are missing, or went down. A tool that was never asked has
    no database."""
    if swarm.counters is None:
        return count_uses((swarm,), probe, counter_spec) is None
    return explain_unread(swarm, probe, counter_spec) is not None


@once
def collect_counters(selection: Selection) -> dict[str, Counters]:
    """Return what each probe of the session counts, the most telling one first: a missing file may
    be that of a tool that was never asked."""
    experiment = selection.data.experiment
    of_modes = (name for mode in experiment.modes for name in mode.probes)
    names = {*SHIPPED, *of_modes, *experiment.counters}
    by_name = {name: find_counters(experiment, name) for name in sorted(names)}
    entries = [(name, spec) for name, spec in by_name.items() if spec is not None]
    return dict(sorted(entries, key=lambda item: item[1].file is not None))


def is_exercised(selection: Selection) -> bool | None:
    """Tell whether each mode with a tool used it in each of its runs; `None` when no mode has a
    tool, or for one of them nothing can tell."""
    verdicts = [
        is_exercised_in(part, _select_probes(selection, mode))
        for mode in selection.modes
        if selection.has_tool(mode) and not selection.is_placebo(mode)
        for part in selection.list_slices(mode)
        if part.trials
    ]
    if False in verdicts:
        return False
    return None if not verdicts or None in verdicts else True


def _select_probes(selection: Selection, mode: str) -> dict[str, Counters]:
    """Select the probes of the mode whose counts are of its own agents."""
    external = bool(selection.data.experiment.service_url)
    probe_names = selection.find_probes(mode)
    return {
        name: spec
        for name, spec in collect_counters(selection).items()
        if name in probe_names and not (external and spec.shared)
    }


def is_exercised_in(part: Slice, probes: Mapping[str, Counters]) -> bool | None:
    for probe, spec in probes.items():
        uses = count_uses(part.swarms, probe, spec)
        if uses is not None:
            return uses > 0
    labels = {trial.retrieval for trial in part.trials}
    if Treatment.USED in labels:
        return True
    return None if labels & {None, Treatment.UNKNOWN} else False


def count_uses(swarms: tuple[SwarmRecord, ...], probe: str, spec: Counters) -> float | None:
    """Sum the uses that the probe counted in these swarms; `None` when none of them has the
    counter. Counters that went down started again in between, and tell nothing."""
    values_by_swarm = [
        [
            value
            for key in spec.telling
            if (value := read_finite((swarm.difference.get(probe) or {}).get(key))) is not None
        ]
        for swarm in swarms
    ]
    return total(sum(values) for values in values_by_swarm if values and min(values) >= 0)


BUILT_IN = "built-in tools"
_KEYS = ("calls", "failed", "empty", "error_texts", "seconds_per_call", "seconds", "tokens")
_DESCRIPTION = (
    "Calls that the transcripts show, in the trials that count. The agent's own tools stand in "
    "one line, with their times added up."
)

Names = frozenset[str]


class _TrialTools(NamedTuple):
    """What a trial's transcript shows of its tools, by their names."""

    calls: Mapping[str, int] | None
    failures: Mapping[str, int] | None
    seconds: Mapping[str, float] | None
    tokens: Mapping[str, int] | None
    answers: Mapping[str, ToolAnswers] | None


_READ_TOOLS = attrgetter(
    *("tool_calls", "tool_failures", "tool_seconds", "tool_result_tokens", "tool_answers")
)


def make_tools_sheet(selection: Selection) -> Sheet | None:
    """Count the calls by mode and tool; `None` when no transcript shows a call."""
    lines = [
        ((mode, label), _make_figures(trials, names))
        for mode in selection.modes
        for trials in [
            [_TrialTools(*_READ_TOOLS(trial)) for trial in selection.get_arm(mode).counted_trials]
        ]
        for label, names in _list_rows(trials, selection.list_servers(mode))
    ]
    if not lines:
        return None
    return replace(
        make_sheet("Tools", ("Mode", "Tool"), selection.metrics.named(_KEYS), lines),
        about=_DESCRIPTION,
    )


def _list_rows(trials: Sequence[_TrialTools], servers: tuple[str, ...]) -> list[tuple[str, Names]]:
    """List each tool of the mode's servers that was called, then the agent's own tools as one."""
    called_tools = {tool for trial in trials for tool in trial.calls or ()}
    of_mode = {tool for tool in called_tools if is_of_server(tool, servers)}
    rows = [(tool, frozenset({tool})) for tool in sorted(of_mode)]
    return [*rows, (BUILT_IN, frozenset(called_tools - of_mode))] if called_tools else []


def _make_figures(trials: Sequence[_TrialTools], names: Names) -> Figures:
    calls, failed, seconds, tokens, empty, errors = zip(
        *(_sum_trial(trial, names) for trial in trials), strict=True
    )
    # The answers of the agent's own tools are not looked at.
    of_server = any(name.startswith(MCP_PREFIX) for name in names)
    return {
        "calls": _reduce_figure(calls, median),
        "failed": _reduce_figure(failed, sum),
        "empty": _reduce_figure(empty, sum) if of_server else None,
        "error_texts": _reduce_figure(errors, sum) if of_server else None,
        "seconds_per_call": _divide_by_calls(seconds, calls),
        "seconds": _reduce_figure(seconds, median),
        "tokens": _reduce_figure(tokens, median),
    }


def _sum_trial(trial: _TrialTools, names: Names) -> tuple[float | None, ...]:
    """Add up calls, failures, seconds, tokens, empty answers and error texts of the tools."""
    # `None` when the transcript shows no calls.
    calls, failures, seconds, tokens, answers = trial
    names_called = None if calls is None else [tool for tool in calls if tool in names]
    answers_received = (
        None if answers is None else [answers[tool] for tool in answers if tool in names]
    )
    return (
        None if calls is None else sum([calls[tool] for tool in names_called or ()]),
        _count_failures(names_called, failures),
        _sum_figures(names_called, seconds),
        _sum_figures(names_called, tokens),
        None if answers_received is None else sum([answer.empty for answer in answers_received]),
        None if answers_received is None else sum([answer.errors for answer in answers_received]),
    )


def _sum_figures(
    names_called: list[str] | None, figures: Mapping[str, float] | None
) -> float | None:
    """Add up the figures of the tools that were called; 0 when none was."""
    if names_called is None or figures is None:
        return None
    return total(map(figures.get, names_called)) if names_called else 0


def _count_failures(
    names_called: list[str] | None, failures: Mapping[str, int] | None
) -> float | None:
    """Count the failures, which only stand where there are any."""
    if names_called is None or failures is None:
        return None
    return sum([failures.get(tool, 0) for tool in names_called])


def _reduce_figure(
    values: Sequence[float | None], reduce: Callable[[list[float]], float]
) -> Figure:
    present = [value for value in values if value is not None]
    return Figure(value=reduce(present) if present else None, missing=len(values) - len(present))


def _divide_by_calls(
    seconds: Sequence[float | None], calls: Sequence[float | None]
) -> Figure | None:
    """Divide over all trials that have both; `None` when they called nothing."""
    pairs = [(s, c) for s, c in zip(seconds, calls, strict=True) if s is not None and c is not None]
    number = sum(count for _, count in pairs)
    missing = len(seconds) - len(pairs)
    if not number:
        return Figure(value=None, missing=missing) if missing else None
    return Figure(value=sum(duration for duration, _ in pairs) / number, missing=missing)
