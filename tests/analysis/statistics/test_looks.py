"""The test that may be looked at after each case."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.looks import (
    compute_detectable_at_last,
    compute_half_width,
    compute_log_evidence,
    compute_log_rarity,
    count_fewest_at_every_look,
)
from swarm_bench.analysis.statistics.verdict_rule import count_cases, is_too_few

Floats = NDArray[np.float64]
DIFFERENCES = (-0.4, -0.1, -0.35, -0.2, 0.05, -0.6, -0.3, -0.15, -0.25, -0.5)


@pytest.mark.parametrize("number", [8, 12, 40, 200, 12.5])
@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01])
def test_the_interval_ends_where_the_evidence_reaches_its_limit(
    number: float, alpha: float
) -> None:
    half = compute_half_width(0.3, number, alpha)
    if math.isfinite(half):
        assert compute_log_evidence(half, 0.3, number) == pytest.approx(-math.log(alpha))
    else:
        assert compute_log_evidence(1e9, 0.3, number) < -math.log(alpha)


def test_evidence_is_an_average_of_likelihood_ratios() -> None:
    """Of normal values with known effects, over a flat prior of the logarithm of their deviation,
    computed here as integrals."""
    values = np.array(DIFFERENCES)
    sigma = np.exp(np.linspace(-6, 5, 1500))[:, None]
    step = math.log(sigma[1, 0] / sigma[0, 0])
    effects, width = np.linspace(-6, 6, 1201), 12 / 1200

    def marginal(effect: Floats) -> Floats:
        squares = ((values[:, None, None] / sigma - effect) ** 2).sum(axis=0)
        logs = -squares / 2 - len(values) * np.log(sigma)
        whole: Floats = np.exp(logs).sum(axis=0) * step
        return whole

    prior = np.exp(-((effects * 2) ** 2) / 2) * 2 / math.sqrt(2 * math.pi)
    ratio = (marginal(effects) * prior).sum() * width / marginal(np.zeros(1))[0]
    own = compute_log_evidence(values.mean(), values.std(), len(values))
    assert math.log(ratio) == pytest.approx(own, abs=1e-3)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_the_values_does_not_matter(scale: float) -> None:
    first, other = (
        Effect(differences=tuple(factor * it for it in DIFFERENCES), at_every_look=True)
        for factor in (1.0, scale)
    )
    assert other.t_p == pytest.approx(first.t_p)
    bounds, scaled = first.interval(), other.interval()
    assert bounds
    assert scaled
    assert [bound / scale for bound in scaled] == pytest.approx(bounds)


def test_looks_cost_width_and_few_cases_exclude_nothing() -> None:
    once, often = (Effect(differences=DIFFERENCES, at_every_look=it) for it in (False, True))
    (low, high), (lower, higher) = once.interval() or (0, 0), often.interval() or (0, 0)
    assert lower < low < high < higher
    assert often.estimate == once.estimate
    assert often.t_p == often.sign_flip_p
    assert often.floor <= (often.t_p or 0)
    assert often.wilcoxon_interval is None
    assert Effect(differences=DIFFERENCES[:6], at_every_look=True).interval() is None
    assert Effect(differences=(0.5,), at_every_look=True).sign_flip_p == 1


def test_equal_differences_are_limited_evidence() -> None:
    few, more = (Effect(differences=(0.2,) * it, at_every_look=True) for it in (6, 12))
    assert few.sign_flip_p > ALPHA
    assert 0 < more.sign_flip_p < 0.01
    assert Effect(differences=(0.0,) * 12, at_every_look=True).sign_flip_p == 1


@pytest.mark.parametrize("share", [0.05, 0.1, 0.35])
def test_losses_as_frequent_as_the_margin_are_rarely_called_rarer(share: float) -> None:
    """Computed exactly, over all ways in which 300 cases can be lost."""
    chances, crossed = {0: 1.0}, 0.0
    for cases in range(1, 301):
        after: dict[int, float] = {}
        for losses, chance in chances.items():
            after[losses] = after.get(losses, 0.0) + chance * (1 - share)
            after[losses + 1] = after.get(losses + 1, 0.0) + chance * share
        rare = {
            it
            for it in after
            if it < 12 and compute_log_rarity(it, cases, share) >= -math.log(ALPHA)
        }
        crossed += sum(after.pop(it) for it in rare)
        chances = after
    assert 0.02 < crossed <= ALPHA


def test_how_many_cases_show_that_losses_are_rare() -> None:
    needed = [count_cases(losses, 0.1, at_every_look=True) for losses in range(4)]
    assert needed == [30, 86, 107, 126]
    assert needed > [count_cases(losses, 0.1) for losses in range(4)]
    assert count_cases(3, 1.0, at_every_look=True) == 4
    equal = [Effect(differences=(0.0,) * it, at_every_look=True) for it in (29, 30)]
    assert [is_too_few(effect, 0.1) for effect in equal] == [True, False]


def test_how_many_cases_it_takes_fits_the_interval() -> None:
    needed = count_fewest_at_every_look(0.2, 0.4, 1000, ALPHA)
    assert needed
    assert (
        compute_half_width(0.4, needed, ALPHA) <= 0.2 < compute_half_width(0.4, needed - 1, ALPHA)
    )
    assert count_fewest_at_every_look(0.001, 0.4, 1000, ALPHA) is None


@pytest.mark.parametrize("cases", [20, 60])
def test_what_is_detectable_at_last_is_detected_in_80_of_100_sessions(cases: int) -> None:
    size = compute_detectable_at_last(0.3, cases, ALPHA)
    assert size
    drawn = np.random.default_rng(cases).normal(size, 0.3, (4000, cases))
    intervals = [Effect(differences=tuple(it), at_every_look=True).interval() for it in drawn]
    detected = sum(it is not None and it[0] > 0 for it in intervals) / len(drawn)
    assert 0.77 < detected < 0.83
    assert (
        compute_detectable_at_last(0.3, 1, ALPHA)
        is compute_detectable_at_last(0.3, 4, ALPHA)
        is None
    )
