"""What it costs to have a mode's tool at all, and what a rehearsal is for: whether each tool is
connected and called, and what it adds."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from swarm_bench.analysis.comparison.headline_metrics import select_billed
from swarm_bench.analysis.documents.blocks import make_figure, paragraph
from swarm_bench.analysis.mode_trials import is_connected
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import Cell, Grid, Section
from swarm_bench.core.report.report import Figure, Line, Sheet
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.core.treatment.overhead import Overhead

_TITLE = "What each tool needs and adds"
_HEADERS = ("Mode", "Connected", "Called", "Tokens added per request", "Start-up")
_DESCRIPTION = (
    "Called: trials with a call of the mode's tools. The added tokens are those by which the first "
    "request of an empty task is larger than one of the reference. Start-up is the time until the "
    "slowest server of the mode had listed its tools."
)
NEXT_STEP = (
    "Next: the same command without --model rehearsal; with --plan it first says what that costs."
)


def make_rehearsal_section(selection: Selection) -> Section | None:
    """Make the section of what a rehearsal is for; `None` in a session that is none."""
    if not selection.rehearsal:
        return None
    modes = [mode for mode in selection.modes if selection.has_tool(mode)]
    if not modes:
        return Section(title=_TITLE, blocks=(paragraph("No mode has a tool."),))
    counts = {len(selection.get_arm(mode).counted_trials) for mode in modes}
    trials_text = quantify(counts.pop(), "trial") if len(counts) == 1 else "the trials"
    rows = tuple(_make_row(selection, mode) for mode in modes)
    grid = Grid(headers=_HEADERS, labels=1, rows=rows, about=f"Over {trials_text} of each mode")
    blocks = (grid, paragraph(_DESCRIPTION), paragraph(NEXT_STEP))
    return Section(title=_TITLE, blocks=blocks)


def _make_row(selection: Selection, mode: str) -> tuple[Cell, ...]:
    trials, figures = selection.get_arm(mode).counted_trials, read_overhead(selection, mode)
    call_count = sum(map(_has_called, trials))
    answer_count = sum(trial.retrieval is Treatment.USED for trial in trials)
    calls_text = f"{call_count} of {len(trials)}"
    if answer_count < call_count:
        calls_text += f", answered in {answer_count}"
    return (
        mode,
        f"{sum(is_connected(trial) is True for trial in trials)} of {len(trials)}",
        calls_text,
        make_figure(Style.WHOLE, figures["prompt_difference"]),
        make_figure(Style.SECONDS, figures["server_seconds"]),
    )


def _has_called(trial: TrialRecord) -> bool:
    """Tell whether the agent called a tool of its mode, whatever came back."""
    has_calls = bool(trial.evidence and trial.evidence.calls)
    return has_calls or trial.retrieval is Treatment.USED


Figures = Mapping[str, Figure | None]
"""Figures by the key of the metric; `None` where it does not apply."""


def make_sheet(
    title: str,
    labels: tuple[str, ...],
    metrics: tuple[Metric, ...],
    rows: Iterable[tuple[tuple[str, ...], Figures]],
) -> Sheet:
    """Leave out the columns that no line has a value in; they are named instead."""
    lines = list(rows)
    present = tuple(
        metric
        for metric in metrics
        if any((figure := figures[metric.key]) and figure.value is not None for _, figures in lines)
    )
    return Sheet(
        title=title,
        labels=labels,
        metrics=present,
        lines=tuple(
            Line(labels=names, figures=tuple(figures[metric.key] for metric in present))
            for names, figures in lines
        ),
        unknown=tuple(metric for metric in metrics if metric not in present),
    )


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
_OVERHEAD = (
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
    return replace(overhead_sheet, about=_OVERHEAD, notes=notes)


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
