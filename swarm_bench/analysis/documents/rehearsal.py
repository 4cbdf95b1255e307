"""How a rehearsal ends: with what each tool needs and adds, and no verdict."""

from collections.abc import Sequence

from swarm_bench.analysis.documents.blocks import figure, paragraph
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Cell, Grid, Section
from swarm_bench.core.report.report import Rehearsed

_TITLE = "What each tool needs and adds"
_HEADERS = ("Mode", "Connected", "Called", "Tokens added per request", "Start-up")
_ABOUT = (
    "Called: trials with a call of the mode's tools. The added tokens are those by which the first "
    "request of an empty task is larger than one of the reference. Start-up is the time until the "
    "slowest server of the mode had listed its tools."
)
NEXT_STEP = (
    "Next: the same command without --model rehearsal; with --plan it first says what that costs."
)


def rehearsal_section(modes: Sequence[Rehearsed]) -> Section:
    """Make the section of what a rehearsal is for."""
    if not modes:
        return Section(title=_TITLE, blocks=(paragraph("No mode has a tool."),))
    return Section(title=_TITLE, blocks=(_grid(modes), paragraph(_ABOUT), paragraph(NEXT_STEP)))


def _grid(modes: Sequence[Rehearsed]) -> Grid:
    trials = {mode.trials for mode in modes}
    each = amount(trials.pop(), "trial") if len(trials) == 1 else "the trials"
    rows = tuple(map(_row, modes))
    return Grid(headers=_HEADERS, labels=1, rows=rows, about=f"Over {each} of each mode")


def _row(mode: Rehearsed) -> tuple[Cell, ...]:
    called = f"{mode.called} of {mode.trials}"
    if mode.answered < mode.called:
        called += f", answered in {mode.answered}"
    return (
        mode.mode,
        f"{mode.connected} of {mode.trials}",
        called,
        figure(Style.WHOLE, mode.added_tokens),
        figure(Style.SECONDS, mode.seconds),
    )
