"""Why a trial ended, and what follows from it: one table for retry, counting and display."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Status(StrEnum):
    """What kind of end it was. The summary counts trials by it."""

    COMPLETED = "completed"
    BUDGET_REACHED = "budget-reached"
    AGENT_FAILED = "agent-failed"
    PROVIDER_LIMITED = "provider-limited"
    HARNESS_FAILED = "harness-failed"
    CANCELLED = "cancelled"


class Cause(StrEnum):
    """The precise reason, stored in the record beside the status."""

    FINISHED = "finished"
    MAX_TURNS = "max-turns"
    TIMEOUT = "timeout"
    OUTPUT_LIMIT = "output-limit"
    COST_LIMIT = "cost-limit"
    ERROR_RESULT = "error-result"
    EXIT_CODE = "exit-code"
    NO_OUTPUT = "no-output"
    UNREADABLE_OUTPUT = "unreadable-output"
    EMPTY_ANSWER = "empty-answer"
    OUTPUT_CUT = "output-cut"
    ANSWER_CUT = "answer-cut"
    REFUSED = "refused"
    CONTEXT_OVERFLOW = "context-overflow"
    RATE_LIMITED = "rate-limited"
    PROVIDER_FAILED = "provider-failed"
    NOT_AUTHORIZED = "not-authorized"
    NO_CREDIT = "no-credit"
    UNKNOWN_MODEL = "unknown-model"
    WRONG_ADDRESS = "wrong-address"
    NOT_STARTED = "not-started"
    ADAPTER_FAILED = "adapter-failed"
    WORKSPACE_FAILED = "workspace-failed"
    SERVICE_FAILED = "service-failed"
    INDEX_FAILED = "index-failed"
    ENVIRONMENT_FAILED = "environment-failed"
    JUDGE_FAILED = "judge-failed"
    NODE_LOST = "node-lost"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, kw_only=True)
class Consequence:
    """What a cause means for the experiment."""

    status: Status
    meaning: str
    """A clause that reads on after "n trials"."""
    label: str
    """A few words in a table, or behind a number: `timed out`."""

    @cached_property
    def rerun(self) -> bool:
        """Whether `--continue` runs the trial again: it says nothing about the mode."""
        return self.status in (Status.PROVIDER_LIMITED, Status.HARNESS_FAILED, Status.CANCELLED)

    def of(self, trials: int) -> str:
        """Return the clause for a number of trials."""
        return self.meaning.replace("were ", "was ", 1) if trials == 1 else self.meaning


_MEANINGS: dict[Status, dict[Cause, str]] = {
    Status.COMPLETED: {
        Cause.FINISHED: "gave an answer",
    },
    Status.BUDGET_REACHED: {
        Cause.MAX_TURNS: "used up their turns without an answer",
        Cause.TIMEOUT: "were stopped at the time limit",
        Cause.OUTPUT_LIMIT: "were stopped at the output limit",
        Cause.COST_LIMIT: "were stopped at their cost limit",
    },
    Status.AGENT_FAILED: {
        Cause.ERROR_RESULT: "reported an error instead of an answer",
        Cause.EXIT_CODE: "ended with a failing exit code",
        Cause.NO_OUTPUT: "ended without printing anything",
        Cause.UNREADABLE_OUTPUT: "printed something that is not a result",
        Cause.EMPTY_ANSWER: "ended with an empty answer",
        Cause.ANSWER_CUT: "had their answer cut at the model's output limit",
        Cause.REFUSED: "were refused an answer by the model",
        Cause.CONTEXT_OVERFLOW: "outgrew the model's context",
    },
    Status.HARNESS_FAILED: {
        Cause.OUTPUT_CUT: (
            "were lost with the end of their output, which broke off although all went well"
        ),
        Cause.NOT_STARTED: "could not be started",
        Cause.ADAPTER_FAILED: "met a defect of the adapter or the benchmark that runs them",
        Cause.WORKSPACE_FAILED: "had no workspace",
        Cause.SERVICE_FAILED: "lost a service that they need",
        Cause.INDEX_FAILED: "had no index to ask",
        Cause.ENVIRONMENT_FAILED: "could not have their code run",
        Cause.JUDGE_FAILED: "had no answer from the judge",
        Cause.NODE_LOST: "were lost with the node that they ran on",
    },
    Status.PROVIDER_LIMITED: {
        Cause.RATE_LIMITED: "were turned away by the provider's rate limit",
        Cause.PROVIDER_FAILED: (
            "had no answer from the provider: it was overloaded, broken or not to be reached"
        ),
        Cause.NOT_AUTHORIZED: "failed authentication: no login, or a key that the provider rejects",
        Cause.NO_CREDIT: (
            "were turned away for want of money: no credit, or a quota that is used up"
        ),
        Cause.UNKNOWN_MODEL: (
            "asked for a model that the provider does not have, or not in that way"
        ),
        Cause.WRONG_ADDRESS: (
            "were asked at an address that is another one by now, or takes no such requests"
        ),
    },
    Status.CANCELLED: {
        Cause.INTERRUPTED: "were interrupted",
    },
}
_LABELS: dict[Cause, str] = {
    Cause.FINISHED: "finished",
    Cause.MAX_TURNS: "ran out of turns",
    Cause.TIMEOUT: "timed out",
    Cause.OUTPUT_LIMIT: "reached the output limit",
    Cause.COST_LIMIT: "reached the cost limit",
    Cause.ERROR_RESULT: "reported an error",
    Cause.EXIT_CODE: "exited with an error",
    Cause.NO_OUTPUT: "printed nothing",
    Cause.UNREADABLE_OUTPUT: "printed no result",
    Cause.EMPTY_ANSWER: "gave an empty answer",
    Cause.OUTPUT_CUT: "lost the end of its output",
    Cause.ANSWER_CUT: "cut off at the model's limit",
    Cause.REFUSED: "refused by the model",
    Cause.CONTEXT_OVERFLOW: "outgrew the context",
    Cause.RATE_LIMITED: "hit a rate limit",
    Cause.PROVIDER_FAILED: "had no answer from the provider",
    Cause.NOT_AUTHORIZED: "failed authentication",
    Cause.NO_CREDIT: "ran out of credit",
    Cause.UNKNOWN_MODEL: "asked for an unknown model",
    Cause.WRONG_ADDRESS: "used a wrong address",
    Cause.NOT_STARTED: "could not be started",
    Cause.ADAPTER_FAILED: "hit a defect of the harness",
    Cause.WORKSPACE_FAILED: "had no workspace",
    Cause.SERVICE_FAILED: "lost a service",
    Cause.INDEX_FAILED: "had no index",
    Cause.ENVIRONMENT_FAILED: "could not run code",
    Cause.JUDGE_FAILED: "had no answer from the judge",
    Cause.NODE_LOST: "lost with a node",
    Cause.INTERRUPTED: "interrupted",
}
CONSEQUENCES: dict[Cause, Consequence] = {
    cause: Consequence(status=status, meaning=meanings[cause], label=_LABELS[cause])
    for cause in Cause
    for status, meanings in _MEANINGS.items()
    if cause in meanings
}


def name_cause(cause: Cause | None) -> str | None:
    """Name a cause in a few words; `None` where none is recorded."""
    return None if cause is None else CONSEQUENCES[cause].label


def name_status(status: Status | None) -> str | None:
    """Name a status in words; `None` where none is recorded."""
    return None if status is None else status.replace("-", " ")


def name_end(cause: Cause | None, status: Status | None) -> str:
    """Name in a few words how a trial ended: by its cause, else by its status."""
    return name_cause(cause) or name_status(status) or "not recorded"
