"""What the swarm benchmark runs in a session: its swarms, or those of a recording."""

from collections.abc import Sequence

from swarm_bench.benchmarks.swarm.plan.swarms import plan
from swarm_bench.benchmarks.swarm.running.delivery import Delivery, SwarmJob
from swarm_bench.benchmarks.swarm.store import SwarmStore
from swarm_bench.engine.executor import Executor
from swarm_bench.engine.heads import Head
from swarm_bench.engine.session import Work, run_session

SwarmExecutor = Executor[SwarmJob, Delivery]


async def run_swarms(store: SwarmStore, execute: SwarmExecutor, done: Sequence[Head]) -> bool:
    """Run every trial of the plan that is not among `done`. Returns whether it was interrupted."""
    experiment = store.experiment
    work = Work(
        session=experiment.session,
        folder=store.folder.path,
        arms=experiment.arms,
        runs=experiment.runs,
        blocks=plan(experiment),
        finished=frozenset(head.trial for head in done if head.trial is not None),
        execute=execute,
        store=store,
        emit=store.emit,
    )
    return await run_session(work)
