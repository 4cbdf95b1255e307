"""What a plan says of a session that ends with its verdict, against sessions that are looked at."""

import math
import os

import numpy as np
import pytest

from swarm_bench.analysis.planning.chances import Bar, Truth
from swarm_bench.analysis.planning.forecast import EQUAL, assume_quality
from swarm_bench.analysis.planning.outlook import compute_endings
from swarm_bench.analysis.statistics.verdict_rule import Verdict
from tests.simulation.looking import BLOCK, MARGIN, Floats, looks, normal

REPETITIONS = int(os.environ.get("REPETITIONS", "1000"))
pytestmark = pytest.mark.timeout(max(120, REPETITIONS // 20))
BAR = Bar(margin=MARGIN, quality_margin=MARGIN)


def recalls(tasks: int, rng: np.random.Generator) -> Floats:
    """Draw differences of two files each, found in four of five runs; help differs by 0.1."""
    shape = (REPETITIONS, tasks)
    own = np.clip(rng.normal(0.8, 0.1, shape), 0, 1)
    differences: Floats = (rng.binomial(2, own) - rng.binomial(2, 0.8, shape)) / 2
    return differences


@pytest.mark.parametrize("equal", [True, False], ids=["equal", "varied"])
@pytest.mark.parametrize("noise", [0.3, 0.45])
@pytest.mark.parametrize(("tasks", "saving"), [(60, 0.2), (120, 0.2), (120, 0.4)])
def test_a_plan_tells_when_sessions_end(
    tasks: int, saving: float, noise: float, *, equal: bool
) -> None:
    rng = np.random.default_rng(8)
    spent = normal((REPETITIONS, tasks), 1 - saving, noise, rng)
    found = np.zeros_like(spent) if equal else recalls(tasks, rng)
    ended = np.zeros(REPETITIONS)
    for cost, quality in zip(looks(spent), looks(found), strict=True):
        (worse, better), lower = quality.beyond(), cost.beyond()[0]
        stands = lower & (quality.not_worse() | better | worse)
        ended = np.where((ended == 0) & stands, cost.tasks / tasks, ended)
    answers = EQUAL if equal else assume_quality(1)
    truth = Truth(
        saving=saving, spread=noise, quality_spread=answers.spread, differing=answers.differing
    )
    shares = [number / tasks for number in range(BLOCK, tasks + 1, BLOCK)]
    said = compute_endings(truth, tasks, shares, BAR)
    clear, every = float((ended > 0).mean()), np.where(ended > 0, ended, 1)
    median, most = (float(np.quantile(every, share, method="higher")) for share in (0.5, 0.9))
    print(  # noqa: T201  # with -s
        f"{tasks} tasks, {saving}, noise {noise}, {answers}: clear {said.clear:.3f} {clear:.3f}, "
        f"median {said.median * tasks:.0f} {median * tasks:.0f}, "
        f"most {said.long_end * tasks:.0f} {most * tasks:.0f}"
    )
    drawn = 2 * math.sqrt(max(clear, 0.01) * (1 - clear) / REPETITIONS)
    assert said.clear == pytest.approx(clear, abs=0.05 + drawn)
    for share, end in ((0.5, said.median), (0.9, said.long_end)):
        assert (every <= end + 1e-9).mean() >= share - 0.05 - drawn
        assert (every < end - 1e-9).mean() <= share + 0.05 + drawn
    assert sum(said.verdicts.values()) == pytest.approx(1)


def test_too_few_tasks_end_with_no_verdict() -> None:
    said = compute_endings(Truth(saving=0.4, spread=0.1), 5, [1.0], BAR)
    assert (said.clear, said.median, said.long_end) == (0, 1, 1)
    assert said.verdicts[Verdict.INCONCLUSIVE] == 1
