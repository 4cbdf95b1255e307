"""What a negative control says: of itself, and of the mode that it controls."""

import math
from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.comparison.compared import of_headline
from swarm_bench.analysis.comparison.pairs import compared
from swarm_bench.analysis.comparison.quality import quality
from swarm_bench.analysis.comparison.ratios import ratio
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.metric import Better
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.standing import Caveat
from swarm_bench.retrieval.witnesses.treatment import is_of_server

OF_A_PLACEBO = "a negative control: irrelevant answers"
NO_VERDICT = "its placebo has no verdict"
MARGIN = 0.1
"""A mode has to spend less than its placebo by more than this part of what the placebo spends."""
LONGER = 1.5
"""Answers of a placebo that are longer than its mode's by more than this factor cost by themselves
what its mode seems to save."""


def beside_placebo(treated: Treated) -> Iterator[Caveat]:
    """Say that the mode is a placebo, or what its placebo speaks against in it."""
    selection, mode = treated.selection, treated.mode
    if selection.is_placebo(mode):
        yield Caveat(qualification=OF_A_PLACEBO)
    placebo = selection.controls("placebo").get(mode)
    if placebo is None or mode == selection.modes[0] or selection.rehearsal:
        return
    barred = barred_by(selection, placebo.name)
    clauses = [NO_VERDICT] if barred else _doubts(treated, treated_in(selection, placebo.name))
    yield from (Caveat(qualification=clause) for clause in clauses)


def _doubts(treated: Treated, placebo: Treated) -> Iterator[str]:
    against = quality(treated.selection, treated.mode, placebo.mode)
    # What a placebo spends less that found less is no saving, as of any mode.
    metrics = [] if against and against.is_more else list(_as_good(treated, placebo))
    if metrics:
        yield (
            "a placebo, whose answers were irrelevant, did better or was within "
            f"{MARGIN * 100:.0f} %: {', '.join(metrics)}"
        )
    if against and against.own > 0 and not against.is_more:
        yield (
            "its placebo, whose answers were irrelevant, found as much: "
            f"{against.reference:.2f} against {against.own:.2f}"
        )
    yield from _longer_answers(treated, placebo)


def matches(selection: Selection, mode: str) -> bool:
    """Tell whether the placebo of a mode gains as much as the mode by what its verdict is on, so
    that the gain is not due to the tool."""
    placebo = selection.controls("placebo").get(mode)
    if placebo is None:
        return False
    against = quality(selection, mode, placebo.name)
    if against and against.is_more:
        return False
    primary = selection.metrics[selection.data.experiment.primary]
    if primary.spent and selection.fixed_rules:
        return against is not None
    sides = (mode, placebo.name)
    own, other = (compared(selection, side, primary).pairs for side in sides)
    if not own.cases or not other.cases:
        return False
    return own.effect.estimate >= other.effect.estimate + math.log1p(-MARGIN)


def _as_good(treated: Treated, placebo: Treated) -> Iterator[str]:
    """Name the metrics in which the mode is not better by the margin, with both ratios."""
    selection = treated.selection
    reference = Column(mode=selection.modes[0])
    for metric in of_headline(selection):
        own, other = (
            ratio(selection, Column(mode=side.mode), reference, metric)
            for side in (treated, placebo)
        )
        if metric.better is not Better.LOWER or not own or not other:
            continue
        if own.estimate >= (1 - MARGIN) * other.estimate:
            yield f"{metric.title} {_times(other.estimate)} against {_times(own.estimate)}"


def _longer_answers(treated: Treated, placebo: Treated) -> Iterator[str]:
    own, other = _bytes_per_answer(treated), _bytes_per_answer(placebo)
    if own is None or other is None or other <= LONGER * own:
        return
    if own:
        yield f"its placebo's answers were {other / own:.1f} times as long"
    else:
        yield "its placebo's answers were longer: its own had no text"


def _bytes_per_answer(treated: Treated) -> float | None:
    """Divide the bytes of the answers of the mode's tools by their number; `None` when no answer is
    shown."""
    servers = treated.selection.servers(treated.mode)
    answered = [
        answers
        for trial in treated.compared
        for tool, answers in (trial.tool_answers or {}).items()
        if is_of_server(tool, servers)
    ]
    shown = sum(answers.answers - answers.hidden for answers in answered)
    return sum(answers.bytes for answers in answered) / shown if shown else None


def _times(value: float) -> str:
    return f"{value:.2f}×" if value >= 0.1 else f"{value:.2g}×"
