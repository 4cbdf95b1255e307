"""What it costs to have a mode's tool at all, before anybody uses it."""

from dataclasses import replace

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
    """`None` when it was not measured."""
    # Of a session that was continued, the last measurement counts.
    measured = {one.mode: one for one in selection.data.overhead}
    if not measured:
        return None
    reference = measured.get(selection.modes[0]) if selection.modes else None
    found = sheet(
        "Fixed overhead",
        ("Mode",),
        selection.metrics.named(_KEYS),
        [
            ((mode,), _figures(measured.get(mode), reference, selection.has_tool(mode)))
            for mode in selection.modes
        ],
    )
    notes = tuple(
        f"{one.mode}: {one.problem}"
        for mode in selection.modes
        if (one := measured.get(mode)) and one.problem
    )
    return replace(found, about=_ABOUT, notes=notes)


def _figures(one: Overhead | None, reference: Overhead | None, tool: bool) -> Figures:
    """What asks a server does not apply to a mode without one."""
    given = one or Overhead(session="", mode="")
    other = reference.prompt_tokens if reference else None
    more = None if other is None or given.prompt_tokens is None else given.prompt_tokens - other
    is_reference = bool(reference and reference.mode == given.mode)
    of_servers = {
        "tools": given.tools,
        "tool_tokens": given.tool_tokens,
        "server_instruction_tokens": given.server_instruction_tokens,
        "server_seconds": max(given.server_seconds.values(), default=None),
    }
    return {
        **{key: Figure(value=value) if tool else None for key, value in of_servers.items()},
        "mode_instruction_tokens": Figure(value=given.mode_instruction_tokens),
        "prompt_tokens": Figure(value=given.prompt_tokens),
        "prompt_difference": None if is_reference else Figure(value=more),
        "prompt_cost": Figure(value=given.prompt_cost),
    }
