"""The plan of a benchmark whose trials are pairs of an arm and a case: a group for each arm and
run."""

from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import (
    Case,
    CaseExperiment,
    CaseGroup,
    CaseRecord,
    CaseTrial,
)
from swarm_bench.engine.plan import Block


def plan_cases(experiment: CaseExperiment) -> tuple[Block[CaseGroup], ...]:
    """Return a block for each run, with the arms in their drawn order."""
    return tuple(
        Block(
            run=run,
            order=order,
            groups=tuple(_group(run, arm, experiment.cases) for arm in order),
        )
        for run, order in enumerate(experiment.order, start=1)
    )


def _group(run: int, arm: str, cases: tuple[Case, ...]) -> CaseGroup:
    trials = tuple(
        CaseTrial(id=stable_id(run, arm, case.id), run=run, arm=arm, case=case, number=number)
        for number, case in enumerate(cases, start=1)
    )
    return CaseGroup(run=run, arm=arm, trials=trials)


def is_planned(experiment: CaseExperiment, record: CaseRecord) -> bool:
    """Tell whether a record is of a trial of the plan, and says of itself what the plan says."""
    return (
        record.run <= len(experiment.order)
        and record.arm in experiment.arms
        and record.trial == stable_id(record.run, record.arm, record.case)
        and record.case in {case.id for case in experiment.cases}
    )
