"""What a negative control says: of itself, and of the mode that it controls."""

import math
from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import ModeTrials, get_mode_trials
from swarm_bench.analysis.caveats.barred import explain_no_verdict
from swarm_bench.analysis.comparison.compared import list_headline_metrics
from swarm_bench.analysis.comparison.pairs import pair_metric
from swarm_bench.analysis.comparison.quality import estimate_quality
from swarm_bench.analysis.comparison.ratios import compute_ratio
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


def find_placebo_caveats(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Say that the mode is a placebo, or what its placebo speaks against in it."""
    selection, mode = mode_trials.selection, mode_trials.mode
    if selection.is_placebo(mode):
        yield Caveat(qualification=OF_A_PLACEBO)
    placebo = selection.find_controls("placebo").get(mode)
    if placebo is None or mode == selection.modes[0] or selection.rehearsal:
        return
    explanation = explain_no_verdict(selection, placebo.name)
    clauses = (
        [NO_VERDICT]
        if explanation
        else _list_doubts(mode_trials, get_mode_trials(selection, placebo.name))
    )
    yield from (Caveat(qualification=clause) for clause in clauses)


def _list_doubts(mode_trials: ModeTrials, placebo: ModeTrials) -> Iterator[str]:
    against = estimate_quality(mode_trials.selection, mode_trials.mode, placebo.mode)
    # What a placebo spends less that found less is no saving, as of any mode.
    metrics = [] if against and against.is_more else list(_list_equal_metrics(mode_trials, placebo))
    if metrics:
        yield (
            "a placebo, whose answers were irrelevant, did better or was within "
            f"{MARGIN * 100:.0f} %: {', '.join(metrics)}"
        )
    if against and against.mode_value > 0 and not against.is_more:
        yield (
            "its placebo, whose answers were irrelevant, found as much: "
            f"{against.reference_value:.2f} against {against.mode_value:.2f}"
        )
    yield from _describe_longer_answers(mode_trials, placebo)


def is_matched_by_placebo(selection: Selection, mode: str) -> bool:
    """Tell whether the placebo of a mode gains as much as the mode by what its verdict is on, so
    that the gain is not due to the tool."""
    placebo = selection.find_controls("placebo").get(mode)
    if placebo is None:
        return False
    against = estimate_quality(selection, mode, placebo.name)
    if against and against.is_more:
        return False
    primary = selection.metrics[selection.data.experiment.primary]
    if primary.spent and selection.fixed_rules:
        return against is not None
    sides = (mode, placebo.name)
    mode_pairs, placebo_pairs = (pair_metric(selection, side, primary).pairs for side in sides)
    if not mode_pairs.cases or not placebo_pairs.cases:
        return False
    return mode_pairs.effect.estimate >= placebo_pairs.effect.estimate + math.log1p(-MARGIN)


def _list_equal_metrics(mode_trials: ModeTrials, placebo: ModeTrials) -> Iterator[str]:
    """Name the metrics in which the mode is not better by the margin, with both ratios."""
    selection = mode_trials.selection
    reference = Column(mode=selection.modes[0])
    for metric in list_headline_metrics(selection):
        mode_ratio, placebo_ratio = (
            compute_ratio(selection, Column(mode=side.mode), reference, metric)
            for side in (mode_trials, placebo)
        )
        if metric.better is not Better.LOWER or not mode_ratio or not placebo_ratio:
            continue
        if mode_ratio.estimate >= (1 - MARGIN) * placebo_ratio.estimate:
            yield (
                f"{metric.title} {_format_times(placebo_ratio.estimate)} against "
                f"{_format_times(mode_ratio.estimate)}"
            )


def _describe_longer_answers(mode_trials: ModeTrials, placebo: ModeTrials) -> Iterator[str]:
    mode_bytes, placebo_bytes = (
        _count_bytes_per_answer(mode_trials),
        _count_bytes_per_answer(placebo),
    )
    if mode_bytes is None or placebo_bytes is None or placebo_bytes <= LONGER * mode_bytes:
        return
    if mode_bytes:
        yield f"its placebo's answers were {placebo_bytes / mode_bytes:.1f} times as long"
    else:
        yield "its placebo's answers were longer: its own had no text"


def _count_bytes_per_answer(mode_trials: ModeTrials) -> float | None:
    """Divide the bytes of the answers of the mode's tools by their number; `None` when no answer is
    shown."""
    servers = mode_trials.selection.list_servers(mode_trials.mode)
    tool_answers = [
        answers
        for trial in mode_trials.compared_trials
        for tool, answers in (trial.tool_answers or {}).items()
        if is_of_server(tool, servers)
    ]
    shown_answers = sum(answers.answers - answers.hidden for answers in tool_answers)
    return sum(answers.bytes for answers in tool_answers) / shown_answers if shown_answers else None


def _format_times(value: float) -> str:
    return f"{value:.2f}×" if value >= 0.1 else f"{value:.2g}×"
