"""Figures that cannot be are missing, and counted."""

from typing import Any

import pytest

from swarm_bench.analysis.caveats.missing_figures import describe_failed_metrics
from swarm_bench.analysis.gate.modes import make_gate
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.stored.limits import parse_limits
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.gate import Bound, Gate, Kind, State
from tests.builders.keyed import PAID
from tests.builders.sessions import make_session, make_trial

TASKS: list[dict[str, Any]] = [
    {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is {n}?", "key": {"files": [f"{n}.py"]}}
    for n in range(12)
]


def selection(*shares: float) -> Selection:
    """Both modes found as much, but that the second has other figures in some tasks."""
    other = dict(enumerate(shares))
    trials = [
        make_trial(mode, agent=n + 1, task_id=f"t{n}", scores={"file_recall": share}, **PAID)
        for mode in ("baseline", "canopy")
        for n in range(len(TASKS))
        for share in [other.get(n, 0.5 + n / 40) if mode == "canopy" else 0.5 + n / 40]
    ]
    return Selection(make_session(*trials, tasks=TASKS, agents=len(TASKS)), METRICS)


def held(own: Selection, least: str) -> Gate:
    experiment = own.data.experiment
    limits = parse_limits({Kind.MIN: [least]}, METRICS, experiment.arms, {"recall"})
    return make_gate(own, limits, Bound.ESTIMATE)


@pytest.mark.parametrize("share", [7.5, -3.0, 95.0])
def test_a_stored_share_that_cannot_be_is_missing_and_counted(share: float) -> None:
    assert not list(describe_failed_metrics(selection(0.0, 1.0)))
    (sentence,) = describe_failed_metrics(selection(0.0, share))
    assert "file_recall failed on 1 of 24 trials" in sentence
    assert sentence.endswith(f"it gave {share}, and a share lies between 0 and 1")


def test_no_gate_is_passed_by_shares_that_cannot_be() -> None:
    (honest,) = held(selection(), "file_recall=0.5").verdicts
    assert honest.state is State.HOLDS
    for number in (1, 6, 12):
        (verdict,) = held(selection(*[95.0] * number), "file_recall=0.9").verdicts
        assert verdict.state is not State.HOLDS
        assert verdict.estimate is None or verdict.estimate <= 1
