"""What it costs to have a mode's tool at all, and what a rehearsal is for: whether each tool is
connected and called, and what it adds."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from swarm_bench.analysis.comparison.headline_metrics import select_billed
from swarm_bench.analysis.mode_trials import get_mode_trials, is_connected
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.report import Figure, Line, Rehearsed, Sheet
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.core.treatment.overhead import Overhead


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


_T = TypeVar("_T")
Figures = Mapping[str, Figure | None]
"""Figures by the key of the metric; `None` where it does not apply."""


def make_sheet(
    title: str,
    labels: tuple[str, ...],
    metrics: tuple[Metric, ...],
    rows: Iterable[tuple[tuple[str, ...], Figures]],
) -> Sheet:
    """Leave out the columns that no line has a value in; they are named instead."""
    lines = [
        Line(labels=names, figures=tuple(figures[metric.key] for metric in metrics))
        for names, figures in rows
    ]
    present = [
        any(figure is not None and figure.value is not None for figure in column)
        for column in zip(*(line.figures for line in lines), strict=True)
    ]
    return Sheet(
        title=title,
        labels=labels,
        metrics=_select(metrics, present),
        lines=tuple(
            Line(labels=line.labels, figures=_select(line.figures, present)) for line in lines
        ),
        unknown=_select(metrics, [not has_value for has_value in present]),
    )


def _select(items: tuple[_T, ...], which: list[bool]) -> tuple[_T, ...]:
    return tuple(item for item, keep in zip(items, which, strict=True) if keep)


_KEYS = (
    "tools",
    "tool_tokens",
    "server_instruction_tokens",
    "mode_instruction_tokens",
    "prompt_tokens",
    "prompt_difference",
    "prompt_cost",
    "server_seconds",
)
_DESCRIPTION = (
    "Measured once per mode: the servers were asked before the session, and the empty task was "
    "given right after the agents of the mode's first swarm, whose provider may still have its "
    "beginning in the cache."
)


def make_overhead(selection: Selection) -> Sheet | None:
    """Show what was measured once per mode; `None` when nothing was."""
    measurements = _read_measurements(selection)
    if not measurements:
        return None
    overhead_sheet = make_sheet(
        "Fixed overhead",
        ("Mode",),
        select_billed(selection.metrics.named(_KEYS), selection),
        [((mode,), read_overhead(selection, mode)) for mode in selection.modes],
    )
    notes = tuple(
        f"{measurement.mode}: {measurement.problem}"
        for mode in selection.modes
        if (measurement := measurements.get(mode)) and measurement.problem
    )
    return replace(overhead_sheet, about=_DESCRIPTION, notes=notes)


def read_overhead(selection: Selection, mode: str) -> Figures:
    """Return what was measured of a mode, by the key of the metric."""
    measurements = _read_measurements(selection)
    reference = measurements.get(selection.modes[0]) if selection.modes else None
    return _make_figures(measurements.get(mode), reference, selection.has_tool(mode))


def _read_measurements(selection: Selection) -> dict[str, Overhead]:
    """Return the measurements by mode; of a session that was continued, the last ones."""
    return {measurement.mode: measurement for measurement in selection.data.overhead}


def _make_figures(measurement: Overhead | None, reference: Overhead | None, tool: bool) -> Figures:
    """Return the figures of a mode. What asks a server does not apply to a mode without one."""
    recorded_overhead = measurement or Overhead(session="", mode="")
    reference_tokens = reference.prompt_tokens if reference else None
    added_tokens = (
        None
        if reference_tokens is None or recorded_overhead.prompt_tokens is None
        else recorded_overhead.prompt_tokens - reference_tokens
    )
    is_reference = bool(reference and reference.mode == recorded_overhead.mode)
    of_servers = {
        "tools": recorded_overhead.tools,
        "tool_tokens": recorded_overhead.tool_tokens,
        "server_instruction_tokens": recorded_overhead.server_instruction_tokens,
        "server_seconds": max(recorded_overhead.server_seconds.values(), default=None),
    }
    return {
        **{key: Figure(value=value) if tool else None for key, value in of_servers.items()},
        "mode_instruction_tokens": Figure(value=recorded_overhead.mode_instruction_tokens),
        "prompt_tokens": Figure(value=recorded_overhead.prompt_tokens),
        "prompt_difference": None if is_reference else Figure(value=added_tokens),
        "prompt_cost": Figure(value=recorded_overhead.prompt_cost),
    }
