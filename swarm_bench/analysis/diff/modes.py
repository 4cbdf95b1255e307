"""One mode in two sessions, task by task: the method of a verdict, without the randomisation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from swarm_bench.analysis.answers.contrasts import CHANGES
from swarm_bench.analysis.caveats.kinds import caveats
from swarm_bench.analysis.comparison.compared import TIMES, of_headline
from swarm_bench.analysis.comparison.correctness import found_metrics
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    at_every_look,
    cost_at_worst,
    missing,
    planned_tasks,
    quality_at_worst,
    stopped,
    values_by_task,
)
from swarm_bench.analysis.comparison.quality import judged_by
from swarm_bench.analysis.diff.settings import changes, drift, facts, row, shared_modes
from swarm_bench.analysis.gate.modes import unreliable
from swarm_bench.analysis.losses import doubt
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.contrast import Contrast, is_time
from swarm_bench.analysis.sentences.evidence import decided
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    UNCHANGED,
    Finding,
    answered,
    not_compared,
    too_few_compared,
)
from swarm_bench.analysis.statistics.effects import holm_levels
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases, Pairs, paired
from swarm_bench.analysis.statistics.rule import (
    Change,
    quality_shown,
    ratio_shown,
)
from swarm_bench.analysis.wording import amount, listed, sentence
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.diff import Diff, DiffRow, ModeDiff, Role
from swarm_bench.core.report.document import Answer

_BY_RULES = (
    "Fixed rules and no language model decided what was spent, so that is not compared: only what "
    "was found, and times."
)


@dataclass(frozen=True, eq=False)
class Sessions:
    """Both sides; the first one is the reference."""

    a: Selection
    b: Selection

    def metrics(self) -> Iterator[tuple[Metric, Role]]:
        """Yield what is compared: the primary metric, unless fixed rules decided it, then the
        quality."""
        primary, quality = self._primary(), self.quality()
        if primary:
            yield primary, Role.PRIMARY
        yield quality, Role.QUALITY if primary else Role.PRIMARY
        others = [it for it in (*found_metrics(self.b), *of_headline(self.b)) if it.better]
        for metric in dict.fromkeys(metric.key for metric in others):
            if metric not in (quality.key, primary.key if primary else None):
                yield self.b.metrics[metric], Role.EXPLORATORY

    def _primary(self) -> Metric | None:
        key = self.b.data.experiment.primary
        if key not in self.b.metrics:
            return None
        metric = self.b.metrics[key]
        by_rules = self.a.fixed_rules or self.b.fixed_rules
        return None if metric.spent and by_rules else metric

    def quality(self) -> Metric:
        """Return what the answers of both sessions are judged by."""
        before, after = judged_by(self.a), judged_by(self.b)
        if before and after and before.key == after.key:
            return after
        named = self.b.data.experiment.quality
        return self.b.metrics[named if named and named in self.b.metrics else SUCCESS]

    def pairs(self, mode: str, metric: Metric) -> Pairs:
        """Pair the tasks of a mode."""
        before, after = (values_by_task(side, mode, metric) for side in (self.a, self.b))
        return paired(after, before, self._tasks(metric), relative=metric.relative)

    def _tasks(self, metric: Metric) -> Cases:
        """Return the tasks, which may have been looked at in either session."""
        tasks = planned_tasks(self.b, metric)
        looked = any(map(at_every_look, (self.a, self.b)))
        return replace(tasks, at_every_look=looked)

    def doubt(self, mode: str, metric: Metric) -> str:
        """Say why nothing can be told of a mode: one of the sessions lacks more of its trials."""
        return doubt({"A": missing(self.a, mode, metric), "B": missing(self.b, mode, metric)})

    def contrast(self, mode: str, metric: Metric, level: float) -> Contrast:
        """Contrast a mode in B with itself in A."""
        experiment, pairs = self.b.data.experiment, self.pairs(mode, metric)
        if metric.relative:
            margin = experiment.margin
            shown = ratio_shown(pairs.effect, margin, level)
            return Contrast(metric=metric, pairs=pairs, shown=shown, margin=margin, level=level)
        margin = experiment.quality_margin
        shown = CHANGES[quality_shown(pairs.effect, margin)]
        return Contrast(metric=metric, pairs=pairs, shown=shown, margin=margin, one_sided=True)

    def stands(self, mode: str, contrast: Contrast) -> bool:
        """Tell whether what is shown is shown with lost trials at their worst, too."""
        metric, shown, margin = contrast.metric, contrast.shown, contrast.margin
        sides = (self.b, mode), (self.a, mode)
        if shown is Change.UNCLEAR:
            return True
        if metric.relative:
            worst = cost_at_worst(*sides, metric, shown, self._tasks(metric))
            return all(each.agrees(shown, margin, contrast.level) for each in worst)
        effect = quality_at_worst(*sides, metric, gain=shown is not Change.LOWER)
        return quality_shown(effect, margin) is quality_shown(contrast.effect, margin)

    def but(self, mode: str, contrast: Contrast) -> str:
        """Say in a few words why what is shown does not count; empty where it does."""
        if self.doubt(mode, contrast.metric):
            return "but lost trials could change that"
        if not self.stands(mode, contrast):
            return "but trials that were stopped or lost could change that"
        at_once = contrast.metric.key in TIMES and self.b.data.experiment.at_once > 1
        is_open = contrast.shown is Change.UNCLEAR
        return "but agents that run at once share their delays" if at_once and not is_open else ""


def diff(a: Selection, b: Selection, paths: tuple[Path, Path]) -> Diff:
    """Compare two sessions that nothing forbids to compare."""
    second = b.data.experiment
    return Diff(
        sides=(
            facts(a.data.experiment, paths[0], len(a.trials)),
            facts(second, paths[1], len(b.trials)),
        ),
        common=(
            ("Agent", second.agent.label),
            ("Model", second.model_label),
            ("Tasks", str(second.tasks_asked)),
        ),
        arm="mode",
        case="task",
        changes=changes(a, b),
        caveats=tuple(_caveats(a, b)),
        modes=mode_diffs(Sessions(a, b)),
    )


def _caveats(a: Selection, b: Selection) -> Iterator[str]:
    yield drift("tools")
    for name, side in (("A", a), ("B", b)):
        planned = sum(side.data.planned.values())
        if planned > len(side.trials):
            yield (
                f"{name} is not complete: {planned - len(side.trials)} of {planned} planned trials "
                "have no record; --continue runs them."
            )
    ended = [sum(len(stopped(side, mode)) for mode in side.data.experiment.arms) for side in (a, b)]
    if any(ended):
        yield (
            f"A limit stopped {amount(ended[0], 'trial')} of A and {ended[1]} of B, which would "
            "have taken more: what they spent is too low by that."
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
    shared = shared_modes(a, b)
    alone = [mode for side in (a, b) for mode in side.data.experiment.arms if mode not in shared]
    if alone:
        yield f"Modes of one session alone are not compared: {listed(alone)}."


def mode_diffs(sessions: Sessions) -> tuple[ModeDiff, ...]:
    """Compare the modes that both sessions have."""
    modes = shared_modes(sessions.a, sessions.b)
    barred = {mode: _barred(sessions, mode) for mode in modes}
    levels = _levels(sessions, barred)
    return tuple(
        ModeDiff(
            mode=mode,
            answer=not_compared(mode, barred[mode])
            if barred[mode]
            else _answer(sessions, mode, levels),
            rows=() if barred[mode] else tuple(_rows(sessions, mode, levels)),
            caveats={
                name: caveats(side, mode) for name, side in (("A", sessions.a), ("B", sessions.b))
            },
        )
        for mode in modes
    )


def _barred(sessions: Sessions, mode: str) -> str:
    """Say why a mode cannot be compared; empty where it can."""
    for name, side in (("A", sessions.a), ("B", sessions.b)):
        if why := unreliable(side, mode):
            return f"In {name}, {why[0].lower()}{why[1:]}"
    return ""


def _levels(sessions: Sessions, barred: Mapping[str, str]) -> dict[str, float]:
    """Return the level of each mode's hypothesis, which is on the first metric; one that cannot be
    compared counts too."""
    metric, _ = next(sessions.metrics())
    return holm_levels(
        {
            mode: sessions.pairs(mode, metric).p(holds=not (why or sessions.doubt(mode, metric)))
            for mode, why in barred.items()
        }
    )


def _rows(sessions: Sessions, mode: str, levels: Mapping[str, float]) -> Iterator[DiffRow]:
    for metric, role in sessions.metrics():
        pairs = sessions.pairs(mode, metric)
        if pairs.cases or role is not Role.EXPLORATORY:
            level = levels.get(mode, ALPHA) if role is Role.PRIMARY else ALPHA
            yield row(metric, role, pairs, level, only_sufficient=True)


def _answer(sessions: Sessions, mode: str, levels: Mapping[str, float]) -> Answer:
    """Say what the primary metric and the quality show."""
    (first, _), *others = [it for it in sessions.metrics() if it[1] is not Role.EXPLORATORY]
    pairs = sessions.pairs(mode, first)
    if not pairs.suffice:
        return not_compared(mode, too_few_compared(pairs.asked, len(pairs.cases), "task"))
    contrast = sessions.contrast(mode, first, levels.get(mode, ALPHA))
    but = sessions.but(mode, contrast)
    finding = Finding(
        subject=mode,
        reference="in A",
        claim=_claim(first, Change.UNCLEAR if but else contrast.shown),
        main=contrast,
        beside="" if but else "".join(_beside(sessions, mode, it) for it, _ in others),
        but=but,
    )
    evidence = [decided(contrast, len(levels)), sentence(sessions.doubt(mode, first))]
    evidence += [_decided(sessions, mode, it) for it, _ in others]
    return replace(answered(finding), evidence=" ".join(filter(None, evidence)))


def _claim(metric: Metric, shown: Change) -> str:
    if shown is Change.UNCLEAR:
        return CANNOT_TELL
    if shown is Change.SAME:
        return UNCHANGED if metric.relative else " in B is as good as in A"
    if not metric.relative:
        return f" in B is {'worse' if shown is Change.LOWER else 'better'} than in A"
    less = shown is Change.LOWER
    if is_time(metric):
        return f" in B is {'faster' if less else 'slower'} than in A"
    return f" in B spends {'less' if less else 'more'} than in A"


def _beside(sessions: Sessions, mode: str, quality: Metric) -> str:
    """Say what the quality shows."""
    if not sessions.pairs(mode, quality).suffice:
        return ""
    contrast = sessions.contrast(mode, quality, ALPHA)
    shown = Change.UNCLEAR if sessions.but(mode, contrast) else contrast.shown
    answers = {Change.SAME: "as good", Change.LOWER: "worse", Change.HIGHER: "better"}
    return f", with answers {answers[shown]}" if shown in answers else ""


def _decided(sessions: Sessions, mode: str, quality: Metric) -> str:
    pairs = sessions.pairs(mode, quality)
    if not pairs.suffice:
        few = too_few_compared(pairs.asked, len(pairs.cases), "task")
        return f"{quality.title}: {few}"
    if why := sessions.doubt(mode, quality):
        return f"{quality.title}: nothing can be told, as {why}."
    contrast = sessions.contrast(mode, quality, ALPHA)
    unproved = "" if sessions.stands(mode, contrast) else f" {_UNPROVED}"
    return f"{decided(contrast)}{unproved}"


_UNPROVED = "With lost trials at their worst that is not shown."
