"""What a session of a benchmark of cases has on limits."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from swarm_bench.analysis.cases.beforehand import edited, extended
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.gate.evidence import Evidence, mean_evidence, ratio_evidence
from swarm_bench.analysis.gate.limits import judge_limit
from swarm_bench.analysis.statistics.pairing import Cases, Figures
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.gate import Bound, Gate, Kind, Limit, Verdict
from swarm_bench.core.session.retrieving import PLAIN, RetrieveExperiment


def case_gate(session: CaseSession, limits: Sequence[Limit], bound: Bound) -> Gate:
    """Hold the limits against a session."""
    return Gate(
        session=session.experiment.session,
        bound=bound,
        verdicts=tuple(verdict for limit in limits for verdict in _verdicts(session, limit, bound)),
        notes=(*session.warnings, *extended(session.experiment)),
    )


def arms_of(session: CaseSession) -> tuple[str, ...]:
    """Name the arms, first what the others are compared with: the plain search, if it is there."""
    arms = session.experiment.arms
    if isinstance(session.experiment, RetrieveExperiment) and PLAIN in arms:
        return PLAIN, *(arm for arm in arms if arm != PLAIN)
    return arms


def _verdicts(session: CaseSession, limit: Limit, bound: Bound) -> Iterator[Verdict]:
    reference, *others = arms_of(session)
    alone = [reference] if limit.kind is not Kind.MAX_RATIO else []
    arms = [limit.mode] if limit.mode else others or alone
    for arm in arms:
        yield judge_limit(limit, arm, _evidence(session, limit, arm), bound)
    if not arms:
        yield judge_limit(limit, "", Evidence(absent=f"{reference} is the only arm."), bound)


def _evidence(session: CaseSession, limit: Limit, arm: str) -> Evidence:
    metric = session.metrics[limit.metric]
    if session.changed:
        absent = "The records are not to be relied on: they were changed after they were written."
        return Evidence(metric=metric, absent=absent)
    if why := next(edited(session.experiment), ""):
        return Evidence(metric=metric, absent=why)
    cases, noun = _cases(session), _noun(session)
    if limit.kind is not Kind.MAX_RATIO:
        return mean_evidence(metric, _figures(session, arm, metric), cases, noun)
    sides = (arm, arms_of(session)[0])
    own, reference = (_figures(session, side, metric) for side in sides)
    return ratio_evidence(metric, own, reference, cases, noun)


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


def _cases(session: CaseSession) -> Cases:
    if not isinstance(session.experiment, RetrieveExperiment):
        return session.cases
    weights = {task.id: task.weight for task in session.experiment.tasks}
    return Cases(ids=tuple(weights), weights=weights)


def _noun(session: CaseSession) -> str:
    return "task" if isinstance(session.experiment, RetrieveExperiment) else "case"
