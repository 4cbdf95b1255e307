"""How small a saving an experiment can detect: by the formula, and by what is detected; and how
often each verdict is reached."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import (
    ALPHA,
    compute_detectable,
    compute_median_variance,
)
from swarm_bench.analysis.statistics.verdict_rule import (
    Verdict,
    classify_quality,
    classify_ratio,
    find_verdict,
)
from tests.simulation.noise import Noise, Size, logarithms

MARGIN = 0.1
FILES = 2
"""Of each key."""


def smallest_saving(size: Size, noise: Noise) -> float:
    """Compute the share saved that the t test sees in 80 of 100 experiments, if runs are normal."""
    # Half of the interaction in each arm is a run's noise that no second run takes away.
    variance = noise.interaction**2 / 2 + noise.run**2 * compute_median_variance(size.runs)
    difference = compute_detectable(math.sqrt(2 * variance), size.tasks)
    assert difference
    return 1 - math.exp(-difference)


def detected(size: Size, noise: Noise, ratio: float, repetitions: int) -> float:
    """Compute in which share of the experiments the t test sees that the tool takes less."""
    differences = np.stack(
        [_differences(logarithms(size, noise, ratio, number)) for number in range(repetitions)]
    )
    errors = differences.std(axis=1, ddof=1) / math.sqrt(size.tasks)
    limit = stats.t.ppf(1 - ALPHA / 2, size.tasks - 1)
    return float(np.mean(differences.mean(axis=1) / errors < -limit))


def _differences(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    own, reference = np.median(logs, axis=2)
    difference: NDArray[np.float64] = own - reference
    return difference


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What two modes find in the same tasks."""

    rate: float = 1.0
    """Share of the runs that find a file; with 1 all answers are equal."""
    helps: float = 0.0
    """By how much the rate of the tool differs between tasks."""

    def differences(self, size: Size, number: int) -> NDArray[np.float64]:
        """Draw the differences in recall of the experiment of a number."""
        rng = np.random.default_rng([number, size.tasks, size.runs, FILES])
        tool = np.clip(rng.normal(self.rate, self.helps, (size.tasks, 1)), 0, 1)
        rates = np.stack([tool, np.full((size.tasks, 1), self.rate)])
        recall = rng.binomial(FILES, rates, (2, size.tasks, size.runs)) / FILES
        means = recall.mean(axis=2)
        difference: NDArray[np.float64] = np.round(means[0] - means[1], 9)
        return difference


def reached(
    size: Size, noise: Noise, ratio: float, answers: Answers, repetitions: int
) -> dict[Verdict, float]:
    """Compute in which share of the experiments the rule reaches each verdict."""
    counts: Counter[Verdict] = Counter()
    for number in range(repetitions):
        spent = Effect(differences=tuple(_differences(logarithms(size, noise, ratio, number))))
        recall = Effect(differences=tuple(answers.differences(size, number)))
        counts[find_verdict(classify_ratio(spent, MARGIN), classify_quality(recall, MARGIN))] += 1
    return {name: counts[name] / repetitions for name in Verdict}
