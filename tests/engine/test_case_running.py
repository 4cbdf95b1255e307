"""Whatever a benchmark does, each of its trials ends once, and nothing is counted as done."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

import anyio
import pytest

from swarm_bench.core.errors import StoreError
from swarm_bench.core.session.cases import (
    Case,
    CaseDelivery,
    CaseEnded,
    CaseGroup,
    CaseJob,
    CaseTrial,
    Deliver,
)
from swarm_bench.core.status import Cause
from swarm_bench.engine.case_running import run_cases

pytestmark = pytest.mark.anyio
TRIALS = tuple(
    CaseTrial(id=id, run=1, arm="a", case=Case(id=id, title=id), number=number)
    for number, id in enumerate("xyz", start=1)
)
JOB = CaseJob(group=CaseGroup(id="g", run=1, arm="a", trials=TRIALS), properties={})


async def ends(run: Callable[[CaseJob, Deliver], Awaitable[None]]) -> list[tuple[str, Cause]]:
    delivered: list[tuple[str, Cause]] = []

    async def keep(delivery: CaseDelivery) -> None:
        if isinstance(delivery, CaseEnded):
            delivered.append((delivery.trial.id, delivery.cause))

    await run_cases(run, JOB, keep)
    return delivered


def done(trial: CaseTrial) -> CaseEnded:
    return CaseEnded(trial=trial, cause=Cause.FINISHED)


async def test_what_is_not_delivered_is_a_failure() -> None:
    async def run(job: CaseJob, deliver: Deliver) -> None:
        await deliver(done(TRIALS[1]))

    failed = Cause.ADAPTER_FAILED
    assert await ends(run) == [("y", Cause.FINISHED), ("x", failed), ("z", failed)]


async def test_what_is_delivered_twice_counts_once() -> None:
    async def run(job: CaseJob, deliver: Deliver) -> None:
        await deliver(done(TRIALS[0]))
        await deliver(done(TRIALS[0]))

    assert [cause for _, cause in await ends(run)] == [
        Cause.FINISHED, Cause.ADAPTER_FAILED, Cause.ADAPTER_FAILED,
    ]  # fmt: skip


async def test_an_error_ends_the_trials_that_remain() -> None:
    async def run(job: CaseJob, deliver: Deliver) -> None:
        await deliver(done(TRIALS[0]))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)

    async def fail() -> None:
        raise KeyError("row")

    assert [cause for _, cause in await ends(run)] == [
        Cause.FINISHED, Cause.ADAPTER_FAILED, Cause.ADAPTER_FAILED,
    ]  # fmt: skip


async def test_an_error_of_the_store_ends_the_session() -> None:
    async def run(job: CaseJob, deliver: Deliver) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, deliver)

    async def wait(deliver: Deliver) -> None:
        await deliver(done(TRIALS[0]))

    async def full(_delivery: CaseDelivery) -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError):
        await run_cases(run, JOB, full)


async def test_a_trial_that_was_not_planned_so_is_refused() -> None:
    """Under another arm it would be a figure of that arm."""

    async def run(job: CaseJob, deliver: Deliver) -> None:
        await deliver(done(replace(TRIALS[0], arm="b")))

    assert {cause for _, cause in await ends(run)} == {Cause.ADAPTER_FAILED}


async def test_what_cannot_be_stored_is_a_failure_of_its_trial() -> None:
    stored: list[CaseDelivery] = []

    async def run(job: CaseJob, deliver: Deliver) -> None:
        with suppress(ValueError):
            await deliver(done(TRIALS[0]))
        await deliver(done(TRIALS[1]))

    async def keep(delivery: CaseDelivery) -> None:
        if delivery == done(TRIALS[0]):
            raise ValueError("nan is no figure")
        stored.append(delivery)

    await run_cases(run, JOB, keep)
    ended = [delivery for delivery in stored if isinstance(delivery, CaseEnded)]
    assert [(one.trial.id, one.cause) for one in ended] == [
        ("y", Cause.FINISHED), ("z", Cause.ADAPTER_FAILED), ("x", Cause.ADAPTER_FAILED),
    ]  # fmt: skip


@pytest.mark.parametrize("error", [SystemExit(0), asyncio.CancelledError()])
async def test_what_ends_more_than_a_call_ends_the_group_only(error: BaseException) -> None:
    async def run(job: CaseJob, deliver: Deliver) -> None:
        raise error

    assert [cause for _, cause in await ends(run)] == [Cause.ADAPTER_FAILED] * 3


async def test_a_session_that_is_interrupted_counts_no_failure() -> None:
    stored: list[CaseDelivery] = []

    async def run(job: CaseJob, deliver: Deliver) -> None:
        scope.cancel()
        await anyio.sleep_forever()

    async def keep(delivery: CaseDelivery) -> None:
        stored.append(delivery)

    with anyio.CancelScope() as scope:
        await run_cases(run, JOB, keep)
    assert (scope.cancelled_caught, stored) == (True, [])
