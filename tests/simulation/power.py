"""How small a saving an experiment can detect: by the formula, and by what is detected."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from swarm_bench.analysis.statistics.formulas import ALPHA, detectable, median_variance
from tests.simulation.noise import Noise, Size, logarithms


def smallest_saving(size: Size, noise: Noise) -> float:
    """Compute the share saved that the t test sees in 80 of 100 experiments, if runs are normal."""
    # Half of the interaction in each arm is a run's noise that no second run takes away.
    variance = noise.interaction**2 / 2 + noise.run**2 * median_variance(size.runs)
    difference = detectable(math.sqrt(2 * variance), size.tasks)
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
