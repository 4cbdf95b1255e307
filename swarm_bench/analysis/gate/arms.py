"""What a session of a benchmark of cases has on limits."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.frame import by_case, frame
from swarm_bench.analysis.gate.evidence import ByCase, Evidence, mean_evidence, ratio_evidence
from swarm_bench.analysis.gate.limits import judge_limit
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.gate import Bound, Gate, Kind, Limit, Verdict
from swarm_bench.core.session.retrieving import PLAIN, RetrieveExperiment


def case_gate(session: CaseSession, limits: Sequence[Limit], bound: Bound) -> Gate:
    """Hold the limits against a session."""
    return Gate(
        session=session.experiment.session,
        bound=bound,
        verdicts=tuple(verdict for limit in limits for verdict in _verdicts(session, limit, bound)),
        notes=session.warnings,
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
    units = _units(session)
    cases, noun = tuple(dict.fromkeys(units.values())), _noun(session)
    if limit.kind is not Kind.MAX_RATIO:
        return mean_evidence(metric, _figures(session, arm, metric), cases, noun)
    sides = (arm, arms_of(session)[0])
    own, reference = (_figures(session, side, metric) for side in sides)
    return ratio_evidence(metric, own, reference, cases, noun)


def _figures(session: CaseSession, arm: str, metric: Metric) -> ByCase:
    """Group the figures of an arm. A trial that failed spent little, and is no saving."""
    runs = range(1, session.experiment.runs + 1)
    measured = [record for run in runs for record in session.measured.get((arm, run), ())]
    records = session.compared(arm) if metric.relative else measured
    grouped: dict[str, list[float]] = defaultdict(list)
    units = _units(session)
    for case, values in by_case(frame(records, metric)).items():
        grouped[units[case]] += values
    return grouped


def _units(session: CaseSession) -> dict[str, str]:
    """Return what is the unit of the analysis, by case: the forms of a question share a task."""
    experiment = session.experiment
    if isinstance(experiment, RetrieveExperiment):
        return {case.id: task.id for case, task, _ in experiment.questions()}
    return {case.id: case.id for case in experiment.cases}


def _noun(session: CaseSession) -> str:
    return "task" if isinstance(session.experiment, RetrieveExperiment) else "case"
