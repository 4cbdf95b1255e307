"""Runs the group of a benchmark whose trials are pairs of an arm and a case. Whatever the benchmark
does, each of its trials ends once."""

from collections.abc import Awaitable, Callable

from swarm_bench.core.session.cases import CaseDelivery, CaseEnded, CaseJob, Deliver
from swarm_bench.core.status import Cause

RunCases = Callable[[CaseJob, Deliver], Awaitable[None]]


async def run_cases(run: RunCases, job: CaseJob, deliver: Deliver) -> None:
    """Run the group. A trial that the benchmark did not deliver, or delivered twice, is a failure
    of its adapter; so is what it raises. Raises `StoreError`."""
    pending = {trial.id: trial for trial in job.group.trials}
    refused: list[Exception] = []

    async def keep(delivery: CaseDelivery) -> None:
        if isinstance(delivery, CaseEnded) and pending.pop(delivery.trial.id, None) is None:
            raise ValueError(f"the trial {delivery.trial.id} was delivered twice, or is no trial")
        try:
            await deliver(delivery)
        except Exception as error:
            refused.append(error)
            raise

    detail = "the benchmark did not deliver it"
    try:
        await run(job, keep)
    except Exception as error:  # noqa: BLE001  # a benchmark may raise anything: others go on
        detail = _described(error)
    if refused:
        raise refused[0]
    for trial in pending.values():
        await deliver(CaseEnded(trial=trial, cause=Cause.ADAPTER_FAILED, detail=detail))


def _described(error: BaseException) -> str:
    """Name the first error; task groups wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
