"""A session: the blocks of its plan, one group of trials after the other, until done or
interrupted."""

import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import NoReturn

import anyio
from anyio.abc import TaskStatus

from swarm_bench.core.errors import CostLimitReached, SwarmBenchError
from swarm_bench.core.events import (
    BlockEnded,
    BlockStarted,
    EndingAtOnce,
    RerunStarted,
    SessionStarted,
    WarningRaised,
)
from swarm_bench.core.interruption import SIGNALS
from swarm_bench.core.roles.executor import Host, OpenedExecutor
from swarm_bench.core.session.base import C, Group, Machine
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.engine.group_store import D, J, Store
from swarm_bench.engine.plan import Block, cut_blocks, drop_finished, iterate_groups, select_part
from swarm_bench.runtime.ownership import end_at_once

_HEARING_SECONDS = 0.01
"""A signal that came with the last record reaches who listens a few turns of the loop later."""


async def run_session(
    store: Store[C, J, D],
    blocks: Sequence[Block[C]],
    executor: OpenedExecutor[J, D],
    is_clear: Callable[[], bool] | None = None,
) -> bool:
    """Run every trial of the plan that has no record, or one that says nothing about its arm; and
    once more those that were lost with their node. Returns whether it was interrupted. After a
    block, or those that ran at the same time, it may be clear what the session came to, which ends
    it; `None`: it runs to its end.

    The first signal stops what runs and ends the session in order; the second ends it at once.
    """
    records = store.folder.records
    causes = {head.trial: head.cause for head in records.set_aside_reruns() if head.trial}
    everything, blocks = blocks, drop_finished(blocks, frozenset(causes))
    store.emit(
        _make_session_started(
            store, everything, blocks, causes, may_end_earlier=is_clear is not None
        )
    )
    try:
        interrupted = await _run_blocks(store, blocks, executor, is_clear)
        if store.lost_trials and not interrupted:
            rerun = await anyio.to_thread.run_sync(records.set_aside_lost)
            store.forget_attempts()
            parts = (select_part(block, rerun) for block in blocks)
            remainder = [block for block in parts if block.groups]
            trials, groups = _count_by_arm(store, remainder)
            store.emit(RerunStarted(trials=trials, groups=groups))
            return await _run_blocks(store, remainder, executor, is_clear)
        return interrupted
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(records.fold)


async def run_in_batches(
    store: Store[C, J, D],
    blocks: Sequence[Block[C]],
    opening: AbstractAsyncContextManager[OpenedExecutor[J, D]],
    per_host: int,
    note: Callable[[Mapping[str, Machine]], None],
) -> bool:
    """Open the executor, and run the blocks there as `run_session` does. Where it has several
    hosts they are cut into so many batches for each. `note` is told of its nodes."""
    async with opening as executor:
        note(executor.nodes)
        executor = replace(executor, groups_at_once=store.experiment.concurrency)
        if executor.blocks_at_once > 1:
            blocks = cut_blocks(blocks, per_host * executor.blocks_at_once)
        try:
            return await run_session(store, blocks, executor)
        except SwarmBenchError as error:  # what holds the executor open would wrap it
            failure = error
    raise failure


async def _run_blocks(
    store: Store[C, J, D],
    blocks: Sequence[Block[C]],
    executor: OpenedExecutor[J, D],
    is_clear: Callable[[], bool] | None,
) -> bool:
    # What the blocks came to is looked at while none runs, and the first shows what they cost.
    size = len(blocks) if is_clear is None else executor.blocks_at_once
    first = 1 if store.has_limit else size
    batches = [*_cut(blocks[:first], size), *_cut(blocks[first:], size)]
    try:
        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as scope:
                await tasks.start(_watch_signals, scope, store)
                for batch in batches:
                    await _run_at_once(store, batch, executor)
                    # In a thread, as whatever reads all records: signs of life go on meanwhile.
                    if is_clear is not None and await anyio.to_thread.run_sync(is_clear):
                        break
            await anyio.sleep(_HEARING_SECONDS)
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise _unwrap(errors) from None
    return scope.cancel_called


async def _run_at_once(
    store: Store[C, J, D], blocks: Sequence[Block[C]], executor: OpenedExecutor[J, D]
) -> None:
    """Start the blocks in their order, each on one host. The first error stops those that run; but
    a limit of the cost only those that do not. Raises it when it was reached, and not because of
    what was set aside for the blocks that ran."""
    free = anyio.Semaphore(executor.blocks_at_once)
    queue, refused = deque(blocks), list[Block[C]]()
    limits = list[CostLimitReached]()

    async def run(block: Block[C]) -> None:
        try:
            if await _run_on_host(store, block, executor) is not None:
                refused.append(block)
        except CostLimitReached as error:
            limits.append(error)
        free.release()  # not after another error, which ends the session

    async with anyio.create_task_group() as tasks:
        while queue:
            await free.acquire()
            if refused or limits:
                break
            tasks.start_soon(run, queue.popleft())
    if limits:
        raise limits[0]
    for block in (*refused, *queue):  # alone
        if (error := await _run_on_host(store, block, executor)) is not None:
            raise error


async def _run_on_host(
    store: Store[C, J, D], block: Block[C], executor: OpenedExecutor[J, D]
) -> CostLimitReached | None:
    """Run a block. Returns the error where there is no money to begin with it; raises it where it
    ends in the middle."""
    async with executor.reserve_host() as host:
        turns = store.turns(block)
        try:
            turn = next(turns, None)
        except CostLimitReached as error:
            return error
        if turn is not None:
            store.emit(_make_block_started(block, store.experiment.runs, host.node))
        while turn is not None:
            try:
                await _run_block(store, turn, host, executor.groups_at_once)
            except BaseExceptionGroup as errors:
                raise _unwrap(errors) from None
            turn = next(turns, None)
        store.emit(BlockEnded(run=block.run, number=block.number, node=host.node))
    return None


async def _run_block(
    store: Store[C, J, D], block: Block[C], host: Host[J, D], groups_at_once: int
) -> None:
    """Start the groups in their order. The first error stops those that run."""
    free = anyio.Semaphore(groups_at_once)

    async def run(group: Group[C]) -> None:
        group_store = store.make_group_store(group, host.node)
        await host.execute(group_store.job, group_store.keep)
        group_store.check()
        free.release()  # not after an error, which ends the block

    async with anyio.create_task_group() as tasks:
        for group in block.groups:
            await free.acquire()
            tasks.start_soon(run, group)


def _cut(blocks: Sequence[Block[C]], size: int) -> Iterator[Sequence[Block[C]]]:
    for first in range(0, len(blocks), max(size, 1)):
        yield blocks[first : first + size]


def _unwrap(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the harness error that task groups have wrapped; else the group itself."""
    for error in errors.exceptions:
        inner = _unwrap(error) if isinstance(error, BaseExceptionGroup) else error
        if isinstance(inner, SwarmBenchError):
            return inner
    return errors


async def _watch_signals(
    scope: anyio.CancelScope, store: Store[C, J, D], *, task_status: TaskStatus[None]
) -> None:
    # What is ignored, as under nohup, stays ignored.
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    handled = [number for number in SIGNALS if handlers[number] is not signal.SIG_IGN]
    try:
        with anyio.open_signal_receiver(*handled) as signals:
            task_status.started()
            async for _ in signals:
                if scope.cancel_called:
                    _end_at_once(store)
                store.emit(
                    WarningRaised(message="interrupted: stopping what runs (again: end at once)")
                )
                scope.cancel()
    finally:
        # The receiver leaves the system's own handlers, which would end us before the summary. Of
        # SIGINT it leaves Python's, as it should: asyncio's would only cancel what waits no more.
        for number in set(handled) - {signal.SIGINT}:
            signal.signal(number, handlers[number])
        if scope.cancel_called:  # nodes may take long to close
            for number in handled:
                signal.signal(number, lambda *_: _end_at_once(store))


def _end_at_once(store: Store[C, J, D]) -> NoReturn:
    store.emit(EndingAtOnce())
    end_at_once(f"ended at once, perhaps without a summary\nContinue with: {store.to_continue}")


def _make_block_started(block: Block[C], runs: int, node: str | None) -> BlockStarted:
    return BlockStarted(
        run=block.run,
        runs=runs,
        number=block.number,
        of_run=block.of_run,
        order=block.order,
        node=node,
    )


def _make_session_started(
    store: Store[C, J, D],
    everything: Sequence[Block[C]],
    to_run: Sequence[Block[C]],
    causes: Mapping[str, Cause | None],
    *,
    may_end_earlier: bool,
) -> SessionStarted:
    """Count what there is to run of `everything`, and what has ended with these causes."""
    arms = store.experiment.arms
    planned, groups = _count_by_arm(store, to_run)
    done, failed = dict.fromkeys(arms, 0), dict.fromkeys(arms, 0)
    for group in iterate_groups(everything):
        end_causes = [causes[trial.id] for trial in group.trials if trial.id in causes]
        done[group.arm] += len(end_causes)
        failed[group.arm] += sum(map(_is_failure, end_causes))
    return SessionStarted(
        session=store.experiment.session,
        folder=str(store.folder.path),
        done=done,
        failed=failed,
        planned=planned,
        groups=groups,
        may_end_earlier=may_end_earlier,
    )


def _count_by_arm(
    store: Store[C, J, D], blocks: Sequence[Block[C]]
) -> tuple[dict[str, int], dict[str, int]]:
    """Count their trials and groups, by arm."""
    trials, groups = (dict.fromkeys(store.experiment.arms, 0) for _ in range(2))
    for group in iterate_groups(blocks):
        trials[group.arm] += len(group.trials)
        groups[group.arm] += 1
    return trials, groups


def _is_failure(cause: Cause | None) -> bool:
    return cause is not None and CONSEQUENCES[cause].status is not Status.COMPLETED
