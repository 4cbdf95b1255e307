"""What a session of a benchmark of cases has on limits."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.cases.beforehand import describe_extension
from swarm_bench.analysis.cases.losses import count_missing, explain_doubts
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.gate.evidence import Evidence, make_mean_evidence, make_ratio_evidence
from swarm_bench.analysis.gate.limits import judge_limit
from swarm_bench.analysis.losses import describe_omitted
from swarm_bench.core.report.gate import Bound, Gate, Kind, Limit, State, Verdict


def make_case_gate(session: CaseSession, limits: Sequence[Limit], bound: Bound) -> Gate:
    """Hold the limits against a session."""
    verdicts = tuple(verdict for limit in limits for verdict in _judge_arms(session, limit, bound))
    ratios = any(limit.kind is Kind.MAX_RATIO for limit in limits)
    limited_arms = [verdict.mode for verdict in verdicts if verdict.mode]
    arms = dict.fromkeys(
        [
            *limited_arms,
            *(session.references.get(arm_name, arm_name) for arm_name in limited_arms if ratios),
        ]
    )
    return Gate(
        session=session.experiment.session,
        bound=bound,
        verdicts=verdicts,
        caveats={
            arm: tuple(caveat for caveat in session.caveats(arm) if not caveat.is_void)
            for arm in arms
        },
        notes=(*session.warnings, *describe_extension(session)),
    )


def _judge_arms(session: CaseSession, limit: Limit, bound: Bound) -> Iterator[Verdict]:
    reference, *other_arms = session.arms
    if limit.kind is Kind.MAX_RATIO:
        other_arms, fallback = (
            [other_arm for other_arm in other_arms if other_arm in session.references],
            [],
        )
    else:
        fallback = [reference]
    arms = [limit.mode] if limit.mode else other_arms or fallback
    for arm in arms:
        verdict = judge_limit(limit, arm, _collect_evidence(session, limit, arm), bound)
        is_open = verdict.state is State.INCONCLUSIVE
        yield replace(verdict, next=session.advise_next_step(verdict.needed) if is_open else None)
    if not arms:
        yield judge_limit(limit, "", Evidence(absent=f"{reference} is the only arm."), bound)


def _collect_evidence(session: CaseSession, limit: Limit, arm: str) -> Evidence:
    metric, is_ratio = session.metrics[limit.metric], limit.kind is Kind.MAX_RATIO
    reference = session.references.get(arm, arm)
    if is_ratio and arm == reference:
        return Evidence(metric=metric, absent=f"{arm} is compared with nothing.")
    sides = [arm, reference] if is_ratio else [arm]
    for side in sides:
        if reason := session.explain_exclusion(side):
            return Evidence(metric=metric, absent=f"There is no evidence on {side}: {reason}.")
    if session.is_by_part(metric):
        absent = "A sum is given by part (results.json has it), and a limit can be on the mean."
        return Evidence(metric=metric, absent=absent)
    cases, noun = session.select_units(metric), session.noun
    figures, *reference_figures = (session.group_unit_figures(side, metric) for side in sides)
    if is_ratio:
        evidence = make_ratio_evidence(metric, figures, reference_figures[0], cases, noun)
        evidence = replace(evidence, reference=reference)
    else:
        evidence = make_mean_evidence(metric, figures, cases, noun)
    if (
        reason := ""
        if evidence.absent
        else explain_doubts({side_name: (session, side_name) for side_name in sides}, metric)
    ):
        return replace(
            evidence, uncertainty=f"{evidence.uncertainty} Not to be relied on: {reason}.".strip()
        )
    clause = describe_omitted({side: count_missing(session, side, metric) for side in sides})
    return replace(evidence, caveat=f"{clause}." if clause else "")
