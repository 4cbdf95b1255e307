"""Two sessions of a benchmark of cases: one arm in both, case by case, by the method of a verdict
without the randomisation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from swarm_bench.analysis.cases.losses import count_missing, explain_doubts
from swarm_bench.analysis.cases.session import CaseSession, read_common_figures
from swarm_bench.analysis.cases.verdicts import find_primary_metric
from swarm_bench.analysis.diff.settings import list_differences, make_facts, make_row, warn_drift
from swarm_bench.analysis.losses import Part, describe_omitted
from swarm_bench.analysis.sentences.contrast import make_contrast
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
from swarm_bench.analysis.statistics.pairing import Pairs, pair_figures
from swarm_bench.analysis.statistics.verdict_rule import Change as Shown
from swarm_bench.analysis.wording import list_few, make_sentence, quantify
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.diff import Diff, DiffRow, ModeDiff, Role, SettingChange
from swarm_bench.core.report.document import Answer, Fact
from swarm_bench.core.session.base import count_machines
from swarm_bench.core.status import Status

_BETTER = {Better.LOWER: Shown.LOWER, Better.HIGHER: Shown.HIGHER}


def list_case_obstacles(a: CaseSession, b: CaseSession) -> list[str]:
    """Say in a clause each why the sessions cannot be compared; none where they can."""
    return list(_find_obstacles(a, b))


def make_case_diff(a: CaseSession, b: CaseSession, paths: tuple[Path, Path]) -> Diff:
    """Compare two sessions that nothing forbids to compare."""
    first, second = a.experiment, b.experiment
    benchmark = f"{second.benchmark} {second.benchmark_version}"
    common = [Fact(label="Benchmark", value=benchmark)]
    if b.data:
        common.append(Fact(label="Data", value=b.data.name))
    return Diff(
        sides=(
            make_facts("A", first, paths[0], len(a.records)),
            make_facts("B", second, paths[1], len(b.records)),
        ),
        common=(*common, Fact(label="Cases", value=str(len(second.cases)))),
        arm="arm",
        case="case",
        changes=(*list_differences(_read_settings(a), _read_settings(b)), *_compare_arms(a, b)),
        caveats=tuple(_list_caveats(a, b)),
        modes=_Sides(a, b).make_diffs(),
    )


def _find_obstacles(a: CaseSession, b: CaseSession) -> Iterator[str]:
    first, second = a.experiment, b.experiment
    if first.session == second.session:
        yield "they are the same one"
        return
    versions = [
        f"{experiment.benchmark} {experiment.benchmark_version}" for experiment in (first, second)
    ]
    if versions[0] != versions[1]:
        yield f"A is of the benchmark {versions[0]}, and B of {versions[1]}"
    sums = [session.data.sha256 if session.data else "" for session in (a, b)]
    if sums[0] != sums[1]:
        yield "the rows of the data set differ"
    if a.rules != b.rules and a.rules and b.rules:
        older = a if max(b.rules) >= max(a.rules) else b
        yield (
            f"the answers of {'A' if older is a else 'B'} were scored by other rules, of another "
            f"version of swarm-bench (swarm-bench rescore {quote(older.folder)})"
        )
    ids = [[case.id for case in experiment.cases] for experiment in (first, second)]
    for name, case_ids, other_ids in (("A", ids[0], ids[1]), ("B", ids[1], ids[0])):
        other_set = set(other_ids)
        if missing_cases := [case for case in case_ids if case not in other_set]:
            yield (
                f"{quantify(len(missing_cases), 'case')} in {name} alone "
                f"({list_few(missing_cases)})"
            )
    if not _list_shared(a, b):
        yield f"no arm is in both ({list_few(first.arms)}; {list_few(second.arms)})"


def _list_shared(a: CaseSession, b: CaseSession) -> list[str]:
    return [arm for arm in b.experiment.arms if arm in a.experiment.arms]


def _read_settings(session: CaseSession) -> dict[str, Any]:
    experiment = session.experiment
    return {
        "swarm-bench": experiment.versions.get("swarm-bench"),
        "Runs": experiment.runs,
        "Seed": experiment.seed,
        "Primary metric": experiment.primary,
        "Margin": experiment.margin,
        **{f"Machine, {key}": value for key, value in experiment.machine.items()},
        "Nodes": count_machines(experiment.nodes.values()) or "none",
        **{f"Property {name}": value for name, value in experiment.properties.items()},
        **session.settings,
    }


def _compare_arms(a: CaseSession, b: CaseSession) -> Iterator[SettingChange]:
    """Yield what differs in the arms that both have: who answered."""
    for arm in _list_shared(a, b):
        yield from list_differences(a.read_settings(arm), b.read_settings(arm))


def _list_caveats(a: CaseSession, b: CaseSession) -> Iterator[str]:
    yield warn_drift("arms")
    for name, side in (("A", a), ("B", b)):
        yield from _describe_missing(name, side)
    failed = [
        sum(record.status is Status.AGENT_FAILED for record in side.records) for side in (a, b)
    ]
    if any(failed):
        yield (
            f"{quantify(failed[0], 'trial')} of A and {failed[1]} of B failed, and are in no ratio."
        )
    if find_primary_metric(b) is None:
        yield f"This version has no metric {b.experiment.primary}, so none is the primary one."
    shared = _list_shared(a, b)
    unshared = [arm for side in (a, b) for arm in side.experiment.arms if arm not in shared]
    if unshared:
        yield f"Arms of one session alone are not compared: {list_few(unshared)}."


def _describe_missing(name: str, side: CaseSession) -> Iterator[str]:
    """Count the trials that have no record, and those that did not run to their own end."""
    experiment = side.experiment
    planned = len(experiment.cases) * sum(map(experiment.count_runs, experiment.arms))
    absent = planned - len(side.records)
    broken = sum(not record.conclusive for record in side.records)
    of_all = f"of {quantify(planned, 'planned trial')} "
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

    def make_diffs(self) -> tuple[ModeDiff, ...]:
        """Compare the arms that both have."""
        arms, primary = _list_shared(self.a, self.b), find_primary_metric(self.b)
        tests: dict[str, float] = {}
        for arm in arms if primary else ():
            assert primary
            void = (
                self.a.explain_exclusion(arm)
                or self.b.explain_exclusion(arm)
                or self._explain_doubts(arm, primary)
            )
            tests[arm] = self._pair(arm, primary).compute_p(holds=not void)
        levels = compute_holm_levels(tests)
        return tuple(self._make_diff(arm, primary, levels) for arm in arms)

    def _make_diff(self, arm: str, primary: Metric | None, levels: Mapping[str, float]) -> ModeDiff:
        caveats = {"A": self.a.caveats(arm), "B": self.b.caveats(arm)}
        for name, side in (("A", self.a), ("B", self.b)):
            if reason := side.explain_exclusion(arm):
                no_answer = answer_not_compared(arm, f"In {name}, there is no evidence: {reason}.")
                return ModeDiff(mode=arm, answer=no_answer, rows=(), caveats=caveats)
        level = levels.get(arm, ALPHA)
        none = answer_not_compared(arm, "No metric is primary.")
        answer = self._make_answer(arm, primary, levels) if primary else none
        rows = tuple(self._make_rows(arm, level))
        return ModeDiff(mode=arm, answer=answer, rows=rows, caveats=caveats)

    def _pair(self, arm: str, metric: Metric) -> Pairs:
        new_figures, old_figures = read_common_figures((self.b, arm), (self.a, arm), metric)
        return pair_figures(
            new_figures, old_figures, self.b.select_cases(metric), relative=metric.relative
        )

    def _count_missing(self, arm: str, metric: Metric) -> dict[str, Part]:
        sides = {"A": self.a, "B": self.b}
        return {name: count_missing(side, arm, metric) for name, side in sides.items()}

    def _explain_doubts(self, arm: str, metric: Metric) -> str:
        return explain_doubts({"A": (self.a, arm), "B": (self.b, arm)}, metric)

    def _make_rows(self, arm: str, level: float) -> Iterator[DiffRow]:
        primary = find_primary_metric(self.b)
        other_metrics = [
            metric
            for metric in self.b.metrics
            if metric.better and metric.is_of_trials and metric != primary
        ]
        for metric in (*([primary] if primary else []), *other_metrics):
            pairs = self._pair(arm, metric)
            if pairs.cases:
                role = Role.PRIMARY if metric is primary else Role.EXPLORATORY
                yield make_row(metric, role, pairs, level if metric is primary else ALPHA)

    def _make_answer(self, arm: str, metric: Metric, levels: Mapping[str, float]) -> Answer:
        pairs = self._pair(arm, metric)
        absent = describe_omitted(self._count_missing(arm, metric))
        omission = f"{absent}." if absent else ""
        if not pairs.suffice:
            reason = explain_too_few_compared(pairs.total_cases, len(pairs.cases), "case")
            return replace(answer_not_compared(arm, reason), evidence=omission)
        reason, margin = self._explain_doubts(arm, metric), self.b.experiment.margin
        level = levels.get(arm, ALPHA)
        contrast = make_contrast(metric, pairs, margin, level)
        assert metric.better
        claims = {Shown.SAME: UNCHANGED, Shown.UNCLEAR: CANNOT_TELL}
        better = _BETTER[metric.better] is contrast.change
        claim = claims.get(contrast.change, f" in B is {'better' if better else 'worse'} than in A")
        finding = Finding(
            subject=arm,
            reference="in A",
            claim=CANNOT_TELL if reason else claim,
            main=contrast,
            but="but lost trials could change that" if reason else "",
        )
        clause = make_sentence(reason) if reason else omission
        return replace(
            make_answer(finding),
            evidence=f"{describe_decision(contrast, len(levels))} {clause}".rstrip(),
        )
