"""What it costs to have a mode's tool at all, before anybody uses it."""

from dataclasses import replace

from swarm_bench.analysis.comparison.compared import select_billed
from swarm_bench.analysis.sections.sheets import Figures, make_sheet
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report.report import Figure, Sheet
from swarm_bench.core.treatment.overhead import Overhead

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
