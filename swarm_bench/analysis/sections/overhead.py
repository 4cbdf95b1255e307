"""What it costs to have a mode's tool at all, before anybody uses it."""

from dataclasses import replace

from swarm_bench.analysis.metrics.measure import metric
from swarm_bench.analysis.sections.sheets import sheet
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report.report import Figure, Line, Sheet, Style
from swarm_bench.core.treatment.overhead import Overhead

COLUMNS = (
    metric("tools", "Tools", "tools", Style.WHOLE, "Tools of all servers of the mode."),
    metric(
        "tool_tokens",
        "Tool descriptions",
        "tokens",
        Style.WHOLE,
        "Names, descriptions and schemas of these tools, counted by us (tool_tokens).",
    ),
    metric(
        "server_instruction_tokens",
        "Server instructions",
        "tokens",
        Style.WHOLE,
        "What the servers tell a model about themselves, counted by us.",
    ),
    metric(
        "mode_instruction_tokens",
        "Mode's instructions",
        "tokens",
        Style.WHOLE,
        "What stands before every task, counted by us.",
    ),
    metric(
        "prompt_tokens",
        "First request",
        "tokens",
        Style.WHOLE,
        "All input of the one request that an empty task makes, as the agent reports it.",
    ),
    metric(
        "prompt_difference",
        "More than the reference",
        "tokens",
        Style.WHOLE,
        "The first request without that of the reference.",
    ),
    metric(
        "prompt_cost",
        "Its cost",
        "US dollars",
        Style.DOLLARS,
        "Of the first request, as the agent reports it (prompt_cost); it is in no other figure.",
    ),
    metric(
        "server_seconds",
        "Server answered after",
        "seconds",
        Style.SECONDS,
        "From its start until it had answered initialize and tools/list; of several servers the "
        "slowest.",
    ),
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
        COLUMNS,
        [
            Line(
                labels=(mode,),
                figures=_figures(measured.get(mode), reference, selection.has_tool(mode)),
            )
            for mode in selection.modes
        ],
    )
    notes = tuple(
        f"{one.mode}: {one.problem}"
        for mode in selection.modes
        if (one := measured.get(mode)) and one.problem
    )
    return replace(found, about=_ABOUT, notes=notes)


def _figures(
    one: Overhead | None, reference: Overhead | None, tool: bool
) -> tuple[Figure | None, ...]:
    """What asks a server does not apply to a mode without one."""
    given = one or Overhead(session="", mode="")
    other = reference.prompt_tokens if reference else None
    more = None if other is None or given.prompt_tokens is None else given.prompt_tokens - other
    asked = (given.tools, given.tool_tokens, given.server_instruction_tokens)
    slowest = max(given.server_seconds.values(), default=None)
    return (
        *(Figure(value=value) if tool else None for value in asked),
        Figure(value=given.mode_instruction_tokens),
        Figure(value=given.prompt_tokens),
        None if reference and reference.mode == given.mode else Figure(value=more),
        Figure(value=given.prompt_cost),
        Figure(value=slowest) if tool else None,
    )
