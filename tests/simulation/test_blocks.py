"""Identical modes while the provider gets dearer within each run, in the order that the plan has;
`make simulate` takes ten times as many."""

import os

import numpy as np
import pytest

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.pairing import Cases, pair_figures
from swarm_bench.benchmarks.swarm.run_plan import deal_blocks, plan
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.engine.plan import iterate_groups
from tests.builders.experiments import experiment
from tests.simulation.counting import called_different
from tests.simulation.noise import ARMS, METRIC, Observation, Size, group_by_case, names

REPETITIONS = int(os.environ.get("REPETITIONS", "1000"))
RISE = 1.3
"""What a trial at the end of a run spends of what it would have spent at its beginning."""
SPREAD = 0.3
SIZES = [Size(tasks=8, runs=1), Size(tasks=12, runs=1), Size(tasks=30, runs=1),
         Size(tasks=12, runs=3)]  # fmt: skip
pytestmark = pytest.mark.timeout(max(120, REPETITIONS // 4))


def session(size: Size, seed: int, *, whole: bool) -> Experiment:
    """The modes are identical; `whole`: as before blocks were within runs."""
    one = experiment(
        tasks=names(size), modes=ARMS, runs=size.runs, all_tasks=True, concurrency=4, seed=seed
    )
    return one if whole else deal_blocks(one, None)


def spent(one: Experiment, seed: int) -> list[Observation]:
    """Draw what the trials spend, which rises steadily from the first of a run to its last."""
    rng = np.random.default_rng(seed)
    trials = [trial for swarm in iterate_groups(plan(one)) for trial in swarm.trials]
    per_run = len(trials) // one.runs
    dear = rng.normal(10, 0.8, len(one.tasks))
    return [
        Observation(
            trial.arm,
            trial.case.id,
            trial.run,
            METRIC,
            float(
                np.exp(dear[trial.number - 1] + rng.normal(0, SPREAD))
                * RISE ** (turn % per_run / (per_run - 1))
            ),
            trial.number,
        )
        for turn, trial in enumerate(trials)
    ]


def effects(size: Size, *, whole: bool) -> list[Effect]:
    every = []
    for seed in range(REPETITIONS):
        rows = spent(session(size, seed, whole=whole), seed)
        own, other = (group_by_case([row for row in rows if row.arm == arm]) for arm in ARMS)
        every.append(pair_figures(own, other, Cases(ids=names(size)), relative=True).effect)
    return every


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_drift_within_a_run_makes_no_difference_of_modes(size: Size) -> None:
    shares = {whole: called_different(effects(size, whole=whole)) for whole in (True, False)}
    print(size, "called different:", shares[True], "in whole runs,", shares[False], "in blocks")  # noqa: T201
    assert shares[False] <= 0.06 < 0.07 < shares[True]
