"""A limit, held against what there is on it."""

from swarm_bench.analysis.gate.evidence import Evidence
from swarm_bench.analysis.gate.limits import judge_limit
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.gate import Bound, Kind, Limit, State

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
