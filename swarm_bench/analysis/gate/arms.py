"""What a session of a benchmark of cases has on limits."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.cases.beforehand import extended
from swarm_bench.analysis.cases.caveats import arm_caveats, no_arm_evidence
from swarm_bench.analysis.cases.losses import doubts, missing
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.verdicts import again, with_more
from swarm_bench.analysis.gate.evidence import Evidence, mean_evidence, ratio_evidence
from swarm_bench.analysis.gate.limits import judge_limit
from swarm_bench.analysis.losses import omitted
from swarm_bench.analysis.sentences.next_steps import with_tasks
from swarm_bench.analysis.statistics.pairing import Cases, Figures, cases_of
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.document import Step
from swarm_bench.core.report.gate import Bound, Gate, Kind, Limit, State, Verdict
from swarm_bench.core.session.retrieving import PLAIN, RetrieveExperiment


def case_gate(session: CaseSession, limits: Sequence[Limit], bound: Bound) -> Gate:
    """Hold the limits against a session."""
    verdicts = tuple(verdict for limit in limits for verdict in _verdicts(session, limit, bound))
    ratios = any(limit.kind is Kind.MAX_RATIO for limit in limits)
    judged = [verdict.mode for verdict in verdicts if verdict.mode]
    arms = dict.fromkeys([*judged, *(_reference(session, it) for it in judged if ratios)])
    return Gate(
        session=session.experiment.session,
        bound=bound,
        verdicts=verdicts,
        caveats={
            arm: tuple(it for it in arm_caveats(session, arm) if not it.is_void) for arm in arms
        },
        notes=(*session.warnings, *extended(session.experiment)),
    )


def arms_of(session: CaseSession) -> tuple[str, ...]:
    """Name the arms, first what the others are compared with: the plain search, if it is there."""
    arms = session.experiment.arms
    if isinstance(session.experiment, RetrieveExperiment) and PLAIN in arms:
        return PLAIN, *(arm for arm in arms if arm != PLAIN)
    return arms


def _reference(session: CaseSession, arm: str) -> str:
    """Name what an arm is compared with; itself where it is with nothing."""
    if isinstance(session.experiment, RetrieveExperiment):
        return arms_of(session)[0]
    return session.references.get(arm, arm)


def _verdicts(session: CaseSession, limit: Limit, bound: Bound) -> Iterator[Verdict]:
    reference, *others = arms_of(session)
    if limit.kind is Kind.MAX_RATIO:
        others, alone = [it for it in others if _reference(session, it) != it], []
    else:
        alone = [reference]
    arms = [limit.mode] if limit.mode else others or alone
    for arm in arms:
        verdict = judge_limit(limit, arm, _evidence(session, limit, arm), bound)
        yield replace(verdict, next=_next(session, verdict))
    if not arms:
        yield judge_limit(limit, "", Evidence(absent=f"{reference} is the only arm."), bound)


def _next(session: CaseSession, verdict: Verdict) -> Step | None:
    """Advise what gives what is missing; `None` where nothing is, or nothing does."""
    if verdict.state is not State.INCONCLUSIVE:
        return None
    experiment = session.experiment
    if not isinstance(experiment, RetrieveExperiment):
        return with_more(session, verdict.needed) if verdict.needed else again(session)
    return with_tasks(verdict.needed, experiment) if verdict.needed else None


def _evidence(session: CaseSession, limit: Limit, arm: str) -> Evidence:
    metric = session.metrics[limit.metric]
    reference = _reference(session, arm)
    if limit.kind is Kind.MAX_RATIO and arm == reference:
        return Evidence(metric=metric, absent=f"{arm} is compared with nothing.")
    for side in [arm, reference] if limit.kind is Kind.MAX_RATIO else [arm]:
        if why := no_arm_evidence(session, side):
            return Evidence(metric=metric, absent=f"There is no evidence on {side}: {why}.")
    if session.is_by_part(metric):
        absent = "A sum is given by part (results.json has it), and a limit can be on the mean."
        return Evidence(metric=metric, absent=absent)
    cases, noun = _cases(session, metric), _noun(session)
    own = _figures(session, arm, metric)
    if limit.kind is not Kind.MAX_RATIO:
        return _weighed(session, mean_evidence(metric, own, cases, noun), metric, (arm,))
    evidence = ratio_evidence(metric, own, _figures(session, reference, metric), cases, noun)
    evidence = replace(evidence, reference=reference)
    return _weighed(session, evidence, metric, (arm, reference))


def _weighed(
    session: CaseSession, evidence: Evidence, metric: Metric, sides: Sequence[str]
) -> Evidence:
    """Count the trials that are not in a figure of one arm or two, and doubt it for too many."""
    absent = {side: missing(session, side, metric) for side in sides}
    if why := "" if evidence.absent else doubts({it: (session, it) for it in sides}, metric):
        return replace(evidence, doubt=f"{evidence.doubt} Not to be relied on: {why}.".strip())
    clause = omitted(absent)
    return replace(evidence, caveat=f"{clause}." if clause else "")


def _figures(session: CaseSession, arm: str, metric: Metric) -> Figures:
    """Group the figures of an arm by what is the unit of the analysis: the forms of a question
    share a task."""
    figures = session.figures(arm, metric)
    if not isinstance(session.experiment, RetrieveExperiment):
        return figures
    grouped: dict[str, list[float]] = defaultdict(list)
    for case, task, _ in session.experiment.questions():
        grouped[task.id] += figures.get(case.id, [])
    return grouped


def _cases(session: CaseSession, metric: Metric) -> Cases:
    if not isinstance(session.experiment, RetrieveExperiment):
        return session.asked(metric)
    return cases_of(session.experiment.tasks, session.experiment.repository.clean_commit)


def _noun(session: CaseSession) -> str:
    return "task" if isinstance(session.experiment, RetrieveExperiment) else "case"
