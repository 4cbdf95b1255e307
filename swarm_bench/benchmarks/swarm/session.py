"""What the swarm benchmark runs in a session: its swarms, or those of a recording."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from swarm_bench.benchmarks.swarm.authentication import check_authorized
from swarm_bench.benchmarks.swarm.plan.swarms import Swarm, plan
from swarm_bench.benchmarks.swarm.running.delivery import Deliver, SwarmJob
from swarm_bench.benchmarks.swarm.store import SwarmStore
from swarm_bench.engine.heads import Head
from swarm_bench.engine.session import Work, run_session

Execute = Callable[[SwarmJob, Deliver], Awaitable[None]]
"""Runs a swarm wherever it runs: plain data in, plain data out."""


async def run_swarms(
    store: SwarmStore, execute: Execute, done: Sequence[Head], attempts: Mapping[str, int]
) -> bool:
    """Run every trial of the plan that is not among `done`. Returns whether it was interrupted."""
    experiment = store.experiment

    async def run(swarm: Swarm) -> None:
        of_swarm = store.of_swarm(swarm)
        overhead = store.overhead.due(swarm.mode)
        await execute(SwarmJob(swarm=swarm, attempts=attempts, overhead=overhead), of_swarm.keep)
        check_authorized(experiment, of_swarm.records)

    work = Work(
        session=experiment.session,
        folder=store.folder.path,
        arms=tuple(mode.name for mode in experiment.modes),
        runs=experiment.runs,
        blocks=plan(experiment),
        finished=frozenset(head.trial for head in done if head.trial is not None),
        run=run,
        emit=store.emit,
    )
    return await run_session(work)
