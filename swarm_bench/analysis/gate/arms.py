"""What a session of a benchmark of cases has on limits."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.cases.beforehand import extended
from swarm_bench.analysis.cases.losses import doubts, missing
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.gate.evidence import Evidence, mean_evidence, ratio_evidence
from swarm_bench.analysis.gate.limits import judge_limit
from swarm_bench.analysis.losses import omitted
from swarm_bench.core.report.gate import Bound, Gate, Kind, Limit, State, Verdict


def case_gate(session: CaseSession, limits: Sequence[Limit], bound: Bound) -> Gate:
    """Hold the limits against a session."""
    verdicts = tuple(verdict for limit in limits for verdict in _verdicts(session, limit, bound))
    ratios = any(limit.kind is Kind.MAX_RATIO for limit in limits)
    judged = [verdict.mode for verdict in verdicts if verdict.mode]
    arms = dict.fromkeys([*judged, *(session.references.get(it, it) for it in judged if ratios)])
    return Gate(
        session=session.experiment.session,
        bound=bound,
        verdicts=verdicts,
        caveats={arm: tuple(it for it in session.caveats(arm) if not it.is_void) for arm in arms},
        notes=(*session.warnings, *extended(session)),
    )


def _verdicts(session: CaseSession, limit: Limit, bound: Bound) -> Iterator[Verdict]:
    reference, *others = session.arms
    if limit.kind is Kind.MAX_RATIO:
        others, alone = [it for it in others if it in session.references], []
    else:
        alone = [reference]
    arms = [limit.mode] if limit.mode else others or alone
    for arm in arms:
        verdict = judge_limit(limit, arm, _evidence(session, limit, arm), bound)
        is_open = verdict.state is State.INCONCLUSIVE
        yield replace(verdict, next=session.next_step(verdict.needed) if is_open else None)
    if not arms:
        yield judge_limit(limit, "", Evidence(absent=f"{reference} is the only arm."), bound)


def _evidence(session: CaseSession, limit: Limit, arm: str) -> Evidence:
    metric, is_ratio = session.metrics[limit.metric], limit.kind is Kind.MAX_RATIO
    reference = session.references.get(arm, arm)
    if is_ratio and arm == reference:
        return Evidence(metric=metric, absent=f"{arm} is compared with nothing.")
    sides = [arm, reference] if is_ratio else [arm]
    for side in sides:
        if why := session.excluded(side):
            return Evidence(metric=metric, absent=f"There is no evidence on {side}: {why}.")
    if session.is_by_part(metric):
        absent = "A sum is given by part (results.json has it), and a limit can be on the mean."
        return Evidence(metric=metric, absent=absent)
    cases, noun = session.units(metric), session.noun
    own, *other = (session.unit_figures(side, metric) for side in sides)
    if is_ratio:
        evidence = ratio_evidence(metric, own, other[0], cases, noun)
        evidence = replace(evidence, reference=reference)
    else:
        evidence = mean_evidence(metric, own, cases, noun)
    if why := "" if evidence.absent else doubts({it: (session, it) for it in sides}, metric):
        return replace(evidence, doubt=f"{evidence.doubt} Not to be relied on: {why}.".strip())
    clause = omitted({side: missing(session, side, metric) for side in sides})
    return replace(evidence, caveat=f"{clause}." if clause else "")
