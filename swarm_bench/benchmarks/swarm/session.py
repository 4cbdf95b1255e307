"""What the swarm benchmark runs in a session: its swarms, or those of a recording."""

from collections.abc import Mapping, Sequence

from swarm_bench.benchmarks.swarm.authentication import check_authorized
from swarm_bench.benchmarks.swarm.plan.swarms import Swarm, plan
from swarm_bench.benchmarks.swarm.recordings.replay import replay_overhead, replay_swarm
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.overhead import EmptyPrompts
from swarm_bench.benchmarks.swarm.running.swarm import SwarmRun
from swarm_bench.engine.heads import Head
from swarm_bench.engine.session import Work, run_session


async def run_swarms(kit: Kit, done: Sequence[Head], attempts: Mapping[str, int]) -> bool:
    """Run every trial of the plan that is not among `done`. Returns whether it was interrupted."""
    prompts = EmptyPrompts(kit)
    if kit.recorded is None:
        prompts.begin()
    else:
        replay_overhead(kit, kit.recorded)

    async def run(swarm: Swarm) -> None:
        if kit.recorded is not None:
            await replay_swarm(kit, kit.recorded, swarm, attempts)
        else:
            records = await SwarmRun(kit, swarm, attempts, prompts).run()
            check_authorized(kit.experiment, records)

    experiment = kit.experiment
    work = Work(
        session=experiment.session,
        folder=kit.folder.path,
        arms=tuple(mode.name for mode in experiment.modes),
        runs=experiment.runs,
        blocks=plan(experiment),
        finished=frozenset(head.trial for head in done if head.trial is not None),
        run=run,
        emit=kit.emit,
    )
    return await run_session(work)
