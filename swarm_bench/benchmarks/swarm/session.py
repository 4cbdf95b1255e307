"""A session: the blocks of the plan, one swarm after the other, until done or interrupted."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote

import anyio

from swarm_bench.benchmarks.swarm.authentication import check_authorized
from swarm_bench.benchmarks.swarm.kit import Kit
from swarm_bench.benchmarks.swarm.overhead import EmptyPrompts
from swarm_bench.benchmarks.swarm.recordings.replay import replay_overhead, replay_swarm
from swarm_bench.benchmarks.swarm.swarm import SwarmRun
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.events import BlockStarted, SessionStarted, Trouble
from swarm_bench.core.interruption import SIGNALS
from swarm_bench.engine.heads import Head
from swarm_bench.engine.plan import Block, Swarm, plan
from swarm_bench.runtime.ownership import end_at_once

_HEARING_SECONDS = 0.01
"""A signal that came with the last record reaches who listens a few turns of the loop later."""


async def run_session(kit: Kit, done: Sequence[Head], attempts: dict[str, int]) -> bool:
    """Run every trial of the plan that is not among `done`. Returns whether it was interrupted.

    The first signal stops the agents and ends the session in order; the second ends it at once.
    """
    finished = {head.trial for head in done}
    blocks = [_rest(block, finished) for block in plan(kit.experiment)]
    kit.emit(_started(kit, blocks, len(done)))
    prompts = EmptyPrompts(kit)
    if kit.recorded is None:
        prompts.begin()
    else:
        replay_overhead(kit, kit.recorded)
    try:
        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                group.start_soon(_listen, scope, kit)
                for block in blocks:
                    await _run_block(kit, block, attempts, prompts)
            await anyio.sleep(_HEARING_SECONDS)
            group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise _ours(errors) from None
    return scope.cancel_called


def _ours(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error of ours in a group, which task groups wrap it in; else the group itself."""
    for error in errors.exceptions:
        inner = _ours(error) if isinstance(error, BaseExceptionGroup) else error
        if isinstance(inner, SwarmBenchError):
            return inner
    return errors


async def _run_block(
    kit: Kit, block: Block, attempts: dict[str, int], prompts: EmptyPrompts
) -> None:
    if not block.swarms:
        return
    kit.emit(BlockStarted(run=block.run, runs=kit.experiment.runs, order=block.order))
    for swarm in block.swarms:
        if kit.recorded is not None:
            await replay_swarm(kit, kit.recorded, swarm, attempts)
        else:
            records = await SwarmRun(kit, swarm, attempts, prompts).run()
            check_authorized(kit.experiment, records)


async def _listen(scope: anyio.CancelScope, kit: Kit) -> None:
    folder = quote(str(kit.folder.path))
    # What is ignored, as under nohup, stays ignored.
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = [number for number in SIGNALS if before[number] is not signal.SIG_IGN]
    try:
        with anyio.open_signal_receiver(*heard) as signals:
            async for _ in signals:
                if scope.cancel_called:
                    end_at_once(f"ended at once, without a summary; go on with --continue {folder}")
                kit.emit(Trouble(message="interrupted: stopping the agents (again: end at once)"))
                scope.cancel()
    finally:
        # The receiver leaves the system's own handlers, which would end us before the summary. Of
        # SIGINT it leaves Python's, as it should: asyncio's would only cancel what waits no more.
        for number in set(heard) - {signal.SIGINT}:
            signal.signal(number, before[number])


def _rest(block: Block, finished: set[str | None]) -> Block:
    """The block without the trials that are done, and without the swarms that have no other."""
    rest = (
        replace(swarm, trials=tuple(t for t in swarm.trials if t.id not in finished))
        for swarm in block.swarms
    )
    return replace(block, swarms=tuple(swarm for swarm in rest if swarm.trials))


def _started(kit: Kit, blocks: list[Block], done: int) -> SessionStarted:
    planned = {mode.name: 0 for mode in kit.experiment.modes}
    for swarm in _swarms(blocks):
        planned[swarm.mode] += len(swarm.trials)
    return SessionStarted(
        session=kit.experiment.session,
        folder=str(kit.folder.path),
        trials=sum(planned.values()) + done,
        done=done,
        planned=planned,
    )


def _swarms(blocks: list[Block]) -> Iterator[Swarm]:
    return (swarm for block in blocks for swarm in block.swarms)
