"""What it costs to have a mode's tool at all, before anybody uses it."""

from dataclasses import replace

from swarm_bench.analysis.comparison.compared import billed
from swarm_bench.analysis.sections.sheets import Figures, sheet
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
_ABOUT = (
    "Measured once per mode: the servers were asked before the session, and the empty task was "
    "given right after the agents of the mode's first swarm, whose provider may still have its "
    "beginning in the cache."
)


def overhead(selection: Selection) -> Sheet | None:
    """Show what was measured once per mode; `None` when nothing was."""
    measured = _measured(selection)
    if not measured:
        return None
    shown = sheet(
        "Fixed overhead",
        ("Mode",),
        billed(selection.metrics.named(_KEYS), selection),
        [((mode,), measured_overhead(selection, mode)) for mode in selection.modes],
    )
    notes = tuple(
        f"{measurement.mode}: {measurement.problem}"
        for mode in selection.modes
        if (measurement := measured.get(mode)) and measurement.problem
    )
    return replace(shown, about=_ABOUT, notes=notes)


def measured_overhead(selection: Selection, mode: str) -> Figures:
    """Return what was measured of a mode, by the key of the metric."""
    measured = _measured(selection)
    reference = measured.get(selection.modes[0]) if selection.modes else None
    return _figures(measured.get(mode), reference, selection.has_tool(mode))


def _measured(selection: Selection) -> dict[str, Overhead]:
    """Return the measurements by mode; of a session that was continued, the last ones."""
    return {measurement.mode: measurement for measurement in selection.data.overhead}


def _figures(measurement: Overhead | None, reference: Overhead | None, tool: bool) -> Figures:
    """Return the figures of a mode. What asks a server does not apply to a mode without one."""
    measured = measurement or Overhead(session="", mode="")
    other = reference.prompt_tokens if reference else None
    more = (
        None if other is None or measured.prompt_tokens is None else measured.prompt_tokens - other
    )
    is_reference = bool(reference and reference.mode == measured.mode)
    of_servers = {
        "tools": measured.tools,
        "tool_tokens": measured.tool_tokens,
        "server_instruction_tokens": measured.server_instruction_tokens,
        "server_seconds": max(measured.server_seconds.values(), default=None),
    }
    return {
        **{key: Figure(value=value) if tool else None for key, value in of_servers.items()},
        "mode_instruction_tokens": Figure(value=measured.mode_instruction_tokens),
        "prompt_tokens": Figure(value=measured.prompt_tokens),
        "prompt_difference": None if is_reference else Figure(value=more),
        "prompt_cost": Figure(value=measured.prompt_cost),
    }
