"""A limit, held against what there is on it."""

from statistics import fmean

from swarm_bench.analysis.gate.limits import Evidence, judge_limit
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.report.gate import Bound, Kind, Limit, State

LIKELIHOOD = Metric(
    key="ll", title="Log-likelihood", unit="nats", style=Style.AVERAGE, definition="of a case.",
    better=Better.HIGHER, relative=False,
)  # fmt: skip
LIMIT = Limit(kind=Kind.MAX, metric="cost", value=1.0)


def why(effect: Effect, noun: str) -> str:
    evidence = Evidence(metric=METRICS["cost"], effect=effect, noun=noun)
    verdict = judge_limit(LIMIT, "canopy", evidence, Bound.INTERVAL)
    assert verdict.state is State.INCONCLUSIVE
    return verdict.why


def test_too_few_are_counted_as_they_are() -> None:
    few = Effect(differences=(0.1, 0.2, 0.3))
    assert why(few, "task") == "Fewer than 6 tasks show nothing."
    uneven = Effect(differences=(0.1, 0.2, 0.3) * 4, groups=("a",) * 5 + tuple(range(7)))
    assert uneven.units == 8
    assert why(uneven, "group") == "8 groups, worth fewer than 6, show nothing."


def test_only_what_cannot_be_negative_ends_at_0() -> None:
    def interval(metric: Metric, *values: float) -> tuple[float, float]:
        evidence = Evidence(metric=metric, effect=Effect(differences=values))
        assert evidence.interval
        return evidence.interval

    around = (-9.0, -2.0, -8.0, -1.0, -10.0, -3.0) * 2
    for values in (around, tuple(it + 5 for it in around)):
        least = Limit(kind=Kind.MIN, metric="ll", value=fmean(values) - 0.5)
        evidence = Evidence(metric=LIKELIHOOD, effect=Effect(differences=values))
        assert judge_limit(least, "m", evidence, Bound.INTERVAL).state is State.INCONCLUSIVE
        for metric in (LIKELIHOOD, METRICS["seen_first_seconds"]):
            low, high = interval(metric, *values)
            assert low < fmean(values) < high
    for key in ("file_recall", "cost", "seen_first_seconds"):
        assert interval(METRICS[key], 1.0, *[0.0] * 9)[0] == 0.0
