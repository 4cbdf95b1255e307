"""After which trials a session of models need not continue."""

from dataclasses import dataclass

from swarm_bench.core.errors import HarnessError, ModelFailed, NotAuthorized
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.status import Cause


@dataclass(frozen=True, kw_only=True)
class Ending:
    """Says of each trial whether the session ends with it."""

    fail_fast: bool = False
    """Whether any trial that fails ends it; a wrong answer is no failure."""

    def __call__(self, record: CaseRecord) -> HarnessError | None:
        """Return the error with which it ends; `None` where it continues."""
        why = record.detail or record.cause.value
        match record.cause:
            case Cause.NOT_AUTHORIZED:
                return NotAuthorized(why)
            case Cause.UNKNOWN_MODEL:
                return ModelFailed(why)
            case Cause.FINISHED | Cause.REFUSED:
                return None
        return (
            ModelFailed(f"{record.arm} failed in {record.case}: {why}") if self.fail_fast else None
        )
