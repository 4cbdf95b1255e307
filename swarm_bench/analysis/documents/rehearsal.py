"""How a rehearsal ends: with what each tool needs and adds, and no verdict."""

from collections.abc import Sequence

from swarm_bench.analysis.documents.blocks import make_figure, paragraph
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Cell, Grid, Section
from swarm_bench.core.report.report import Rehearsed

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


def make_rehearsal_section(modes: Sequence[Rehearsed]) -> Section:
    """Make the section of what a rehearsal is for."""
    if not modes:
        return Section(title=_TITLE, blocks=(paragraph("No mode has a tool."),))
    return Section(
        title=_TITLE, blocks=(_make_grid(modes), paragraph(_DESCRIPTION), paragraph(NEXT_STEP))
    )


def _make_grid(modes: Sequence[Rehearsed]) -> Grid:
    trials = {mode.trials for mode in modes}
    trials_text = quantify(trials.pop(), "trial") if len(trials) == 1 else "the trials"
    rows = tuple(map(_make_row, modes))
    return Grid(headers=_HEADERS, labels=1, rows=rows, about=f"Over {trials_text} of each mode")


def _make_row(mode: Rehearsed) -> tuple[Cell, ...]:
    calls_text = f"{mode.called} of {mode.trials}"
    if mode.answered < mode.called:
        calls_text += f", answered in {mode.answered}"
    return (
        mode.mode,
        f"{mode.connected} of {mode.trials}",
        calls_text,
        make_figure(Style.WHOLE, mode.added_tokens),
        make_figure(Style.SECONDS, mode.seconds),
    )
