"""How ratios are to be read, in sentences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from swarm_bench.analysis.comparison.indexing import indexing
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


def explained(selection: Selection, found: Headline, *, warned: bool) -> Headline:
    """With what must be known beside its ratios, and how they are to be read."""
    if found.ratios is None:
        beside = ["the warnings below"] if warned else []
        return replace(found, remark=_proof(found, beside))
    ratios = replace(found.ratios, indexing=_indexing_row(selection, found.ratios.columns))
    beside = ["that", *(["the warnings below"] if warned else [])]
    parts = [NO_KEYS, BY_RULES if selection.fixed_rules else "", _proof(found, beside)]
    legend = tuple(_legend(ratios, selection, all_used=found.all_used))
    return replace(
        found, remark=" ".join(filter(None, parts)), ratios=replace(ratios, legend=legend)
    )


def _indexing_row(selection: Selection, columns: Iterable[Column]) -> IndexingRow | None:
    cells = tuple(indexing(selection, column.mode) for column in columns)
    metric = selection.metrics["index_seconds"]
    return IndexingRow(metric=metric, cells=cells) if any(cells) else None


def _proof(found: Headline, beside: Sequence[str]) -> str:
    """That nothing speaks against the use of the tools, beside what is said elsewhere; empty where
    something does."""
    if not found.standings or found.qualified:
        return ""
    none = f"Apart from {' and '.join(beside)}, there" if beside else "There"
    text = f"{none} are no caveats: every trial was connected and used the tool, "
    if not found.agreeing:
        return f"{text}as the agents show it (the tool has no counters to compare)."
    if not found.uncounted:
        return f"{text}and the witnesses agree."
    return (
        f"{text}and the witnesses agree; for {', '.join(found.uncounted)} that is as the agents "
        "show it (no counters to compare there)."
    )


def _legend(found: Ratios, selection: Selection, *, all_used: bool) -> Iterator[str]:
    compared = in_ratios(selection, found.columns)
    yield f"{_of_ratios(found)} {_of_columns(found, all_used)}"
    if found.indexing:
        yield _of_indexing(found, indexing(selection, found.reference), compared)
    yield variation(compared, [row.metric for row in found.rows])


def _of_ratios(found: Ratios) -> str:
    reference = found.reference
    each = (
        f"Below 1× is less than {reference}. For each task, the median over its trials in the "
        f"mode is divided by that in {reference}"
    )
    if found.tasks == 1:
        return f"{each} (1 task, {amount(found.runs, 'run')})."
    return (
        f"{each}; shown is the median over tasks, and in brackets the range of tasks: the lowest "
        f"and the highest, not a confidence interval ({amount(found.tasks, 'task')}, "
        f"{amount(found.runs, 'run')})."
    )


def _of_columns(found: Ratios, all_used: bool) -> str:
    if all_used:
        return (
            "Every trial used its mode's tool, so the figures are the same as assigned and as used."
        )
    text = "The figures are as assigned: all trials, whether they used a tool or not."
    if not any(column.as_used for column in found.columns):
        return text
    against = "also of" if found.reference_as_used else "against all of"
    return (
        f'{text} "As used" has only the trials that used the tool, {against} {found.reference}: '
        "which ones those are was the agents' choice and not chance, so it can mislead."
    )


def _of_indexing(found: Ratios, reference: Indexing | None, compared: Sequence[TrialRecord]) -> str:
    text = (
        "Indexing is in seconds, the median over swarms. Where it ends before the agents start, it "
        "is in no agent's time."
    )
    if reference and reference.seconds is not None:
        text += f" In {found.reference} it took {reference.seconds:.2f} s."
    modes = dict.fromkeys([found.reference, *(column.mode for column in found.columns)])
    walls = {mode: _median_wall(compared, mode) for mode in modes}
    times = [f"{wall:.2f} s in {mode}" for mode, wall in walls.items() if wall is not None]
    return (
        f"{text} For comparison, the median wall time of an agent: {', '.join(times)}."
        if times
        else text
    )


def _median_wall(compared: Iterable[TrialRecord], mode: str) -> float | None:
    known = [
        trial.wall_seconds
        for trial in compared
        if trial.mode == mode and trial.wall_seconds is not None
    ]
    return median(known) if known else None


def variation(compared: Iterable[TrialRecord], metrics: Iterable[Metric]) -> str:
    """Which figures differ between the runs of a task in a mode, and which never do."""
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
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row.value is not None:
            found[row.arm, row.case].append(row.value)
    return [several for several in found.values() if len(several) > 1]
