"""Whether a mode found as much as the reference, and so whether spending less is a gain."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.comparison.correctness import (
    compute_constant_as_long,
    compute_correctness,
    compute_figure,
)
from swarm_bench.analysis.comparison.pairs import (
    RECALLS,
    MetricPairs,
    group_metric,
    list_judged,
    pair_metric,
)
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.analysis.wording import list_few, lowercase, quantify
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


@dataclass(frozen=True, kw_only=True)
class QualityEstimate:
    """A mode against the reference, over the tasks that both have."""

    metric: Metric
    mode_value: float
    reference_value: float
    margin: float

    @property
    def is_less(self) -> bool:
        return round(self.reference_value - self.mode_value, 9) > self.margin

    @property
    def is_more(self) -> bool:
        return round(self.mode_value - self.reference_value, 9) > self.margin


@once
def estimate_quality(selection: Selection, mode: str, reference: str) -> QualityEstimate | None:
    """Compare what two modes found; `None` where nothing tells."""
    metric = find_quality_metric(selection)
    if metric is None:
        return None
    pairs = pair_metric(selection, mode, metric, reference).pairs
    if not pairs.cases:
        return None
    return QualityEstimate(
        metric=metric,
        mode_value=pairs.arm_mean,
        reference_value=pairs.reference_mean,
        margin=selection.data.experiment.quality_margin,
    )


def find_less(selection: Selection, modes: Iterable[str]) -> frozenset[str]:
    """Name the modes that found less than the reference, beyond the margin."""
    reference = selection.modes[0]
    qualities = {mode: estimate_quality(selection, mode, reference) for mode in modes}
    return frozenset(mode for mode, against in qualities.items() if against and against.is_less)


def describe_loss(selection: Selection, mode: str) -> str:
    """Say what is worse in what a mode found; empty for the reference, and without keys."""
    reference = selection.modes[0]
    against = None if mode == reference else estimate_quality(selection, mode, reference)
    if against is None:
        return ""
    if not against.is_less:
        return _describe_precision(selection, mode, against.margin)
    if selection.fixed_rules:  # the verdict is on what was found alone
        return ""
    return (
        f"Found less than {reference} by more than --quality-margin, as far as the estimate "
        "goes, so spending less is not a saving."
    )


def _describe_precision(selection: Selection, mode: str, margin: float) -> str:
    """Say that more of what the mode names is wrong; empty where it is not."""
    metric = selection.metrics[_PRECISION]
    sides = (mode, selection.modes[0])
    mode_value, reference_value = (
        compute_figure(selection, side, metric, selection.keyed_weights).value for side in sides
    )
    if (
        mode_value is None
        or reference_value is None
        or round(reference_value - mode_value, 9) <= margin
    ):
        return ""
    return f"Its answers are less precise ({mode_value:.2f} against {reference_value:.2f})."


def describe_correctness(selection: Selection) -> Iterator[str]:
    """Say what the figures on correctness cover, or why there are none."""
    if not selection.keyed_weights:
        yield NO_KEYS
    elif compute_correctness(selection) is None:
        yield explain_unscored(selection)
    else:
        yield _READ.format(tasks=_count_tasks(selection))
        yield from _count_others(selection)
        yield from _warn_older_scores(selection)
        yield from _describe_difficulty(selection)


def _count_tasks(selection: Selection) -> str:
    planned_tasks = [task for task in selection.keyed_tasks if task.id in selection.keyed_weights]
    task_ids = {trial.task_key for trial in selection.trials}
    tasks = [task for task in planned_tasks if task.id in task_ids]
    hard = sum(HARD in task.tags for task in tasks)
    part = f"{len(tasks)} of " if len(tasks) < len(planned_tasks) else ""
    tagged = f" ({hard} of them tagged hard)" if hard else ""
    return f"{part}{quantify(len(planned_tasks), 'task')}{tagged}"


def explain_unscored(selection: Selection) -> str:
    """Say why no answer was compared with its key."""
    reasons = [trial.missing_scores or {} for trial in selection.trials]
    explanations = {
        trial_reasons[key] for trial_reasons in reasons for key in RECALLS if key in trial_reasons
    }
    return (
        f"Correctness was not measured: {list_few(sorted(explanations))}."
        if explanations
        else _UNSCORED
    )


def describe_unpaired(metric_pairs: MetricPairs, but: Collection[str] = ()) -> Iterator[str]:
    """Name the tasks that are not compared, but for some."""
    pairs = metric_pairs.pairs
    title = lowercase(metric_pairs.metric.title)
    if unpaired := [task for task in pairs.unpaired if task not in but]:
        tasks, verb = quantify(len(unpaired), "task"), "has" if len(unpaired) == 1 else "have"
        yield f"{tasks} {verb} no {title} in one of the two modes ({list_few(unpaired)})."
    if zeros := len(pairs.zeros):
        verb = "has" if zeros == 1 else "have"
        yield f"{quantify(zeros, 'task')} {verb} {title} of 0, to which there is no ratio."


def describe_unjudged(
    selection: Selection, mode: str, cost: MetricPairs, quality: MetricPairs
) -> Iterator[str]:
    """Name the tasks that only the cost is compared in, by why."""
    key, unpaired = quality.metric.key, quality.pairs.unpaired
    if not set(unpaired) - set(cost.pairs.unpaired):
        return
    reasons = {
        trial.task_key: trial.missing_scores[key]
        for side in (mode, selection.modes[0])
        for trial in list_judged(selection, side)
        if trial.task_key in unpaired and trial.missing_scores and key in trial.missing_scores
    }
    for reason in dict.fromkeys(reasons.values()):
        tasks = [task for task in unpaired if reasons.get(task) == reason]
        clause = (
            f"{quantify(len(tasks), 'task')} cannot be judged by {lowercase(quality.metric.title)}"
        )
        yield f"{clause}: {reason} ({list_few(tasks)})."
    yield from describe_unpaired(quality, reasons)


def has_judged(selection: Selection) -> bool:
    """Tell whether any trial of a task with a key counts; where none does, the verdict says why."""
    return any(list_judged(selection, mode) for mode in selection.modes)


def _count_others(selection: Selection) -> Iterator[str]:
    """Count the tasks that are not in the figures."""
    keyed = selection.keyed_tasks
    if other_count := len(keyed) - len(selection.keyed_weights):
        verb, whose = ("is", "its") if other_count == 1 else ("are", "their")
        clause = f"{quantify(other_count, 'further task')} {verb} tagged {DONE_ALREADY}"
        yield f"{clause}: {whose} figures stand apart below."
    elif all(DONE_ALREADY in task.tags for task in keyed):
        yield f"All of them are tagged {DONE_ALREADY}."
    if without := sum(task.key is None for task in selection.data.experiment.tasks):
        verb = "has" if without == 1 else "have"
        yield f"{quantify(without, 'further task')} {verb} no answer key and cannot be judged."


def _warn_older_scores(selection: Selection) -> Iterator[str]:
    """Say that the facts were scored by a version that did not look at those of other tasks."""
    scores = [trial.scores or {} for trial in selection.trials]
    if any(
        "fact_share" in trial_scores and f"fact_share{ELSEWHERE}" not in trial_scores
        for trial_scores in scores
    ):
        yield (
            "Answers that match the facts of other tasks too were scored as right, by an earlier "
            "version; swarm-bench rescore takes that off where it can read the answers again."
        )


def subtract_constant(selection: Selection, mode: str) -> float | None:
    """Compute how much more a mode found, of what answers are judged by, than an answer that is
    always the same and names what several questions ask for; `None` where there is no such
    answer."""
    recall = find_recall_metric(selection)
    if recall is None or not (part := recall.keyed):
        return None
    share = compute_figure(selection, mode, recall, selection.keyed_weights).value
    same = compute_constant_as_long(selection, mode, part)
    return round(share - same, 9) if share is not None and same else None


def is_near_constant(selection: Selection, mode: str) -> bool:
    """Tell whether that is no more than the margin of the quality."""
    difference = subtract_constant(selection, mode)
    return difference is not None and difference <= selection.data.experiment.quality_margin


def _describe_difficulty(selection: Selection) -> Iterator[str]:
    """Say that the tasks tell nothing apart: all modes found everything, or nothing."""
    metric = find_quality_metric(selection)
    modes = [mode for mode in selection.modes if not selection.is_placebo(mode)]
    if metric is None or len(modes) < 2 or not _has_enough(selection, metric):
        return
    shares = [
        compute_figure(selection, mode, metric, selection.keyed_weights).value for mode in modes
    ]
    if all(share is not None and share >= _EASY for share in shares):
        all_weights = {task.id: task.weight for task in selection.keyed_tasks}.items()
        other_weights = dict(all_weights - selection.keyed_weights.items())
        differ = {
            compute_figure(selection, mode, metric, other_weights).value
            for mode in modes
            if other_weights
        }
        has_placebos = len(modes) < len(selection.modes)
        every_mode = "Every mode but the placebo" if has_placebos else "Every mode"
        exception = f", but those that are {DONE_ALREADY} are not" if len(differ) > 1 else ""
        yield (
            f"{every_mode} reached {_EASY:g}: the tasks are too easy to tell the modes apart by "
            f"what they find{exception}."
        )
    if all(share == 0 for share in shares):
        yield (
            "No mode found anything: read an answer, and check the keys with swarm-bench tasks "
            "check."
        )


def _has_enough(selection: Selection, metric: Metric) -> bool:
    """Tell whether the modes have answers to enough tasks for what is said of all of them."""
    least = min(len(_find_tasks_with(selection, mode, metric)) for mode in selection.modes)
    return least >= LEAST_PAIRED * len(selection.keyed_weights)


def find_quality_metric(selection: Selection) -> Metric | None:
    """Return the metric by which answers are judged; `None` where nothing tells, and where another
    quality was named."""
    metric_key = selection.data.experiment.quality
    metrics = selection.metrics.named(RECALLS)
    if metric_key:
        metrics = tuple(m for m in selection.metrics if m.key == metric_key and m.keyed)
    for metric in metrics:
        if any(_find_tasks_with(selection, mode, metric) for mode in selection.modes):
            return metric
    return None


def find_recall_metric(selection: Selection) -> Metric | None:
    """Return how much of their keys answers are held to have, whatever quality was named: that of
    the same part of the keys, where answers have it."""
    quality = find_quality_metric(selection)
    candidates = [
        metric
        for metric in selection.metrics.named(RECALLS)
        if any(_find_tasks_with(selection, mode, metric) for mode in selection.modes)
    ]
    same = (metric for metric in candidates if quality and metric.keyed == quality.keyed)
    return next(same, candidates[0] if candidates else None)


@once
def _find_tasks_with(selection: Selection, mode: str, metric: Metric) -> frozenset[str]:
    """Return the tasks that the mode has the figure of."""
    return frozenset(group_metric(selection, mode, metric))
