"""How ratios are to be read, in sentences."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from statistics import median

from swarm_bench.analysis.comparison.quality import describe_correctness
from swarm_bench.analysis.comparison.ratios import group_by_task, list_modes
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.figures import total
from swarm_bench.core.report.ratios import Column, Indexing, IndexingRow, Ratios
from swarm_bench.core.report.report import Headline
from swarm_bench.core.session.records import SwarmRecord

BY_RULES = (
    "What the agents spent (tokens, turns, output) is not part of this headline: fixed rules "
    "decided it, not a model."
)


def add_legend(selection: Selection, headline: Headline) -> Headline:
    """Add what must be known beside the ratios, and how they are to be read."""
    if headline.no_verdict:
        return headline
    parts = [*describe_correctness(selection)]
    if headline.ratios is None:
        return replace(headline, remark=" ".join(filter(None, parts)))
    ratios = replace(
        headline.ratios, indexing=_make_indexing_row(selection, headline.ratios.columns)
    )
    parts += [BY_RULES] if selection.fixed_rules else []
    legend = tuple(_write_legend(ratios, selection, all_used=headline.all_used))
    return replace(
        headline, remark=" ".join(filter(None, parts)), ratios=replace(ratios, legend=legend)
    )


def _make_indexing_row(selection: Selection, columns: Iterable[Column]) -> IndexingRow | None:
    cells = tuple(compute_indexing(selection, column.mode) for column in columns)
    metric = selection.metrics["index_seconds"]
    return IndexingRow(metric=metric, cells=cells) if any(cells) else None


def _write_legend(ratios: Ratios, selection: Selection, *, all_used: bool) -> Iterator[str]:
    yield f"{_explain_ratios(ratios)} {_explain_columns(ratios, all_used)}"
    if selection.data.experiment.at_once > 1:
        yield (
            "Agents that ran at the same time share their delays, so the intervals of times are "
            "too narrow."
        )
    if ratios.found_less:
        yield (
            '"Found less" stands where a mode would seem to save and found less than '
            f"{ratios.reference}, by more than --quality-margin."
        )
    if ratios.indexing:
        yield _explain_indexing(ratios, selection)


def _explain_ratios(ratios: Ratios) -> str:
    size = f"{quantify(ratios.tasks, 'task')}, {quantify(ratios.runs, 'run')}"
    has_several = len({column.mode for column in ratios.columns}) > 1
    plain = ", not adjusted for several modes" if has_several else ""
    return (
        f"Each figure is typical of a task ({size}): the mean over tasks, the geometric one where "
        f"a ratio to {ratios.reference} stands beside it. In brackets is the 95 % interval over "
        f"tasks{plain}, where enough of them differ for one. What no verdict names is exploratory: "
        "among so many intervals, some lie on one side by chance."
    )


def _explain_columns(ratios: Ratios, all_used: bool) -> str:
    if all_used:
        return (
            "Every trial used its mode's tool, so the figures are the same as assigned and as used."
        )
    text = "The figures are as assigned: all trials, whether they used a tool or not."
    if not any(column.as_used for column in ratios.columns):
        return text
    against = "also of" if ratios.reference_as_used else "against all of"
    return (
        f'{text} "As used" has only the trials that used the tool, {against} {ratios.reference}: '
        "which ones those are was the agents' choice and not chance, so it can mislead."
    )


def _explain_indexing(ratios: Ratios, selection: Selection) -> str:
    reference = compute_indexing(selection, ratios.reference)
    text = (
        "Indexing is in seconds, the median over swarms. Where it ends before the agents start, it "
        "is in no agent's time."
    )
    if reference and reference.seconds is not None:
        text += f" In {ratios.reference} it took {reference.seconds:.2f} s."
    walls = {
        mode: _compute_median_wall(selection, mode)
        for mode in list_modes(selection, ratios.columns)
    }
    times = [f"{wall:.2f} s in {mode}" for mode, wall in walls.items() if wall is not None]
    return (
        f"{text} For comparison, the median wall time of an agent: {', '.join(times)}."
        if times
        else text
    )


def _compute_median_wall(selection: Selection, mode: str) -> float | None:
    tasks = group_by_task(selection, Column(mode=mode), selection.metrics["wall_seconds"])
    return median(chain.from_iterable(tasks.values())) if tasks else None


def compute_indexing(selection: Selection, mode: str) -> Indexing | None:
    """Take the medians over the mode's swarms; `None` for a mode without a tool."""
    if not selection.has_tool(mode):
        return None
    swarms = selection.select_swarms(mode)
    is_before = indexes_before(selection, mode)
    return Indexing(
        before=_compute_median([_add_seconds(swarm, is_before) for swarm in swarms]),
        within=None if is_before else _compute_median([swarm.index_seconds for swarm in swarms]),
        missing=sum(_is_unknown(swarm, is_before) for swarm in swarms),
        copied=sum(swarm.index_copied is True for swarm in swarms),
    )


def _is_unknown(swarm: SwarmRecord, indexed: bool) -> bool:
    """Tell whether nothing shows what indexing took. A first call stands for the index where
    nothing else makes one."""
    return swarm.index_seconds is None and (indexed or swarm.warm_up_seconds is None)


def _add_seconds(swarm: SwarmRecord, indexed: bool) -> float | None:
    """Add up the seconds before the agents: a first call may index too."""
    parts = [swarm.index_seconds if indexed else None, swarm.warm_up_seconds]
    return total(part for part in parts if part is not None)


def _compute_median(seconds: list[float | None]) -> float | None:
    present = [second for second in seconds if second is not None]
    return median(present) if present else None


def indexes_before(selection: Selection, mode: str) -> bool:
    """Tell whether the index of a mode is made before its agents start."""
    experiment = selection.data.experiment
    if mode not in {defined.name for defined in experiment.modes}:
        return False
    definition = experiment.mode(mode)
    return bool(definition.services) or experiment.prepares(definition)
