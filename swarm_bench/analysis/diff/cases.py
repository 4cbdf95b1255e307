"""Two sessions of a benchmark of cases: one arm in both, case by case, by the method of a verdict
without the randomisation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from swarm_bench.analysis.cases.losses import doubts, missing
from swarm_bench.analysis.cases.session import CaseSession, in_both
from swarm_bench.analysis.cases.verdicts import primary_metric
from swarm_bench.analysis.diff.settings import differing, drift, facts, row
from swarm_bench.analysis.losses import Part, omitted
from swarm_bench.analysis.sentences.contrast import Contrast
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
from swarm_bench.analysis.statistics.pairing import Pairs, paired
from swarm_bench.analysis.statistics.rule import Change as Shown
from swarm_bench.analysis.statistics.rule import ratio_shown, score_shown
from swarm_bench.analysis.wording import amount, listed, sentence
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.diff import Diff, DiffRow, ModeDiff, Role, SettingChange
from swarm_bench.core.report.document import Answer
from swarm_bench.core.status import Status

_BETTER = {Better.LOWER: Shown.LOWER, Better.HIGHER: Shown.HIGHER}


def case_obstacles(a: CaseSession, b: CaseSession) -> list[str]:
    """Say in a clause each why the sessions cannot be compared; none where they can."""
    return list(_obstacles(a, b))


def case_diff(a: CaseSession, b: CaseSession, paths: tuple[Path, Path]) -> Diff:
    """Compare two sessions that nothing forbids to compare."""
    first, second = a.experiment, b.experiment
    common = [("Benchmark", f"{second.benchmark} {second.benchmark_version}")]
    if b.data:
        common.append(("Data", b.data.name))
    return Diff(
        sides=(facts(first, paths[0], len(a.records)), facts(second, paths[1], len(b.records))),
        common=(*common, ("Cases", str(len(second.cases)))),
        arm="arm",
        case="case",
        changes=(*differing(_settings(a), _settings(b)), *_of_arms(a, b)),
        caveats=tuple(_caveats(a, b)),
        modes=_Sides(a, b).diffs(),
    )


def _obstacles(a: CaseSession, b: CaseSession) -> Iterator[str]:
    first, second = a.experiment, b.experiment
    if first.session == second.session:
        yield "they are the same one"
        return
    versions = [f"{it.benchmark} {it.benchmark_version}" for it in (first, second)]
    if versions[0] != versions[1]:
        yield f"A is of the benchmark {versions[0]}, and B of {versions[1]}"
    sums = [it.data.sha256 if it.data else "" for it in (a, b)]
    if sums[0] != sums[1]:
        yield "the rows of the data set differ"
    if a.rules != b.rules and a.rules and b.rules:
        older = a if max(b.rules) >= max(a.rules) else b
        yield (
            f"the answers of {'A' if older is a else 'B'} were scored by other rules, of another "
            f"version of swarm-bench (swarm-bench rescore {quote(older.folder)})"
        )
    ids = [[case.id for case in it.cases] for it in (first, second)]
    for name, own, other in (("A", ids[0], ids[1]), ("B", ids[1], ids[0])):
        elsewhere = set(other)
        if alone := [case for case in own if case not in elsewhere]:
            yield f"{amount(len(alone), 'case')} in {name} alone ({listed(alone)})"
    if not _shared(a, b):
        yield f"no arm is in both ({listed(first.arms)}; {listed(second.arms)})"


def _shared(a: CaseSession, b: CaseSession) -> list[str]:
    return [arm for arm in b.experiment.arms if arm in a.experiment.arms]


def _settings(session: CaseSession) -> dict[str, Any]:
    experiment = session.experiment
    return {
        "swarm-bench": experiment.versions.get("swarm-bench"),
        "Runs": experiment.runs,
        "Seed": experiment.seed,
        "Primary metric": experiment.primary,
        "Margin": experiment.margin,
        **{f"Machine, {key}": value for key, value in experiment.machine.items()},
        **{f"Property {name}": value for name, value in experiment.properties.items()},
        **session.settings,
    }


def _of_arms(a: CaseSession, b: CaseSession) -> Iterator[SettingChange]:
    """Yield what differs in the arms that both have: who answered."""
    for arm in _shared(a, b):
        yield from differing(a.settings_of(arm), b.settings_of(arm))


def _caveats(a: CaseSession, b: CaseSession) -> Iterator[str]:
    yield drift("arms")
    for name, side in (("A", a), ("B", b)):
        yield from _incomplete(name, side)
    failed = [sum(it.status is Status.AGENT_FAILED for it in side.records) for side in (a, b)]
    if any(failed):
        yield f"{amount(failed[0], 'trial')} of A and {failed[1]} of B failed, and are in no ratio."
    if primary_metric(b) is None:
        yield f"This version has no metric {b.experiment.primary}, so none is the primary one."
    shared = _shared(a, b)
    alone = [arm for side in (a, b) for arm in side.experiment.arms if arm not in shared]
    if alone:
        yield f"Arms of one session alone are not compared: {listed(alone)}."


def _incomplete(name: str, side: CaseSession) -> Iterator[str]:
    """Count the trials that have no record, and those that did not run to their own end."""
    own = side.experiment
    planned = len(own.cases) * sum(map(own.count_runs, own.arms))
    absent = planned - len(side.records)
    broken = sum(not record.conclusive for record in side.records)
    of_all = f"of {amount(planned, 'planned trial')} "
    clauses = [f"{absent} {of_all}{'has' if absent == 1 else 'have'} no record"] if absent else []
    if broken:
        whose = "its" if broken == 1 else "their"
        clauses.append(f"{broken} {'' if absent else of_all}did not run to {whose} own end")
    if clauses:
        yield f"{name} is not complete: {', and '.join(clauses)}; --continue runs them."


@dataclass(frozen=True, eq=False)
class _Sides:
    """Both sessions; the first one is the reference."""

    a: CaseSession
    b: CaseSession

    def diffs(self) -> tuple[ModeDiff, ...]:
        """Compare the arms that both have."""
        arms, primary = _shared(self.a, self.b), primary_metric(self.b)
        tests: dict[str, float] = {}
        for arm in arms if primary else ():
            assert primary
            void = self.a.excluded(arm) or self.b.excluded(arm) or self._doubts(arm, primary)
            tests[arm] = self._pairs(arm, primary).p(holds=not void)
        levels = holm_levels(tests)
        return tuple(self._diff(arm, primary, levels) for arm in arms)

    def _diff(self, arm: str, primary: Metric | None, levels: Mapping[str, float]) -> ModeDiff:
        caveats = {"A": self.a.caveats(arm), "B": self.b.caveats(arm)}
        for name, side in (("A", self.a), ("B", self.b)):
            if why := side.excluded(arm):
                barred = not_compared(arm, f"In {name}, there is no evidence: {why}.")
                return ModeDiff(mode=arm, answer=barred, rows=(), caveats=caveats)
        level = levels.get(arm, ALPHA)
        none = not_compared(arm, "No metric is primary.")
        answer = self._answer(arm, primary, levels) if primary else none
        rows = tuple(self._rows(arm, level))
        return ModeDiff(mode=arm, answer=answer, rows=rows, caveats=caveats)

    def _pairs(self, arm: str, metric: Metric) -> Pairs:
        after, before = in_both((self.b, arm), (self.a, arm), metric)
        return paired(after, before, self.b.asked(metric), relative=metric.relative)

    def _missing(self, arm: str, metric: Metric) -> dict[str, Part]:
        sides = {"A": self.a, "B": self.b}
        return {name: missing(side, arm, metric) for name, side in sides.items()}

    def _doubts(self, arm: str, metric: Metric) -> str:
        return doubts({"A": (self.a, arm), "B": (self.b, arm)}, metric)

    def _rows(self, arm: str, level: float) -> Iterator[DiffRow]:
        primary = primary_metric(self.b)
        others = [it for it in self.b.metrics if it.better and it.is_of_trials and it != primary]
        for metric in (*([primary] if primary else []), *others):
            pairs = self._pairs(arm, metric)
            if pairs.cases:
                role = Role.PRIMARY if metric is primary else Role.EXPLORATORY
                yield row(metric, role, pairs, level if metric is primary else ALPHA)

    def _answer(self, arm: str, metric: Metric, levels: Mapping[str, float]) -> Answer:
        pairs = self._pairs(arm, metric)
        absent = omitted(self._missing(arm, metric))
        counted = f"{absent}." if absent else ""
        if not pairs.suffice:
            why = too_few_compared(pairs.asked, len(pairs.cases), "case")
            return replace(not_compared(arm, why), evidence=counted)
        why, margin = self._doubts(arm, metric), self.b.experiment.margin
        level = levels.get(arm, ALPHA)
        shown = ratio_shown if metric.relative else score_shown
        contrast = Contrast(
            metric=metric,
            pairs=pairs,
            shown=shown(pairs.effect, margin, level),
            margin=margin,
            level=level,
            case="case",
        )
        assert metric.better
        claims = {Shown.SAME: UNCHANGED, Shown.UNCLEAR: CANNOT_TELL}
        better = _BETTER[metric.better] is contrast.shown
        claim = claims.get(contrast.shown, f" in B is {'better' if better else 'worse'} than in A")
        finding = Finding(
            subject=arm,
            reference="in A",
            claim=CANNOT_TELL if why else claim,
            main=contrast,
            but="but lost trials could change that" if why else "",
        )
        clause = sentence(why) if why else counted
        return replace(
            answered(finding), evidence=f"{decided(contrast, len(levels))} {clause}".rstrip()
        )
