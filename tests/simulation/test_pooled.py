"""The intervals of figures of many records, where the truth is known: a corpus BLEU of answers of
which a third of the words are right, one that a few good answers decide, an F1 with a positive in
ten, and in each the difference of two arms."""

import math
import os
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from swarm_bench.analysis.aggregates import pool
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.scoring.texts.bleu import corpus_bleu

REPETITIONS = int(os.environ.get("REPETITIONS", "300"))
POPULATION = 50_000
SKILLS = {"bleu": (1, 2), "bleu that few decide": (0.5, 3)}
"""Of a beta distribution of the share of words that are right."""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(max(300, REPETITIONS))]
Counts = NDArray[np.float64]
"""A row for each case."""


def f1(sums: Sequence[float]) -> float | None:
    return 2 * sums[0] / (sums[1] + sums[2]) if sums[1] + sums[2] else None


def answers(rng: np.random.Generator, quality: NDArray[Any]) -> Counts:
    """Draw texts of very different lengths."""
    truth = 1 + rng.poisson(np.exp(rng.normal(2.2, 0.7, len(quality))))
    guess = 1 + rng.poisson(truth * np.exp(rng.normal(0, 0.3, len(quality))))
    ngrams = np.array([np.maximum(guess - order, 0) for order in range(4)])
    matches = np.array([rng.binomial(ngrams[order], quality ** (order + 1)) for order in range(4)])
    return np.vstack([matches, ngrams, guess, truth]).T.astype(float)


def labels(rng: np.random.Generator, recall: float) -> Counts:
    """Draw answers of which a tenth should say yes."""
    positive = rng.random(POPULATION) < 0.1
    says_yes = rng.random(POPULATION) < np.where(positive, recall, 0.05)
    return np.vstack([positive & says_yes, positive, says_yes]).T.astype(float)


def populations(name: str) -> tuple[Counts, Counts]:
    """Draw what two arms answer to all cases there are."""
    rng = np.random.default_rng(7)
    if name == "f1":
        return labels(rng, 0.8), labels(rng, 0.6)
    skill = rng.beta(*SKILLS[name], POPULATION)
    return answers(rng, skill), answers(rng, skill**1.5)


def values(figure: Callable[..., Any], counts: Counts) -> list[float] | None:
    """Return those of the cases; `None` where the sample has no figure."""
    metric = Metric(
        key="m", title="M", unit="0 to 1", style=Style.FRACTION, definition="d", relative=False,
        better=Better.HIGHER, counts=lambda record: record, of_counts=figure,
    )  # fmt: skip
    rows = {f"c{number}": tuple(row) for number, row in enumerate(counts.tolist())}
    made = pool(metric, [rows])
    return [value for (value,) in made.values()] or None


@pytest.mark.parametrize(
    ("name", "cases", "least"),
    [
        *(
            (name, cases, least)
            for name in ("bleu", "f1")
            for cases, least in ((100, 0.90), (500, 0.93))
        ),
        ("bleu that few decide", 100, 0.84),
        ("bleu that few decide", 500, 0.91),
    ],
)
def test_the_interval_covers(name: str, cases: int, least: float) -> None:
    (own, other), figure = populations(name), f1 if name == "f1" else corpus_bleu
    truths = [figure(counts.sum(axis=0).tolist()) or 0.0 for counts in (own, other)]
    covered, differences = list[bool](), list[bool]()
    for number in range(REPETITIONS):
        drawn = np.random.default_rng(number).integers(0, POPULATION, cases)
        sides = [values(figure, counts[drawn]) for counts in (own, other)]
        if sides[0] is None or sides[1] is None:
            continue
        between = [a - b for a, b in zip(sides[0], sides[1], strict=True)]
        covered.append(_covers(sides[0], truths[0]))
        differences.append(_covers(between, truths[0] - truths[1]))
    shares = fmean(covered), fmean(differences)
    print(name, cases, "coverage:", *shares)  # noqa: T201  # with -s
    assert len(covered) > 0.99 * REPETITIONS
    noise = 2 * math.sqrt(least * (1 - least) / REPETITIONS)
    assert min(shares) >= least - noise


def _covers(sample: Sequence[float], truth: float) -> bool:
    bounds = Effect(differences=tuple(sample)).interval()
    assert bounds
    return bounds[0] <= truth <= bounds[1]
