"""How ratios are to be read, in sentences."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from statistics import median

from swarm_bench.analysis.comparison.index_time import indexing
from swarm_bench.analysis.comparison.quality import about_correctness
from swarm_bench.analysis.comparison.ratios import by_task, modes_of
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.ratios import Column, IndexingRow, Ratios
from swarm_bench.core.report.report import Headline

BY_RULES = (
    "What the agents spent (tokens, turns, output) is not part of this headline: fixed rules "
    "decided it, not a model."
)


def explained(selection: Selection, headline: Headline) -> Headline:
    """Add what must be known beside the ratios, and how they are to be read."""
    if headline.no_verdict:
        return headline
    parts = [*about_correctness(selection)]
    if headline.ratios is None:
        return replace(headline, remark=" ".join(filter(None, parts)))
    ratios = replace(headline.ratios, indexing=_indexing_row(selection, headline.ratios.columns))
    parts += [BY_RULES] if selection.fixed_rules else []
    legend = tuple(_legend(ratios, selection, all_used=headline.all_used))
    return replace(
        headline, remark=" ".join(filter(None, parts)), ratios=replace(ratios, legend=legend)
    )


def _indexing_row(selection: Selection, columns: Iterable[Column]) -> IndexingRow | None:
    cells = tuple(indexing(selection, column.mode) for column in columns)
    metric = selection.metrics["index_seconds"]
    return IndexingRow(metric=metric, cells=cells) if any(cells) else None


def _legend(ratios: Ratios, selection: Selection, *, all_used: bool) -> Iterator[str]:
    yield f"{_of_ratios(ratios)} {_of_columns(ratios, all_used)}"
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
        yield _of_indexing(ratios, selection)


def _of_ratios(ratios: Ratios) -> str:
    size = f"{amount(ratios.tasks, 'task')}, {amount(ratios.runs, 'run')}"
    several = len({column.mode for column in ratios.columns}) > 1
    plain = ", not adjusted for several modes" if several else ""
    return (
        f"Each figure is typical of a task ({size}): the mean over tasks, the geometric one where "
        f"a ratio to {ratios.reference} stands beside it. In brackets is the 95 % interval over "
        f"tasks{plain}, where enough of them differ for one. What no verdict names is exploratory: "
        "among so many intervals, some lie on one side by chance."
    )


def _of_columns(ratios: Ratios, all_used: bool) -> str:
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


def _of_indexing(ratios: Ratios, selection: Selection) -> str:
    reference = indexing(selection, ratios.reference)
    text = (
        "Indexing is in seconds, the median over swarms. Where it ends before the agents start, it "
        "is in no agent's time."
    )
    if reference and reference.seconds is not None:
        text += f" In {ratios.reference} it took {reference.seconds:.2f} s."
    walls = {mode: _median_wall(selection, mode) for mode in modes_of(selection, ratios.columns)}
    times = [f"{wall:.2f} s in {mode}" for mode, wall in walls.items() if wall is not None]
    return (
        f"{text} For comparison, the median wall time of an agent: {', '.join(times)}."
        if times
        else text
    )


def _median_wall(selection: Selection, mode: str) -> float | None:
    tasks = by_task(selection, Column(mode=mode), selection.metrics["wall_seconds"])
    return median(chain.from_iterable(tasks.values())) if tasks else None
