"""One mode in two sessions, task by task: the method of a verdict, without the randomisation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from swarm_bench.analysis.caveats.kinds import list_caveats
from swarm_bench.analysis.comparison.answer_evidence import CHANGES
from swarm_bench.analysis.comparison.correctness import list_found_metrics
from swarm_bench.analysis.comparison.headline_metrics import TIMES, list_headline_metrics
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    compare_cost_at_worst,
    compare_quality_at_worst,
    count_missing,
    group_metric,
    is_at_every_look,
    list_stopped,
    select_planned_tasks,
)
from swarm_bench.analysis.comparison.quality import find_quality_metric
from swarm_bench.analysis.diff.settings import (
    list_changes,
    list_shared_modes,
    make_facts,
    make_row,
    warn_drift,
)
from swarm_bench.analysis.gate.modes import explain_unreliable
from swarm_bench.analysis.losses import explain_doubt
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.contrast import Contrast, is_time
from swarm_bench.analysis.sentences.evidence import describe_decision
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    UNCHANGED,
    Finding,
    answer_not_compared,
    explain_too_few_compared,
    make_answer,
)
from swarm_bench.analysis.statistics.effects import compute_holm_levels
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases, Pairs, pair_figures
from swarm_bench.analysis.statistics.verdict_rule import Change, classify_quality, classify_ratio
from swarm_bench.analysis.wording import list_few, make_sentence, quantify
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.diff import Diff, DiffRow, ModeDiff, Role
from swarm_bench.core.report.document import Answer, Fact

_BY_RULES = (
    "Fixed rules and no language model decided what was spent, so that is not compared: only what "
    "was found, and times."
)


@dataclass(frozen=True, eq=False)
class Sessions:
    """Both sides; the first one is the reference."""

    a: Selection
    b: Selection

    def list_metrics(self) -> Iterator[tuple[Metric, Role]]:
        """Yield what is compared: the primary metric, unless fixed rules decided it, then the
        quality."""
        primary, quality = self._find_primary(), self.find_quality()
        if primary:
            yield primary, Role.PRIMARY
        yield quality, Role.QUALITY if primary else Role.PRIMARY
        other_metrics = [
            metric
            for metric in (*list_found_metrics(self.b), *list_headline_metrics(self.b))
            if metric.better
        ]
        for metric in dict.fromkeys(metric.key for metric in other_metrics):
            if metric not in (quality.key, primary.key if primary else None):
                yield self.b.metrics[metric], Role.EXPLORATORY

    def _find_primary(self) -> Metric | None:
        metric = self.b.metrics.get(self.b.data.experiment.primary)
        by_rules = self.a.fixed_rules or self.b.fixed_rules
        return None if metric and metric.spent and by_rules else metric

    def find_quality(self) -> Metric:
        """Return what the answers of both sessions are judged by."""
        old_metric, new_metric = find_quality_metric(self.a), find_quality_metric(self.b)
        if old_metric and new_metric and old_metric.key == new_metric.key:
            return new_metric
        return self.b.metrics.get(self.b.data.experiment.quality) or self.b.metrics[SUCCESS]

    def pair_tasks(self, mode: str, metric: Metric) -> Pairs:
        """Pair the tasks of a mode."""
        old_values, new_values = (group_metric(side, mode, metric) for side in (self.a, self.b))
        return pair_figures(
            new_values, old_values, self._select_tasks(metric), relative=metric.relative
        )

    def _select_tasks(self, metric: Metric) -> Cases:
        """Return the tasks, which may have been looked at in either session."""
        tasks = select_planned_tasks(self.b, metric)
        looked = any(map(is_at_every_look, (self.a, self.b)))
        return replace(tasks, at_every_look=looked)

    def explain_uncertainty(self, mode: str, metric: Metric) -> str:
        """Say why nothing can be told of a mode: one of the sessions lacks more of its trials."""
        return explain_doubt(
            {"A": count_missing(self.a, mode, metric), "B": count_missing(self.b, mode, metric)}
        )

    def make_contrast(self, mode: str, metric: Metric, level: float) -> Contrast:
        """Contrast a mode in B with itself in A."""
        experiment, pairs = self.b.data.experiment, self.pair_tasks(mode, metric)
        if metric.relative:
            margin = experiment.margin
            change = classify_ratio(pairs.effect, margin, level)
            return Contrast(metric=metric, pairs=pairs, change=change, margin=margin, level=level)
        margin = experiment.quality_margin
        change = CHANGES[classify_quality(pairs.effect, margin)]
        return Contrast(metric=metric, pairs=pairs, change=change, margin=margin, one_sided=True)

    def stands(self, mode: str, contrast: Contrast) -> bool:
        """Tell whether what is shown is shown with lost trials at their worst, too."""
        metric, change, margin = contrast.metric, contrast.change, contrast.margin
        sides = (self.b, mode), (self.a, mode)
        if change is Change.UNCLEAR:
            return True
        if metric.relative:
            worst = compare_cost_at_worst(*sides, metric, change, self._select_tasks(metric))
            return all(comparison.agrees(change, margin, contrast.level) for comparison in worst)
        effect = compare_quality_at_worst(*sides, metric, gain=change is not Change.LOWER)
        return classify_quality(effect, margin) is classify_quality(contrast.effect, margin)

    def explain_discount(self, mode: str, contrast: Contrast) -> str:
        """Say in a few words why what is shown does not count; empty where it does."""
        if self.explain_uncertainty(mode, contrast.metric):
            return "but lost trials could change that"
        if not self.stands(mode, contrast):
            return "but trials that were stopped or lost could change that"
        at_once = contrast.metric.key in TIMES and self.b.data.experiment.at_once > 1
        is_open = contrast.change is Change.UNCLEAR
        return "but agents that run at once share their delays" if at_once and not is_open else ""


def make_diff(a: Selection, b: Selection, paths: tuple[Path, Path]) -> Diff:
    """Compare two sessions that nothing forbids to compare."""
    second = b.data.experiment
    return Diff(
        sides=(
            make_facts("A", a.data.experiment, paths[0], len(a.trials)),
            make_facts("B", second, paths[1], len(b.trials)),
        ),
        common=(
            Fact(label="Agent", value=second.agent.label),
            Fact(label="Model", value=second.model_label),
            Fact(label="Tasks", value=str(second.tasks_asked)),
        ),
        arm="mode",
        case="task",
        changes=list_changes(a, b),
        caveats=tuple(_list_caveats(a, b)),
        modes=make_mode_diffs(Sessions(a, b)),
    )


def _list_caveats(a: Selection, b: Selection) -> Iterator[str]:
    yield warn_drift("tools")
    for name, side in (("A", a), ("B", b)):
        planned = sum(side.data.planned.values())
        if planned > len(side.trials):
            yield (
                f"{name} is not complete: {planned - len(side.trials)} of {planned} planned trials "
                "have no record; --continue runs them."
            )
    stopped_counts = [
        sum(len(list_stopped(side, mode)) for mode in side.data.experiment.arms) for side in (a, b)
    ]
    if any(stopped_counts):
        yield (
            f"A limit stopped {quantify(stopped_counts[0], 'trial')} of A and {stopped_counts[1]} "
            f"of B, which would have taken more: what they spent is too low by that."
        )
    if a.fixed_rules or b.fixed_rules:
        yield _BY_RULES
    if max(side.data.experiment.at_once for side in (a, b)) > 1:
        yield (
            "Agents that ran at the same time share their delays, so the intervals of times are "
            "too narrow."
        )
    versions = [side.data.experiment.agent.version for side in (a, b)]
    if versions == [None, None]:
        yield "The agent gives no version, so it may have changed between A and B."
    key = b.data.experiment.primary
    if key not in b.metrics:
        yield f"This version has no metric {key}, so nothing is compared as the primary one."
    shared = list_shared_modes(a, b)
    unshared = [mode for side in (a, b) for mode in side.data.experiment.arms if mode not in shared]
    if unshared:
        yield f"Modes of one session alone are not compared: {list_few(unshared)}."


def make_mode_diffs(sessions: Sessions) -> tuple[ModeDiff, ...]:
    """Compare the modes that both sessions have."""
    modes = list_shared_modes(sessions.a, sessions.b)
    reasons = {mode: _explain_exclusion(sessions, mode) for mode in modes}
    levels = _compute_levels(sessions, reasons)
    return tuple(
        ModeDiff(
            mode=mode,
            answer=answer_not_compared(mode, reasons[mode])
            if reasons[mode]
            else _make_answer(sessions, mode, levels),
            rows=() if reasons[mode] else tuple(_make_rows(sessions, mode, levels)),
            caveats={
                name: list_caveats(side, mode)
                for name, side in (("A", sessions.a), ("B", sessions.b))
            },
        )
        for mode in modes
    )


def _explain_exclusion(sessions: Sessions, mode: str) -> str:
    """Say why a mode cannot be compared; empty where it can."""
    for name, side in (("A", sessions.a), ("B", sessions.b)):
        if reason := explain_unreliable(side, mode):
            return f"In {name}, {reason[0].lower()}{reason[1:]}"
    return ""


def _compute_levels(sessions: Sessions, reasons: Mapping[str, str]) -> dict[str, float]:
    """Return the level of each mode's hypothesis, which is on the first metric; one that cannot be
    compared counts too."""
    metric, _ = next(sessions.list_metrics())
    return compute_holm_levels(
        {
            mode: sessions.pair_tasks(mode, metric).compute_p(
                holds=not (reason or sessions.explain_uncertainty(mode, metric))
            )
            for mode, reason in reasons.items()
        }
    )


def _make_rows(sessions: Sessions, mode: str, levels: Mapping[str, float]) -> Iterator[DiffRow]:
    for metric, role in sessions.list_metrics():
        pairs = sessions.pair_tasks(mode, metric)
        if pairs.cases or role is not Role.EXPLORATORY:
            level = levels.get(mode, ALPHA) if role is Role.PRIMARY else ALPHA
            yield make_row(metric, role, pairs, level, only_sufficient=True)


def _make_answer(sessions: Sessions, mode: str, levels: Mapping[str, float]) -> Answer:
    """Say what the primary metric and the quality show."""
    (first, _), *other_metrics = [
        entry for entry in sessions.list_metrics() if entry[1] is not Role.EXPLORATORY
    ]
    pairs = sessions.pair_tasks(mode, first)
    if not pairs.suffice:
        return answer_not_compared(
            mode, explain_too_few_compared(pairs.total_cases, len(pairs.cases), "task")
        )
    contrast = sessions.make_contrast(mode, first, levels.get(mode, ALPHA))
    but = sessions.explain_discount(mode, contrast)
    finding = Finding(
        subject=mode,
        reference="in A",
        claim=_choose_claim(first, Change.UNCLEAR if but else contrast.change),
        main=contrast,
        addition=""
        if but
        else "".join(_describe_quality(sessions, mode, metric) for metric, _ in other_metrics),
        but=but,
    )
    evidence = [
        describe_decision(contrast, len(levels)),
        make_sentence(sessions.explain_uncertainty(mode, first)),
    ]
    evidence += [_describe_contrast(sessions, mode, metric) for metric, _ in other_metrics]
    return replace(make_answer(finding), evidence=" ".join(filter(None, evidence)))


def _choose_claim(metric: Metric, change: Change) -> str:
    if change is Change.UNCLEAR:
        return CANNOT_TELL
    if change is Change.SAME:
        return UNCHANGED if metric.relative else " in B is as good as in A"
    if not metric.relative:
        return f" in B is {'worse' if change is Change.LOWER else 'better'} than in A"
    less = change is Change.LOWER
    if is_time(metric):
        return f" in B is {'faster' if less else 'slower'} than in A"
    return f" in B spends {'less' if less else 'more'} than in A"


def _describe_quality(sessions: Sessions, mode: str, quality: Metric) -> str:
    """Say what the quality shows."""
    if not sessions.pair_tasks(mode, quality).suffice:
        return ""
    contrast = sessions.make_contrast(mode, quality, ALPHA)
    change = Change.UNCLEAR if sessions.explain_discount(mode, contrast) else contrast.change
    answers = {Change.SAME: "as good", Change.LOWER: "worse", Change.HIGHER: "better"}
    return f", with answers {answers[change]}" if change in answers else ""


def _describe_contrast(sessions: Sessions, mode: str, quality: Metric) -> str:
    pairs = sessions.pair_tasks(mode, quality)
    if not pairs.suffice:
        few = explain_too_few_compared(pairs.total_cases, len(pairs.cases), "task")
        return f"{quality.title}: {few}"
    if reason := sessions.explain_uncertainty(mode, quality):
        return f"{quality.title}: nothing can be told, as {reason}."
    contrast = sessions.make_contrast(mode, quality, ALPHA)
    unproved = "" if sessions.stands(mode, contrast) else f" {_UNPROVED}"
    return f"{describe_decision(contrast)}{unproved}"


_UNPROVED = "With lost trials at their worst that is not shown."
