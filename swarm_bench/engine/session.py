"""A session: the blocks of its plan, one group of trials after the other, until done or
interrupted."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskStatus

from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.events import BlockStarted, Emit, SessionStarted, Trouble
from swarm_bench.core.interruption import SIGNALS
from swarm_bench.engine.executor import Executor, Store
from swarm_bench.engine.plan import Block, G, groups_of, remaining
from swarm_bench.runtime.ownership import end_at_once

J = TypeVar("J")
"""A job: a group as an executor is given it."""
D = TypeVar("D")
"""What is delivered of it."""
_HEARING_SECONDS = 0.01
"""A signal that came with the last record reaches who listens a few turns of the loop later."""


@dataclass(frozen=True, kw_only=True)
class Work(Generic[G, J, D]):
    """What a benchmark has to run in a session."""

    session: str
    folder: Path
    """Where its results are; a message to the user names it."""
    arms: tuple[str, ...]
    runs: int
    blocks: Sequence[Block[G]]
    """The whole plan."""
    finished: frozenset[str]
    """Ids of the trials that have a record."""
    execute: Executor[J, D]
    store: Store[G, J, D]
    emit: Emit
    groups_at_once: int = 1
    """Of one block; blocks never overlap."""


async def run_session(work: Work[G, J, D]) -> bool:
    """Run every trial of the plan that is not finished. Returns whether it was interrupted.

    The first signal stops what runs and ends the session in order; the second ends it at once.
    """
    blocks = remaining(work.blocks, work.finished)
    work.emit(_started(work, blocks))
    try:
        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as scope:
                await tasks.start(_listen, scope, work.folder, work.emit)
                for block in blocks:
                    work.emit(BlockStarted(run=block.run, runs=work.runs, order=block.order))
                    await _run_block(work, block)
            await anyio.sleep(_HEARING_SECONDS)
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise _unwrapped(errors) from None
    return scope.cancel_called


async def _run_block(work: Work[G, J, D], block: Block[G]) -> None:
    """Start the groups in their order. The first error stops those that run."""
    free = anyio.Semaphore(work.groups_at_once)
    async with anyio.create_task_group() as tasks:
        for group in block.groups:
            await free.acquire()
            tasks.start_soon(_run_group, work, group, free)


async def _run_group(work: Work[G, J, D], group: G, free: anyio.Semaphore) -> None:
    store = work.store.of_group(group)
    await work.execute(store.job, store.keep)
    store.check()
    free.release()  # not after an error, which ends the block


def _unwrapped(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the harness error that task groups have wrapped; else the group itself."""
    for error in errors.exceptions:
        inner = _unwrapped(error) if isinstance(error, BaseExceptionGroup) else error
        if isinstance(inner, SwarmBenchError):
            return inner
    return errors


async def _listen(
    scope: anyio.CancelScope, folder: Path, emit: Emit, *, task_status: TaskStatus[None]
) -> None:
    # What is ignored, as under nohup, stays ignored.
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = [number for number in SIGNALS if before[number] is not signal.SIG_IGN]
    try:
        with anyio.open_signal_receiver(*heard) as signals:
            task_status.started()
            async for _ in signals:
                if scope.cancel_called:
                    option = f"--continue {quote(str(folder))}"
                    end_at_once(f"ended at once, without a summary; continue with {option}")
                emit(Trouble(message="interrupted: stopping what runs (again: end at once)"))
                scope.cancel()
    finally:
        # The receiver leaves the system's own handlers, which would end us before the summary. Of
        # SIGINT it leaves Python's, as it should: asyncio's would only cancel what waits no more.
        for number in set(heard) - {signal.SIGINT}:
            signal.signal(number, before[number])


def _started(work: Work[G, J, D], blocks: Sequence[Block[G]]) -> SessionStarted:
    planned = dict.fromkeys(work.arms, 0)
    for group in groups_of(blocks):
        planned[group.arm] += len(group.trials)
    done = len(work.finished)
    return SessionStarted(
        session=work.session,
        folder=str(work.folder),
        trials=sum(planned.values()) + done,
        done=done,
        planned=planned,
    )
