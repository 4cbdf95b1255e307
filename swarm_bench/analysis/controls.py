"""What a mode's instructions do by themselves, and what its tool adds."""

from collections.abc import Iterable, Mapping

from swarm_bench.analysis.metrics import of_headline
from swarm_bench.analysis.ratios import ratio
from swarm_bench.analysis.selection import Selection, compares
from swarm_bench.core.report import Controls, Headline, Metric, Split, SplitRow


def controls(selection: Selection, headline: Headline) -> Controls | None:
    """`None` when no mode is a control of another."""
    control_of = _controls_of(selection)
    if not control_of:
        return None
    notes = []
    for mode in filter(selection.has_tool, selection.modes[1:]):
        control = control_of.get(mode)
        if control is None:
            notes.append(
                f"{mode} gives its agents no instructions, so it needs no control: its whole "
                "difference is the tool's."
            )
        elif not _has_verdict(headline, mode, control):
            notes.append(f"{mode} is not split: there is no verdict on it or on its control.")
    return Controls(
        reference=selection.modes[0],
        splits=splits(selection, headline, of_headline(selection)),
        notes=tuple(notes),
    )


def splits(
    selection: Selection, headline: Headline, metrics: Iterable[Metric]
) -> tuple[Split, ...]:
    """Of the modes that have a control, and a verdict on both."""
    metrics = tuple(metrics)
    return tuple(
        _split(selection, control, mode, metrics)
        for mode, control in _controls_of(selection).items()
        if mode in selection.modes[1:] and _has_verdict(headline, mode, control)
    )


def _controls_of(selection: Selection) -> Mapping[str, str]:
    """The control of each mode that has one, in the order of the modes."""
    experiment = selection.data.experiment
    modes = experiment.modes if experiment else ()
    found = {mode: one.name for one in modes for mode in one.control_of}
    return {mode: found[mode] for mode in selection.modes if mode in found}


def _has_verdict(headline: Headline, *modes: str) -> bool:
    barred = {one.mode for one in headline.standings if one.no_verdict}
    return headline.no_verdict is None and not barred.intersection(modes)


def _split(selection: Selection, control: str, mode: str, metrics: Iterable[Metric]) -> Split:
    sides = [
        [trial for trial in selection.of(name) if compares(trial)]
        for name in (selection.modes[0], control, mode)
    ]
    without, instructed, equipped = sides
    return Split(
        mode=mode,
        control=control,
        tasks=len({trial.task_key for side in sides for trial in side}),
        rows=tuple(
            SplitRow(
                metric=metric,
                instructions=ratio(instructed, without, metric.key),
                tool=ratio(equipped, instructed, metric.key),
                together=ratio(equipped, without, metric.key),
            )
            for metric in metrics
        ),
    )
