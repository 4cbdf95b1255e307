"""What a mode's control does by itself, and what the mode adds to that."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from swarm_bench.analysis.comparison.ratios import compute_ratio, list_tasks
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.report import Controls, Headline, Split, SplitRow
from swarm_bench.core.session.experiment import ControlKind


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
    return Split(
        mode=mode,
        control=control,
        tasks=len({task for side in sides for task in list_tasks(selection, side)}),
        rows=tuple(
            SplitRow(
                metric=metric,
                control=compute_ratio(selection, controlled, without, metric),
                tool=compute_ratio(selection, equipped, controlled, metric),
                together=compute_ratio(selection, equipped, without, metric),
            )
            for metric in metrics
        ),
    )
