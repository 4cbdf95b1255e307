"""What stands behind the effects of a headline: other estimates, tests, and shares."""

from dataclasses import dataclass

from swarm_bench.core.metric import Metric


@dataclass(frozen=True, kw_only=True)
class EffectDetail:
    """One metric of a mode against the reference, task by task."""

    mode: str
    metric: Metric
    middle: float | None
    """The Hodges-Lehmann estimate: a ratio, or a difference; `None` for too many tasks."""
    interval: tuple[float, float] | None
    """That of the signed ranks, of at least 95 %; `None` for fewer than six tasks, or too many."""
    below: int
    """Tasks in which the mode has less."""
    equal: int
    above: int
    p: float
    """p of the test that flips the signs of the differences."""
    floor: float
    """The smallest p that the test could have given."""
    adjusted: float | None
    """The p of the t test, adjusted for all modes; `None` but for the primary metric."""


@dataclass(frozen=True, kw_only=True)
class YesOrNo:
    """A metric that is yes or no, where each task was asked once."""

    mode: str
    metric: Metric
    passed: int
    tasks: int
    interval: tuple[float, float]
    """Wilson's interval of the share."""
    p: float | None
    """Mid-p of McNemar's test against the reference; `None` for the reference."""


@dataclass(frozen=True, kw_only=True)
class Details:
    """All that a reader may want to hold against a verdict."""

    effects: tuple[EffectDetail, ...]
    yes_or_no: tuple[YesOrNo, ...]
