"""What is computed from scipy's functions alone is what `scipy.stats` computes."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from swarm_bench.analysis.statistics.censoring import Censored
from swarm_bench.analysis.statistics.effects import Effect, compute_mcnemar, compute_wilson
from swarm_bench.analysis.statistics.formulas import (
    compute_detectable,
    compute_power,
    compute_sd_interval,
    compute_t_limit,
)
from swarm_bench.analysis.statistics.verdict_rule import count_cases

LIKELY_TIED = st.sampled_from([-0.3, -0.2, -0.1, 0.1, 0.2, 0.3])
"""Their sums are often equal but for the rounding."""


@settings(max_examples=40)
@given(st.lists(st.one_of(LIKELY_TIED, st.floats(-9, 9).filter(bool)), min_size=2, max_size=20))
def test_flips_of_signs_are_those_of_its_permutation_test(values: list[float]) -> None:
    """To the last bit: of few values all of them, of more the same draw."""
    theirs = stats.permutation_test(
        (np.array(values),),
        np.mean,
        permutation_type="samples",
        n_resamples=9_999,
        batch=1_000,
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    assert Effect(differences=tuple(values)).sign_flip_p == theirs.pvalue


def test_quantiles_are_its_own() -> None:
    for size, share in product((1, 2.5, 7, 99.3, 1e6), (0.9, 0.975, 0.9995)):
        assert compute_t_limit(share, size) == stats.t.ppf(share, size)
    for freedom in (1, 7, 1000):
        low, high = stats.chi2.ppf([0.975, 0.025], freedom)
        theirs = math.sqrt(freedom / low), math.sqrt(freedom / high)
        assert compute_sd_interval(1.0, freedom) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("trials", [1, 2, 9, 100, 4321])
def test_the_interval_of_a_share_is_that_of_its_binomial_test(trials: int) -> None:
    for passed in {0, 1, trials // 3, trials - 1, trials}:
        theirs = stats.binomtest(passed, trials).proportion_ci(0.95, method="wilson")
        assert compute_wilson(passed, trials) == (theirs.low, theirs.high)


@pytest.mark.parametrize(("gained", "lost"), [(0, 1), (1, 0), (3, 3), (2, 9), (40, 17), (300, 411)])
def test_mcnemar_is_of_its_binomial_distribution(gained: int, lost: int) -> None:
    few, half = min(gained, lost), stats.binom(gained + lost, 0.5)
    pairs = [(True, False)] * gained + [(False, True)] * lost + [(True, True)] * 2
    mid = min(1.0, 2 * half.cdf(few) - half.pmf(few))
    assert compute_mcnemar(pairs) == pytest.approx(mid, rel=1e-11)


@pytest.mark.parametrize("freedom", [1, 2.3, 5, 19.5, 400])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3, 0.001])
def test_what_is_detectable_is_seen_with_its_noncentral_t(freedom: float, alpha: float) -> None:
    limit = stats.t.ppf(1 - alpha / 2, freedom)
    for errors in (0, 0.7, 3, 12):
        assert compute_power(errors, freedom, alpha) == pytest.approx(
            stats.nct.sf(limit, freedom, errors), rel=1e-9
        )
    size = compute_detectable(1.0, freedom + 1, alpha)
    assert size is not None
    errors = size * math.sqrt(freedom + 1)
    assert stats.nct.sf(limit, freedom, errors) == pytest.approx(0.8, rel=1e-12)


def test_how_many_cases_show_few_losses_is_of_its_negative_binomial() -> None:
    for losses, margin in product((0, 1, 2, 7, 40), (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.99, 1)):
        more = int(stats.nbinom.ppf(0.95, losses + 1, margin))
        assert count_cases(losses, margin) == more + losses + 1


@given(st.lists(st.sampled_from([-math.inf, -2.0, -0.5, 0.0, 0.5, 2.0, math.inf]), min_size=1))
def test_ranks_of_equal_differences_are_shared(values: list[float]) -> None:
    ranks = stats.rankdata(np.abs(values))
    censored = Censored(differences={str(n): it for n, it in enumerate(values)}, unknown_cases=0)
    assert censored.ranks.differences == tuple(
        math.copysign(rank, value) if value else 0.0
        for rank, value in zip(ranks.tolist(), values, strict=True)
    )
