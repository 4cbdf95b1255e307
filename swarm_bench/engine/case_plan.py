"""The plan of a benchmark whose trials are pairs of an arm and a case: a group for each arm and
run."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from swarm_bench.core.session.base import Case, CaseExperiment
from swarm_bench.engine.plan import Block


@dataclass(frozen=True, kw_only=True)
class CaseTrial:
    """One case in one arm in one run."""

    id: str
    run: int
    arm: str
    case: Case
    number: int
    """Of the case, from 1."""


@dataclass(frozen=True, kw_only=True)
class CaseGroup:
    """The cases of one arm in one run."""

    run: int
    arm: str
    trials: tuple[CaseTrial, ...]

    def without(self, finished: Collection[str]) -> "CaseGroup":
        """Return the group with the trials that are still to run."""
        trials = tuple(trial for trial in self.trials if trial.id not in finished)
        return replace(self, trials=trials)


@dataclass(frozen=True, kw_only=True)
class CaseJob:
    """A group as it is given to be run: plain data."""

    group: CaseGroup
    properties: dict[str, Any]
    """Those of the benchmark, resolved."""


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
        CaseTrial(id=_stable_id(run, arm, case.id), run=run, arm=arm, case=case, number=number)
        for number, case in enumerate(cases, start=1)
    )
    return CaseGroup(run=run, arm=arm, trials=trials)


def _stable_id(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]
