"""The plan of a benchmark whose trials are pairs of an arm and a case: a group for each arm and
run."""

from collections.abc import Iterable

from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import (
    Case,
    CaseExperiment,
    CaseGroup,
    CaseRecord,
    CaseTrial,
)
from swarm_bench.engine.plan import Block, groups_of


def plan_cases(experiment: CaseExperiment) -> tuple[Block[CaseGroup], ...]:
    """Return a block for each run in which an arm is asked, with those in their drawn order."""
    runs = {arm: experiment.runs_of(arm) for arm in experiment.arms}
    asked = (
        (run, tuple(arm for arm in order if run <= runs[arm]))
        for run, order in enumerate(experiment.order, start=1)
    )
    return tuple(
        Block(
            run=run,
            order=order,
            groups=tuple(_group(run, arm, experiment.cases) for arm in order),
        )
        for run, order in asked
        if order
    )


def _group(run: int, arm: str, cases: tuple[Case, ...]) -> CaseGroup:
    trials = tuple(
        CaseTrial(id=stable_id(run, arm, case.id), run=run, arm=arm, case=case, number=number)
        for number, case in enumerate(cases, start=1)
    )
    return CaseGroup(run=run, arm=arm, trials=trials)


def planned_only(experiment: CaseExperiment, records: Iterable[CaseRecord]) -> list[CaseRecord]:
    """Return the records of trials of the plan that say of themselves what the plan says."""
    trials = {
        trial.id: (trial.run, trial.arm, trial.case.id)
        for group in groups_of(plan_cases(experiment))
        for trial in group.trials
    }
    return [
        record
        for record in records
        if trials.get(record.trial) == (record.run, record.arm, record.case)
    ]
