"""Whether a mode found as much as the reference, and so whether spending less is a gain."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from swarm_bench.analysis.comparison.correctness import (
    constant_as_long,
    correctness,
    figure_of,
)
from swarm_bench.analysis.comparison.pairs import (
    RECALLS,
    Compared,
    compared,
    judged,
    values_by_task,
)
from swarm_bench.analysis.once import once
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.analysis.wording import amount, listed, lowered
from swarm_bench.core.metric import Metric
from swarm_bench.core.session.tasks import DONE_ALREADY, HARD
from swarm_bench.source.key_measures import ELSEWHERE

NO_KEYS = (
    "Correctness was not measured: the tasks have no answer keys, so lower figures alone are no "
    "gain. swarm-bench tasks make derives tasks with keys from a repository."
)
_UNSCORED = (
    "Correctness was not measured: the tasks have answer keys, and no answer has been scored by "
    "them; swarm-bench rescore does that."
)
_READ = (
    "What was found is over {tasks}: a trial without an answer counts as 0, and one that was lost "
    "to the harness or the provider is left out."
)
_PRECISION = "file_precision"
_EASY = 0.95
JUDGED_BY = RECALLS


@dataclass(frozen=True, kw_only=True)
class QualityEstimate:
    """A mode against the reference, over the tasks that both have."""

    metric: Metric
    own: float
    reference: float
    margin: float

    @property
    def is_less(self) -> bool:
        return round(self.reference - self.own, 9) > self.margin

    @property
    def is_more(self) -> bool:
        return round(self.own - self.reference, 9) > self.margin


@once
def quality(selection: Selection, mode: str, reference: str) -> QualityEstimate | None:
    """Compare what two modes found; `None` where nothing tells."""
    metric = judged_by(selection)
    if metric is None:
        return None
    pairs = compared(selection, mode, metric, reference).pairs
    if not pairs.cases:
        return None
    return QualityEstimate(
        metric=metric,
        own=pairs.own_mean,
        reference=pairs.reference_mean,
        margin=selection.data.experiment.quality_margin,
    )


def found_less(selection: Selection, modes: Iterable[str]) -> frozenset[str]:
    """Name the modes that found less than the reference, beyond the margin."""
    reference = selection.modes[0]
    qualities = {mode: quality(selection, mode, reference) for mode in modes}
    return frozenset(mode for mode, against in qualities.items() if against and against.is_less)


def compared_with_reference(selection: Selection, mode: str) -> str:
    """Say what is worse in what a mode found; empty for the reference, and without keys."""
    reference = selection.modes[0]
    against = None if mode == reference else quality(selection, mode, reference)
    if against is None:
        return ""
    if not against.is_less:
        return _less_precise(selection, mode, against.margin)
    if selection.fixed_rules:  # the verdict is on what was found alone
        return ""
    return (
        f"Found less than {reference} by more than --quality-margin, as far as the estimate "
        "goes, so spending less is not a saving."
    )


def _less_precise(selection: Selection, mode: str, margin: float) -> str:
    """Say that more of what the mode names is wrong; empty where it is not."""
    metric = selection.metrics[_PRECISION]
    sides = (mode, selection.modes[0])
    own, other = (figure_of(selection, side, metric, selection.keyed).value for side in sides)
    if own is None or other is None or round(other - own, 9) <= margin:
        return ""
    return f"Its answers are less precise ({own:.2f} against {other:.2f})."


def about_correctness(selection: Selection) -> Iterator[str]:
    """Say what the figures on correctness cover, or why there are none."""
    if not selection.keyed:
        yield NO_KEYS
    elif correctness(selection) is None:
        yield unscored(selection)
    else:
        yield _READ.format(tasks=_how_many(selection))
        yield from _others(selection)
        yield from _unopposed(selection)
        yield from _difficulty(selection)


def _how_many(selection: Selection) -> str:
    tasks = [task for task in selection.keyed_tasks if task.id in selection.keyed]
    hard = sum(HARD in task.tags for task in tasks)
    return f"{amount(len(tasks), 'task')}{f' ({hard} of them tagged hard)' if hard else ''}"


def unscored(selection: Selection) -> str:
    """Say why no answer was compared with its key."""
    reasons = [trial.missing_scores or {} for trial in selection.trials]
    whys = {each[key] for each in reasons for key in JUDGED_BY if key in each}
    return f"Correctness was not measured: {listed(sorted(whys))}." if whys else _UNSCORED


def about_unpaired(compared: Compared, but: Collection[str] = ()) -> Iterator[str]:
    """Name the tasks that are not compared, but for some."""
    pairs = compared.pairs
    title = lowered(compared.metric.title)
    if unpaired := [task for task in pairs.unpaired if task not in but]:
        tasks, verb = amount(len(unpaired), "task"), "has" if len(unpaired) == 1 else "have"
        yield f"{tasks} {verb} no {title} in one of the two modes ({listed(unpaired)})."
    if zeros := len(pairs.zeros):
        verb = "has" if zeros == 1 else "have"
        yield f"{amount(zeros, 'task')} {verb} {title} of 0, to which there is no ratio."


def about_unjudged(
    selection: Selection, mode: str, cost: Compared, quality: Compared
) -> Iterator[str]:
    """Name the tasks that only the cost is compared in, by why."""
    key, unpaired = quality.metric.key, quality.pairs.unpaired
    if not set(unpaired) - set(cost.pairs.unpaired):
        return
    reasons = {
        trial.task_key: trial.missing_scores[key]
        for side in (mode, selection.modes[0])
        for trial in judged(selection, side)
        if trial.task_key in unpaired and trial.missing_scores and key in trial.missing_scores
    }
    for why in dict.fromkeys(reasons.values()):
        tasks = [task for task in unpaired if reasons.get(task) == why]
        some = f"{amount(len(tasks), 'task')} cannot be judged by {lowered(quality.metric.title)}"
        yield f"{some}: {why} ({listed(tasks)})."
    yield from about_unpaired(quality, reasons)


def any_judged(selection: Selection) -> bool:
    """Tell whether any trial of a task with a key counts; where none does, the verdict says why."""
    return any(judged(selection, mode) for mode in selection.modes)


def _others(selection: Selection) -> Iterator[str]:
    """Count the tasks that are not in the figures."""
    keyed = selection.keyed_tasks
    if apart := len(keyed) - len(selection.keyed):
        verb, whose = ("is", "its") if apart == 1 else ("are", "their")
        tagged = f"{amount(apart, 'further task')} {verb} tagged {DONE_ALREADY}"
        yield f"{tagged}: {whose} figures stand apart below."
    elif all(DONE_ALREADY in task.tags for task in keyed):
        yield f"All of them are tagged {DONE_ALREADY}."
    if without := sum(task.key is None for task in selection.data.experiment.tasks):
        verb = "has" if without == 1 else "have"
        yield f"{amount(without, 'further task')} {verb} no answer key and cannot be judged."


def _unopposed(selection: Selection) -> Iterator[str]:
    """Say that the facts were scored by a version that did not look at those of other tasks."""
    scores = [trial.scores or {} for trial in selection.trials]
    if any("fact_share" in each and f"fact_share{ELSEWHERE}" not in each for each in scores):
        yield (
            "Answers that match the facts of other tasks too were scored as right, by an earlier "
            "version; swarm-bench rescore takes that off where it can read the answers again."
        )


def over_constant(selection: Selection, mode: str) -> float | None:
    """Compute how much more a mode found, of what answers are judged by, than an answer that is
    always the same and names what several questions ask for; `None` where there is no such
    answer."""
    recall = recall_by_keys(selection)
    if recall is None or not (part := recall.keyed):
        return None
    own = figure_of(selection, mode, recall, selection.keyed).value
    same = constant_as_long(selection, mode, part)
    return round(own - same, 9) if own is not None and same else None


def hardly_more(selection: Selection, mode: str) -> bool:
    """Tell whether that is no more than the margin of the quality."""
    more = over_constant(selection, mode)
    return more is not None and more <= selection.data.experiment.quality_margin


def _difficulty(selection: Selection) -> Iterator[str]:
    """Say that the tasks tell nothing apart: all modes found everything, or nothing."""
    metric = judged_by(selection)
    modes = [mode for mode in selection.modes if not selection.is_placebo(mode)]
    if metric is None or len(modes) < 2 or not _enough(selection, metric):
        return
    shares = [figure_of(selection, mode, metric, selection.keyed).value for mode in modes]
    if all(share is not None and share >= _EASY for share in shares):
        apart = {task.id: task.weight for task in selection.keyed_tasks}.items()
        others = dict(apart - selection.keyed.items())
        differ = {figure_of(selection, mode, metric, others).value for mode in modes if others}
        yield (
            f"Every mode reached {_EASY:g}: the tasks are too easy to tell the modes apart by what "
            f"they find{f', but those that are {DONE_ALREADY} are not' if len(differ) > 1 else ''}."
        )
    if all(share == 0 for share in shares):
        yield (
            "No mode found anything: read an answer, and check the keys with swarm-bench tasks "
            "check."
        )


def _enough(selection: Selection, metric: Metric) -> bool:
    """Tell whether the modes have answers to enough tasks for what is said of all of them."""
    least = min(len(_tasks_with(selection, mode, metric)) for mode in selection.modes)
    return least >= LEAST_PAIRED * len(selection.keyed)


def judged_by(selection: Selection) -> Metric | None:
    """Return the metric by which answers are judged; `None` where nothing tells, and where another
    quality was named."""
    named = selection.data.experiment.quality
    metrics = selection.metrics.named(JUDGED_BY)
    if named:
        metrics = tuple(m for m in selection.metrics if m.key == named and m.keyed)
    for metric in metrics:
        if any(_tasks_with(selection, mode, metric) for mode in selection.modes):
            return metric
    return None


def recall_by_keys(selection: Selection) -> Metric | None:
    """Return how much of their keys answers are held to have, whatever quality was named: that of
    the same part of the keys, where answers have it."""
    quality = judged_by(selection)
    measured = [
        metric
        for metric in selection.metrics.named(JUDGED_BY)
        if any(_tasks_with(selection, mode, metric) for mode in selection.modes)
    ]
    same = (metric for metric in measured if quality and metric.keyed == quality.keyed)
    return next(same, measured[0] if measured else None)


@once
def _tasks_with(selection: Selection, mode: str, metric: Metric) -> frozenset[str]:
    """Return the tasks that the mode has the figure of."""
    return frozenset(values_by_task(selection, mode, metric))
