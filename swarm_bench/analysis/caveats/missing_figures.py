"""Figures that only some trials of a mode have, and answers that may say nothing."""

from collections import defaultdict
from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.comparison.compared import values_of
from swarm_bench.analysis.comparison.correctness import figure_of
from swarm_bench.analysis.comparison.pairs import planned_tasks
from swarm_bench.analysis.comparison.quality import (
    hardly_more,
    over_constant,
    recall_by_keys,
)
from swarm_bench.analysis.readings import LINES, column, results_of
from swarm_bench.analysis.statistics.rule import FEWEST
from swarm_bench.analysis.wording import amount, in_a_row, places
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.report.standing import Caveat
from swarm_bench.source.key_measures import ELSEWHERE

_AS_MUCH, _THE_SAME = 0.8, 0.9
"""Shares of what an answer has of its own key, from which on it hardly depends on the question, and
not at all: in a small repository an answer names what other tasks ask for by chance."""


def missing_figures(treated: Treated) -> Iterator[Caveat]:
    """Find figures that only some trials reported: the cheapest ones, perhaps."""
    trials, selection = treated.compared, treated.selection
    titles: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for key, values in values_of(selection, Column(mode=treated.mode)).items():
        without = [n for n, value in enumerate(values) if value is None]
        # That there is no answer, and so no line of one, is said elsewhere.
        if 0 < len(without) < len(trials) and key != "result_lines":
            titles[tuple(without)].append(selection.metrics[key].title)
    for numbers, metrics in titles.items():
        some = f"{len(numbers)} of {amount(len(trials), 'trial')}"
        what = in_a_row(metrics)
        yield Caveat(
            qualification=f"{what[0].lower()}{what[1:]} missing in {some}",
            warning=f"{treated.mode}: {what[0].lower()}{what[1:]} missing in {some} "
            f"{places([trials[n] for n in numbers], selection)}; the ratios are of the others.",
        )


def single_lines(treated: Treated) -> Iterator[Caveat]:
    """Find more one-line answers in a mode than in its reference, or in the reference than in a
    mode: an agent that gives up is cheap."""
    reference, *modes = treated.selection.modes
    others = modes if treated.mode == reference else [reference]
    shares = {
        other: share
        for other in others
        if (share := _single_lines(treated_in(treated.selection, other))) is not None
    }
    share = _single_lines(treated)
    if share is None or not shares or share <= min(shares.values()):
        return
    least = treated_in(treated.selection, min(shares, key=lambda other: shares[other]))
    some = f"{_short(treated)} of {amount(len(treated.compared), 'answer')}"
    there = f"{_short(least)} of {len(least.compared)} in {least.mode}"
    yield Caveat(
        qualification=f"{some} of a single line ({there})",
        warning=f"{treated.mode}: {some} of a single line, and {there}: look whether they are "
        "answers at all.",
    )


def same_text(treated: Treated) -> Iterator[Caveat]:
    """Find a mode in which different tasks got one and the same answer."""
    answered = [trial for trial in treated.compared if trial.answer_digest is not None]
    same = len({trial.answer_digest for trial in answered}) == 1
    tasks = {trial.task_key for trial in answered if same}
    if len(tasks) > 1:
        what = f"every answer was the same text ({amount(len(answered), 'answer')} to "
        what += f"{len(tasks)} different tasks)"
        yield Caveat(
            qualification=what,
            warning=f"{treated.mode}: {what}: look whether it answers all of them.",
            is_void=not treated.ask_the_same(tasks),
        )


def same_names(treated: Treated) -> Iterator[Caveat]:
    """Find a mode whose answers have as much of what other tasks ask for as of what theirs does: a
    list that hardly depends on the question."""
    selection, metric = treated.selection, recall_by_keys(treated.selection)
    experiment = selection.data.experiment
    if metric is None or any(same_text(treated)):  # which says it already
        return
    own, elsewhere = (
        figure_of(selection, treated.mode, each, selection.keyed).value
        for each in (metric, selection.metrics[f"{metric.key}{ELSEWHERE}"])
    )
    if own is None or elsewhere is None:
        return
    taken_off = metric.keyed == "facts"
    has = own + elsewhere if taken_off else own
    if has > experiment.quality_margin and elsewhere >= _AS_MUCH * has:
        what = (
            f"the answers hardly depend on the question: of the {metric.keyed} of their own "
            f"keys they have {has:.2f}, and of those of other tasks {elsewhere:.2f}"
        )
        what += f", which is taken off and leaves {own:.2f}" if taken_off else ""
        yield Caveat(
            qualification=what,
            warning=f"{treated.mode}: {what}.",
            is_void=elsewhere >= _THE_SAME * has
            and len(planned_tasks(selection, metric).ids) >= FEWEST,
        )


def as_good_as_constant(treated: Treated) -> Iterator[Caveat]:
    """Find a mode that found hardly more than an answer that is always the same."""
    selection = treated.selection
    if not selection.is_placebo(treated.mode) and hardly_more(selection, treated.mode):
        more = over_constant(selection, treated.mode)
        how = "less" if more is not None and more < 0 else "hardly more"
        where = "" if how == "less" else " (within --quality-margin)"
        yield Caveat(
            qualification=f"it found {how} than a constant list of what several tasks ask "
            f"for{where}"
        )


def _short(treated: Treated) -> int:
    """Count the answers of a single line."""
    selection, mode = treated.selection, treated.mode
    lines = column(selection, mode, LINES)
    results = results_of(selection, mode)
    return sum(lines[row] is not None and lines[row] <= 1 for row in results)


def _single_lines(treated: Treated) -> float | None:
    """Compute the share of answers of a single line."""
    trials = len(treated.compared)
    return _short(treated) / trials if trials else None
