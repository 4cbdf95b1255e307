"""Why a trial ended, and what follows from it: one table for retry, counting and display."""

from dataclasses import dataclass
from enum import StrEnum


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
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, kw_only=True)
class Consequence:
    """What a cause means for the experiment."""

    status: Status
    rerun: bool
    """`--continue` runs the trial again: it says nothing about the mode."""
    meaning: str
    """A clause that reads on after "n trials"."""

    def of(self, trials: int) -> str:
        """Return the clause for a number of trials."""
        return self.meaning.replace("were ", "was ", 1) if trials == 1 else self.meaning


CONSEQUENCES: dict[Cause, Consequence] = {
    Cause.FINISHED: Consequence(status=Status.COMPLETED, rerun=False, meaning="gave an answer"),
    Cause.MAX_TURNS: Consequence(
        status=Status.BUDGET_REACHED, rerun=False, meaning="used up their turns without an answer"
    ),
    Cause.TIMEOUT: Consequence(
        status=Status.BUDGET_REACHED, rerun=False, meaning="were stopped at the time limit"
    ),
    Cause.OUTPUT_LIMIT: Consequence(
        status=Status.BUDGET_REACHED, rerun=False, meaning="were stopped at the output limit"
    ),
    Cause.COST_LIMIT: Consequence(
        status=Status.BUDGET_REACHED, rerun=False, meaning="were stopped at their cost limit"
    ),
    Cause.ERROR_RESULT: Consequence(
        status=Status.AGENT_FAILED, rerun=False, meaning="reported an error instead of an answer"
    ),
    Cause.EXIT_CODE: Consequence(
        status=Status.AGENT_FAILED, rerun=False, meaning="ended with a failing exit code"
    ),
    Cause.NO_OUTPUT: Consequence(
        status=Status.AGENT_FAILED, rerun=False, meaning="ended without printing anything"
    ),
    Cause.UNREADABLE_OUTPUT: Consequence(
        status=Status.AGENT_FAILED, rerun=False, meaning="printed something that is not a result"
    ),
    Cause.EMPTY_ANSWER: Consequence(
        status=Status.AGENT_FAILED, rerun=False, meaning="ended with an empty answer"
    ),
    Cause.OUTPUT_CUT: Consequence(
        status=Status.HARNESS_FAILED,
        rerun=True,
        meaning="were lost with the end of their output, which broke off although all went well",
    ),
    Cause.ANSWER_CUT: Consequence(
        status=Status.AGENT_FAILED,
        rerun=False,
        meaning="had their answer cut at the model's output limit",
    ),
    Cause.REFUSED: Consequence(
        status=Status.AGENT_FAILED, rerun=False, meaning="were refused an answer by the model"
    ),
    Cause.CONTEXT_OVERFLOW: Consequence(
        status=Status.AGENT_FAILED, rerun=False, meaning="outgrew the model's context"
    ),
    Cause.RATE_LIMITED: Consequence(
        status=Status.PROVIDER_LIMITED,
        rerun=True,
        meaning="were turned away by the provider's rate limit",
    ),
    Cause.PROVIDER_FAILED: Consequence(
        status=Status.PROVIDER_LIMITED,
        rerun=True,
        meaning="had no answer from the provider: it was overloaded, broken or not to be reached",
    ),
    Cause.NOT_AUTHORIZED: Consequence(
        status=Status.PROVIDER_LIMITED,
        rerun=True,
        meaning="failed authentication: no login, or a key that the provider rejects",
    ),
    Cause.NO_CREDIT: Consequence(
        status=Status.PROVIDER_LIMITED,
        rerun=True,
        meaning="were turned away for want of money: no credit, or a quota that is used up",
    ),
    Cause.UNKNOWN_MODEL: Consequence(
        status=Status.PROVIDER_LIMITED,
        rerun=True,
        meaning="asked for a model that the provider does not have, or not in that way",
    ),
    Cause.WRONG_ADDRESS: Consequence(
        status=Status.PROVIDER_LIMITED,
        rerun=True,
        meaning="were asked at an address that is another one by now, or takes no such requests",
    ),
    Cause.NOT_STARTED: Consequence(
        status=Status.HARNESS_FAILED, rerun=True, meaning="could not be started"
    ),
    Cause.ADAPTER_FAILED: Consequence(
        status=Status.HARNESS_FAILED,
        rerun=True,
        meaning="met a defect of the adapter or the benchmark that runs them",
    ),
    Cause.WORKSPACE_FAILED: Consequence(
        status=Status.HARNESS_FAILED, rerun=True, meaning="had no workspace"
    ),
    Cause.SERVICE_FAILED: Consequence(
        status=Status.HARNESS_FAILED, rerun=True, meaning="lost a service that they need"
    ),
    Cause.INDEX_FAILED: Consequence(
        status=Status.HARNESS_FAILED, rerun=True, meaning="had no index to ask"
    ),
    Cause.ENVIRONMENT_FAILED: Consequence(
        status=Status.HARNESS_FAILED, rerun=True, meaning="could not have their code run"
    ),
    Cause.JUDGE_FAILED: Consequence(
        status=Status.HARNESS_FAILED, rerun=True, meaning="had no answer from the judge"
    ),
    Cause.INTERRUPTED: Consequence(status=Status.CANCELLED, rerun=True, meaning="were interrupted"),
}
