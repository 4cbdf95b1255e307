"""How ratios are to be read, in sentences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from swarm_bench.analysis.comparison.index_time import indexing
from swarm_bench.analysis.comparison.ratios import in_ratios
from swarm_bench.analysis.frame import Frame, frame
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount, in_a_row
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.report import Column, Headline, Indexing, IndexingRow, Ratios
from swarm_bench.core.session.records import TrialRecord

NO_KEYS = "Correctness was not measured, so lower figures alone are no gain."
BY_RULES = (
    "What the agents spent (tokens, cost, turns, output) is not part of this headline: fixed rules "
    "decided it, not a model."
)


def explained(selection: Selection, headline: Headline, *, warned: bool) -> Headline:
    """Add what must be known beside the ratios, and how they are to be read."""
    if headline.ratios is None:
        beside = ["the warnings below"] if warned else []
        return replace(headline, remark=_proof(headline, beside))
    ratios = replace(headline.ratios, indexing=_indexing_row(selection, headline.ratios.columns))
    beside = ["that", *(["the warnings below"] if warned else [])]
    parts = [NO_KEYS, BY_RULES if selection.fixed_rules else "", _proof(headline, beside)]
    legend = tuple(_legend(ratios, selection, all_used=headline.all_used))
    return replace(
        headline, remark=" ".join(filter(None, parts)), ratios=replace(ratios, legend=legend)
    )


def _indexing_row(selection: Selection, columns: Iterable[Column]) -> IndexingRow | None:
    cells = tuple(indexing(selection, column.mode) for column in columns)
    metric = selection.metrics["index_seconds"]
    return IndexingRow(metric=metric, cells=cells) if any(cells) else None


def _proof(headline: Headline, beside: Sequence[str]) -> str:
    """Say that nothing speaks against the use of the tools, beside what is said elsewhere; empty
    where something does."""
    if not headline.standings or headline.qualified:
        return ""
    none = f"Apart from {' and '.join(beside)}, there" if beside else "There"
    text = f"{none} are no caveats: every trial was connected and used the tool, "
    if not headline.agreeing:
        return f"{text}as the agents show it (the tool has no counters to compare)."
    if not headline.uncounted:
        return f"{text}and the witnesses agree."
    return (
        f"{text}and the witnesses agree; for {', '.join(headline.uncounted)} that is as the agents "
        "show it (no counters to compare there)."
    )


def _legend(ratios: Ratios, selection: Selection, *, all_used: bool) -> Iterator[str]:
    compared = in_ratios(selection, ratios.columns)
    yield f"{_of_ratios(ratios)} {_of_columns(ratios, all_used)}"
    if ratios.indexing:
        yield _of_indexing(ratios, indexing(selection, ratios.reference), compared)
    yield variation(compared, [row.metric for row in ratios.rows])


def _of_ratios(ratios: Ratios) -> str:
    reference = ratios.reference
    each = (
        f"Below 1× is less than {reference}. For each task, the median over its trials in the "
        f"mode is divided by that in {reference}"
    )
    if ratios.tasks == 1:
        return f"{each} (1 task, {amount(ratios.runs, 'run')})."
    return (
        f"{each}; shown is the median over tasks, and in brackets the range of tasks: the lowest "
        f"and the highest, not a confidence interval ({amount(ratios.tasks, 'task')}, "
        f"{amount(ratios.runs, 'run')})."
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


def _of_indexing(
    ratios: Ratios, reference: Indexing | None, compared: Sequence[TrialRecord]
) -> str:
    text = (
        "Indexing is in seconds, the median over swarms. Where it ends before the agents start, it "
        "is in no agent's time."
    )
    if reference and reference.seconds is not None:
        text += f" In {ratios.reference} it took {reference.seconds:.2f} s."
    modes = dict.fromkeys([ratios.reference, *(column.mode for column in ratios.columns)])
    walls = {mode: _median_wall(compared, mode) for mode in modes}
    times = [f"{wall:.2f} s in {mode}" for mode, wall in walls.items() if wall is not None]
    return (
        f"{text} For comparison, the median wall time of an agent: {', '.join(times)}."
        if times
        else text
    )


def _median_wall(compared: Iterable[TrialRecord], mode: str) -> float | None:
    walls = [
        trial.wall_seconds
        for trial in compared
        if trial.mode == mode and trial.wall_seconds is not None
    ]
    return median(walls) if walls else None


def variation(compared: Iterable[TrialRecord], metrics: Iterable[Metric]) -> str:
    """Say which figures differ between the runs of a task in a mode, and which never do."""
    trials, moving, steady = list(compared), list[str](), list[str]()
    for metric in metrics:
        rows = frame(trials, metric)
        repeated = _repeated(rows)
        if any(len(set(cell)) > 1 for cell in repeated):
            moving.append(metric.title)
        elif repeated and all(row.value is not None for row in rows):
            steady.append(metric.title)
    text = "No statistical test was run."
    if not moving and not steady:
        return f"{text} No task was repeated, so nothing shows how far the figures vary by chance."
    if moving:
        text += (
            f" {in_a_row(moving)} varied between repetitions of a task. How far apart two "
            "identical set-ups would be is not measured here; swarm-bench calibrate does that."
        )
    if steady:
        text += (
            f" {in_a_row(steady)} did not vary from run to run: they were the same in all "
            "repetitions of a task. With other tasks the ratios can still be others."
        )
    return text


def _repeated(rows: Frame) -> list[list[float]]:
    """List the values of each task in each mode, where there are several."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row.value is not None:
            values[row.arm, row.case].append(row.value)
    return [several for several in values.values() if len(several) > 1]
