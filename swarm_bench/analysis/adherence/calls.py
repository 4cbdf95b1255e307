"""Calls of the tools, by mode and tool."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median

from swarm_bench.analysis.sections.sheets import Figures, sheet
from swarm_bench.analysis.selection import Selection, Trials
from swarm_bench.core.report.report import Figure, Sheet
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.totals import total
from swarm_bench.core.treatment.tool_answers import ToolAnswers
from swarm_bench.retrieval.witnesses.treatment import MCP_PREFIX, is_of_server

BUILT_IN = "built-in tools"
_KEYS = ("calls", "failed", "empty", "error_texts", "seconds_per_call", "seconds", "tokens")
_ABOUT = (
    "Calls that the transcripts show, in the trials that count. The agent's own tools stand in "
    "one line, with their times added up."
)

Names = frozenset[str]


def tools(selection: Selection) -> Sheet | None:
    """Count the calls by mode and tool; `None` when no transcript shows a call."""
    lines = [
        ((mode, label), _figures(trials, names))
        for mode in selection.modes
        for trials in [selection.arm(mode).counted]
        for label, names in _rows(trials, selection.servers(mode))
    ]
    if not lines:
        return None
    return replace(
        sheet("Tools", ("Mode", "Tool"), selection.metrics.named(_KEYS), lines), about=_ABOUT
    )


def _rows(trials: Trials, servers: tuple[str, ...]) -> list[tuple[str, Names]]:
    """List each tool of the mode's servers that was called, then the agent's own tools as one."""
    called = {tool for trial in trials for tool in trial.tool_calls or ()}
    of_mode = {tool for tool in called if is_of_server(tool, servers)}
    rows = [(tool, frozenset({tool})) for tool in sorted(of_mode)]
    return [*rows, (BUILT_IN, frozenset(called - of_mode))] if called else []


def _figures(trials: Trials, names: Names) -> Figures:
    called = [_called(trial, names) for trial in trials]
    calls = [_sum(tools, trial.tool_calls) for tools, trial in zip(called, trials, strict=True)]
    seconds = [_sum(tools, trial.tool_seconds) for tools, trial in zip(called, trials, strict=True)]
    failed = [_failed(tools, trial) for tools, trial in zip(called, trials, strict=True)]
    tokens = [
        _sum(tools, trial.tool_result_tokens) for tools, trial in zip(called, trials, strict=True)
    ]
    return {
        "calls": _figure(calls, median),
        "failed": _figure(failed, sum),
        "empty": _of_answers(trials, names, lambda answers: answers.empty),
        "error_texts": _of_answers(trials, names, lambda answers: answers.errors),
        "seconds_per_call": _per_call(seconds, calls),
        "seconds": _figure(seconds, median),
        "tokens": _figure(tokens, median),
    }


def _called(trial: TrialRecord, names: Names) -> list[str] | None:
    """List the tools among the names that the trial called; `None` when the transcript shows no
    calls."""
    if trial.tool_calls is None:
        return None
    return [tool for tool in trial.tool_calls if tool in names]


def _sum(called: list[str] | None, figures: Mapping[str, float] | None) -> float | None:
    """Add up the figures of the tools that were called; 0 when none was."""
    if called is None or figures is None:
        return None
    return total(map(figures.get, called)) if called else 0


def _failed(called: list[str] | None, trial: TrialRecord) -> float | None:
    """Count the failures, which only stand where there are any."""
    if called is None or trial.tool_failures is None:
        return None
    return sum(trial.tool_failures.get(tool, 0) for tool in called)


def _of_answers(
    trials: Trials, names: Names, figure: Callable[[ToolAnswers], int]
) -> Figure | None:
    """Count answers; `None` for the agent's own tools, whose answers are not looked at."""
    if not any(name.startswith(MCP_PREFIX) for name in names):
        return None
    return _figure(
        [
            None
            if trial.tool_answers is None
            else sum(
                figure(answers) for tool, answers in trial.tool_answers.items() if tool in names
            )
            for trial in trials
        ],
        sum,
    )


def _figure(values: list[float | None], reduce: Callable[[list[float]], float]) -> Figure:
    present = [value for value in values if value is not None]
    return Figure(value=reduce(present) if present else None, missing=len(values) - len(present))


def _per_call(seconds: list[float | None], calls: list[float | None]) -> Figure | None:
    """Divide over all trials that have both; `None` when they called nothing."""
    both = [(s, c) for s, c in zip(seconds, calls, strict=True) if s is not None and c is not None]
    number = sum(count for _, count in both)
    missing = len(seconds) - len(both)
    if not number:
        return Figure(value=None, missing=missing) if missing else None
    return Figure(value=sum(spent for spent, _ in both) / number, missing=missing)
