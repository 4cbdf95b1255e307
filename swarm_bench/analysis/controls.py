"""What a mode's instructions do by themselves, and what its tool adds."""

from swarm_bench.analysis.metrics import RATIOS
from swarm_bench.analysis.ratios import ratio
from swarm_bench.analysis.selection import Selection, compares
from swarm_bench.core.report import Controls, Headline, Split, SplitRow


def controls(selection: Selection, headline: Headline) -> Controls | None:
    """`None` when no mode is a control of another."""
    control_of = {
        mode: one.name
        for one in (selection.data.experiment.modes if selection.data.experiment else ())
        for mode in one.control_of
    }
    if not control_of:
        return None
    barred = {one.mode for one in headline.standings if one.no_verdict}
    reference, *modes = selection.modes
    splits, notes = [], []
    for mode in filter(selection.has_tool, modes):
        control = control_of.get(mode)
        if control is None:
            notes.append(
                f"{mode} gives its agents no instructions, so it needs no control: its whole "
                "difference is the tool's."
            )
        elif headline.no_verdict or barred & {mode, control}:
            notes.append(f"{mode} is not split: there is no verdict on it or on its control.")
        else:
            splits.append(_split(selection, reference, control, mode))
    return Controls(reference=reference, splits=tuple(splits), notes=tuple(notes))


def _split(selection: Selection, reference: str, control: str, mode: str) -> Split:
    sides = [
        [trial for trial in selection.of(name) if compares(trial)]
        for name in (reference, control, mode)
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
            for metric in RATIOS
        ),
    )
