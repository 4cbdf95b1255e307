"""After which trials a session of models need not continue."""

from dataclasses import dataclass

from swarm_bench.benchmarks.cases.budget import Budget
from swarm_bench.core.errors import (
    ModelFailed,
    NoCredit,
    NotAuthorized,
    SwarmBenchError,
    WrongAddress,
)
from swarm_bench.core.session.cases import CaseRecord, CaseTrial
from swarm_bench.core.status import Cause


@dataclass(frozen=True, kw_only=True)
class Ending:
    """Says of each trial whether the session ends with it."""

    fail_fast: bool = False
    """Whether any trial that fails ends it; a wrong answer is no failure."""
    budget: Budget | None = None

    async def admit(self, trial: CaseTrial) -> None:
        """Wait until the trial can be paid for. Raises `CostLimitReached` when it cannot."""
        if self.budget is not None:
            await self.budget.admit(trial)

    def __call__(self, record: CaseRecord) -> SwarmBenchError | None:
        """Pay for the trial; return the error with which the session ends, if it does."""
        if self.budget is not None:
            self.budget.settle(record)
            if self.budget.reached is not None:
                return self.budget.reached
        why = record.detail or record.cause.value
        match record.cause:
            case Cause.NOT_AUTHORIZED:
                return NotAuthorized(why)
            case Cause.NO_CREDIT:
                return NoCredit(why)
            case Cause.WRONG_ADDRESS:
                return WrongAddress(why)
            case Cause.UNKNOWN_MODEL:
                return ModelFailed(why)
            case Cause.FINISHED | Cause.REFUSED:
                return None
        return (
            ModelFailed(f"{record.arm} failed in {record.case}: {why}") if self.fail_fast else None
        )
