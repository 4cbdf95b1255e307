"""Runs a group of cases in this process, and makes failures of what goes wrong."""

from collections.abc import Awaitable, Callable

import anyio

from swarm_bench.core.errors import SwarmBenchError, described
from swarm_bench.core.roles.executor import Deliver
from swarm_bench.core.session.cases import CaseDelivery, CaseEnded, CaseJob
from swarm_bench.core.status import Cause
from swarm_bench.engine.caps import LONGEST_DETAIL, shorten


async def run_cases(
    run: Callable[[CaseJob, Deliver[CaseDelivery]], Awaitable[None]],
    job: CaseJob,
    deliver: Deliver[CaseDelivery],
) -> None:
    """Run the group. A trial that the benchmark did not deliver as it was planned, once and with
    figures that can be stored, is a failure of its adapter; so is what it raises, and a
    cancellation that is its own. Raises `StoreError`."""
    keeper = _Keeper(job, deliver)
    detail = "the benchmark did not deliver it"

    async def attempt() -> None:
        nonlocal detail
        try:
            await run(job, keeper.keep)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # it may raise anything
            detail = _describe(error)

    async with anyio.create_task_group() as tasks:  # it ends with whoever cancels itself
        tasks.start_soon(attempt)
    if keeper.refused:
        raise keeper.refused[0]
    for trial in list(keeper.pending.values()):
        await deliver(CaseEnded(trial=trial, cause=Cause.ADAPTER_FAILED, detail=detail))


class _Keeper:
    """Hands on what can be stored, of each trial of the group one end."""

    def __init__(self, job: CaseJob, deliver: Deliver[CaseDelivery]) -> None:
        self.pending = {trial.id: trial for trial in job.group.trials}
        self.refused: list[SwarmBenchError] = []
        """Errors of the store, which end the session whatever the benchmark makes of them."""
        self._planned = dict(self.pending)
        self._deliver = deliver

    async def keep(self, delivery: CaseDelivery) -> None:
        """Deliver. Raises what the benchmark did wrong, and `StoreError`."""
        if not isinstance(delivery, CaseDelivery):
            raise TypeError(f"{type(delivery).__name__} is no CaseStarted and no CaseEnded")
        trial = delivery.trial
        if self._planned.get(trial.id) != trial:
            raise ValueError(f"the trial {trial.id} is none of this group as it was planned")
        is_end = isinstance(delivery, CaseEnded)
        if is_end and self.pending.pop(trial.id, None) is None:
            raise ValueError(f"the trial {trial.id} was delivered twice")
        try:
            await self._deliver(delivery)
        except SwarmBenchError as error:
            self.refused.append(error)
            raise
        except Exception:  # its figures are none: nothing was stored of it
            if is_end:
                self.pending[trial.id] = trial
            raise


def _describe(error: BaseException) -> str:
    """Name the first error; task groups wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return shorten(described(error), LONGEST_DETAIL)
