"""What controls and placebos say of the modes that they control, and what fixed rules spent:
figures that are no headline."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from swarm_bench.analysis.caveats.no_verdict import explain_no_verdict
from swarm_bench.analysis.comparison.correctness import compute_spending_per_right
from swarm_bench.analysis.comparison.headline_metrics import (
    list_headline_metrics,
    list_spending_metrics,
)
from swarm_bench.analysis.comparison.pairs import pair_metric
from swarm_bench.analysis.comparison.quality import estimate_quality
from swarm_bench.analysis.comparison.ratios import compute_ratio, compute_ratios, list_tasks
from swarm_bench.analysis.mode_trials import ModeTrials, get_mode_trials
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.report import Controls, Headline, SpentByRules, Split
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.experiment import ControlKind
from swarm_bench.retrieval.witnesses.treatment import is_of_server


def compare_rule_spending(selection: Selection, headline: Headline) -> SpentByRules | None:
    """Compare what was spent; `None` when a model decided, or there is nothing to compare."""
    if not selection.fixed_rules or headline.ratios is None:
        return None
    columns, metrics = headline.ratios.columns, list_spending_metrics(selection)
    spending_ratios = compute_ratios(selection, columns, metrics)
    legend = "Read these like the headline's ratios."
    return SpentByRules(
        ratios=replace(spending_ratios, legend=(legend,), found_less=headline.ratios.found_less),
        per_right_answer=compute_spending_per_right(selection) if headline.correctness else (),
        controls=make_controls(selection, headline, metrics),
    )


@dataclass(frozen=True, kw_only=True)
class _Text:
    """What is said of a kind of control."""

    title: str
    control: str
    tool: str
    description: str
    without: str


_TEXTS: Mapping[ControlKind, _Text] = {
    "instructions": _Text(
        title="What the instructions do, and what the tool does",
        control="Instructions",
        tool="Tool",
        description="Instructions: the control, which has the mode's instructions and no tool, "
        "against "
        "{reference}. Tool: the mode against that control. Together: the mode against {reference}.",
        without="{mode} gives its agents no instructions, so it needs no control: its whole "
        "difference is the tool's.",
    ),
    "placebo": _Text(
        title="What irrelevant answers do, and what the tool's own do",
        control="Placebo",
        tool="Own answers",
        description="Placebo: a negative control with the mode's instructions and with tools of "
        "the same "
        "names and descriptions, which answer with irrelevant places, against {reference}. What it "
        "saves is not due to the tool. Own answers: the mode against that placebo. Together: the "
        "mode against {reference}.",
        without="{mode} has no placebo.",
    ),
}


def make_controls(
    selection: Selection, headline: Headline, metrics: Iterable[Metric]
) -> tuple[Controls, ...]:
    """Split what the modes do by kind of control, for those kinds that the session has."""
    metrics = tuple(metrics)
    kinds = _TEXTS if selection.modes else ()
    made_controls = (_make_kind_controls(selection, headline, kind, metrics) for kind in kinds)
    return tuple(control for control in made_controls if control.splits or control.notes)


def _make_kind_controls(
    selection: Selection, headline: Headline, kind: ControlKind, metrics: tuple[Metric, ...]
) -> Controls:
    control_of = {mode: control.name for mode, control in selection.find_controls(kind).items()}
    excluded = {standing.mode for standing in headline.standings if standing.no_verdict}
    reference, *modes = selection.modes
    tools = [mode for mode in modes if selection.has_tool(mode) and not selection.is_placebo(mode)]
    tools = tools if control_of else []
    found_less = headline.ratios.found_less if headline.ratios else frozenset()
    text, splits, notes = _TEXTS[kind], [], []
    for mode in tools:
        control = control_of.get(mode)
        if control is None:
            notes.append(text.without.format(mode=mode))
        elif headline.no_verdict or excluded & {mode, control}:
            notes.append(f"{mode} is not split: there is no verdict on it or on its control.")
        elif mode in found_less:
            notes.append(f"{mode} is not split: it found less than {reference}.")
        else:
            splits.append(_make_split(selection, control, mode, metrics))
    return Controls(
        kind=kind,
        title=text.title,
        steps=(text.control, text.tool, "Together"),
        about=text.description.format(reference=reference),
        splits=tuple(splits),
        notes=tuple(notes),
    )


def _make_split(selection: Selection, control: str, mode: str, metrics: Iterable[Metric]) -> Split:
    names = (selection.modes[0], control, mode)
    without, controlled, equipped = sides = [Column(mode=name) for name in names]
    steps = ((controlled, without), (equipped, controlled), (equipped, without))
    return Split(
        mode=mode,
        control=control,
        tasks=len({task for side in sides for task in list_tasks(selection, side)}),
        rows=tuple(
            (metric, tuple(compute_ratio(selection, *step, metric) for step in steps))
            for metric in metrics
        ),
    )


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
