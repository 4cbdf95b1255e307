"""Figures that only some trials of a mode have, metrics and scorers that failed, and answers that
may say nothing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from swarm_bench.analysis.comparison.correctness import compute_figure
from swarm_bench.analysis.comparison.headline_metrics import read_values
from swarm_bench.analysis.comparison.pairs import select_planned_tasks
from swarm_bench.analysis.comparison.quality import (
    find_recall_metric,
    is_near_constant,
    subtract_constant,
)
from swarm_bench.analysis.mode_trials import ModeTrials, get_mode_trials
from swarm_bench.analysis.readings import LINES, read_column, select_results
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.verdict_rule import FEWEST
from swarm_bench.analysis.wording import format_places, join_titles, quantify
from swarm_bench.core.metric import Guarded, Metric
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.standing import Caveat, make_caveat
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.source.key_measures import ELSEWHERE

_AS_MUCH, _THE_SAME = 0.8, 0.9
"""Shares of what an answer has of its own key, from which on it hardly depends on the question, and
not at all: in a small repository an answer names what other tasks ask for by chance."""


def find_missing_figures(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find figures that only some trials reported: the cheapest ones, perhaps."""
    trials, selection = mode_trials.compared_trials, mode_trials.selection
    titles: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for key, values in read_values(selection, Column(mode=mode_trials.mode)).items():
        without = [n for n, value in enumerate(values) if value is None]
        # That there is no answer, and so no line of one, is said elsewhere.
        if 0 < len(without) < len(trials) and key != "result_lines":
            titles[tuple(without)].append(selection.metrics[key].title)
    for numbers, metrics in titles.items():
        count_text = f"{len(numbers)} of {quantify(len(trials), 'trial')}"
        clause = join_titles(metrics)
        yield Caveat(
            qualification=f"{clause[0].lower()}{clause[1:]} missing in {count_text}",
            warning=f"{mode_trials.mode}: {clause[0].lower()}{clause[1:]} missing in {count_text} "
            f"{format_places([trials[n] for n in numbers], selection)}; the ratios are of the "
            f"others.",
        )


def find_single_lines(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find more one-line answers in a mode than in its reference, or in the reference than in a
    mode: an agent that gives up is cheap."""
    reference, *modes = mode_trials.selection.modes
    other_modes = modes if mode_trials.mode == reference else [reference]
    shares = {
        other_mode: share
        for other_mode in other_modes
        if (share := _compute_single_line_share(get_mode_trials(mode_trials.selection, other_mode)))
        is not None
    }
    share = _compute_single_line_share(mode_trials)
    if share is None or not shares or share <= min(shares.values()):
        return
    least = get_mode_trials(
        mode_trials.selection, min(shares, key=lambda other_mode: shares[other_mode])
    )
    count_text = (
        f"{_count_single_lines(mode_trials)} of "
        f"{quantify(len(mode_trials.compared_trials), 'answer')}"
    )
    reference_text = f"{_count_single_lines(least)} of {len(least.compared_trials)} in {least.mode}"
    yield Caveat(
        qualification=f"{count_text} of a single line ({reference_text})",
        warning=f"{mode_trials.mode}: {count_text} of a single line, and {reference_text}: look "
        f"whether they are answers at all.",
    )


def find_same_text(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find a mode in which different tasks got one and the same answer."""
    answered_trials = [
        trial for trial in mode_trials.compared_trials if trial.answer_digest is not None
    ]
    same = len({trial.answer_digest for trial in answered_trials}) == 1
    tasks = {trial.task_key for trial in answered_trials if same}
    if len(tasks) > 1:
        clause = f"every answer was the same text ({quantify(len(answered_trials), 'answer')} to "
        clause += f"{len(tasks)} different tasks)"
        is_void = not mode_trials.has_same_answer(tasks)
        remark = ": look whether it answers all of them."
        yield make_caveat(mode_trials.mode, clause, remark, is_void=is_void)


def find_same_names(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find a mode whose answers have as much of what other tasks ask for as of what their own task
    does: a list that hardly depends on the question."""
    selection, metric = mode_trials.selection, find_recall_metric(mode_trials.selection)
    experiment = selection.data.experiment
    if metric is None or any(find_same_text(mode_trials)):  # which says it already
        return
    own_share, elsewhere = (
        compute_figure(selection, mode_trials.mode, read_metric, selection.keyed_weights).value
        for read_metric in (metric, selection.metrics[f"{metric.key}{ELSEWHERE}"])
    )
    if own_share is None or elsewhere is None:
        return
    taken_off = metric.keyed == "facts"
    has = own_share + elsewhere if taken_off else own_share
    if has > experiment.quality_margin and elsewhere >= _AS_MUCH * has:
        clause = (
            f"the answers hardly depend on the question: of the {metric.keyed} of their own "
            f"keys they have {has:.2f}, and of those of other tasks {elsewhere:.2f}"
        )
        clause += f", which is taken off and leaves {own_share:.2f}" if taken_off else ""
        are_enough = len(select_planned_tasks(selection, metric).ids) >= FEWEST
        is_void = elsewhere >= _THE_SAME * has and are_enough
        yield make_caveat(mode_trials.mode, clause, is_void=is_void)


def find_constant_level(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find a mode that found hardly more than an answer that is always the same."""
    selection = mode_trials.selection
    if not selection.is_placebo(mode_trials.mode) and is_near_constant(selection, mode_trials.mode):
        difference = subtract_constant(selection, mode_trials.mode)
        how = "less" if difference is not None and difference < 0 else "hardly more"
        condition = "" if how == "less" else " (within --quality-margin)"
        yield Caveat(
            qualification=f"it found {how} than a constant list of what several tasks ask "
            f"for{condition}"
        )


def _count_single_lines(mode_trials: ModeTrials) -> int:
    """Count the answers of a single line."""
    selection, mode = mode_trials.selection, mode_trials.mode
    lines = read_column(selection, mode, LINES)
    results = select_results(selection, mode)
    return sum(lines[row] is not None and lines[row] <= 1 for row in results)


def _compute_single_line_share(mode_trials: ModeTrials) -> float | None:
    """Compute the share of answers of a single line."""
    trials = len(mode_trials.compared_trials)
    return _count_single_lines(mode_trials) / trials if trials else None


def find_failed_scorers(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find the scorers that failed on answers of the mode."""
    trials_by_scorer: dict[str, list[TrialRecord]] = defaultdict(list)
    for trial in mode_trials.all:
        for name in trial.score_failures or {}:
            trials_by_scorer[name].append(trial)
    for name, trials in trials_by_scorer.items():
        count_text = f"{len(trials)} of {quantify(len(mode_trials.all), 'trial')}"
        reason = (trials[0].score_failures or {})[name]
        yield Caveat(
            qualification=f"the scorer {name} failed in {count_text}",
            warning=f"{mode_trials.mode}: the scorer {name} failed in {count_text} "
            f"{format_places(trials, mode_trials.selection)}, and its scores are missing there. "
            f"The first says: {reason}",
        )


def describe_failed_metrics(selection: Selection) -> Iterator[str]:
    """Say which metrics of packages are omitted, and which failed on trials or swarms."""
    yield from selection.metrics.omitted
    for metric in selection.metrics:
        yield from describe_failed_trials(metric, selection.trials)
        yield from _describe_failures(metric.key, metric.read_swarm, selection.swarms, "swarm")


def describe_failed_trials(metric: Metric, trials: Sequence[RecordView]) -> Iterator[str]:
    """Say on how many trials a metric of a package failed, if on any."""
    for read in (metric.read, metric.row.read if metric.row else None):
        yield from _describe_failures(metric.key, read, trials, "trial")


def _describe_failures(key: str, read: object, records: Iterable[Any], noun: str) -> Iterator[str]:
    if not isinstance(read, Guarded):
        return
    tried = [read.attempt(record)[1] for record in records]
    clauses = [clause for clause in tried if clause is not None]
    if clauses:
        yield (
            f"The metric {key} failed on {len(clauses)} of {quantify(len(tried), noun)}, and is "
            f"missing there. The first says: {' '.join(clauses[0].split())[:300]}"
        )
