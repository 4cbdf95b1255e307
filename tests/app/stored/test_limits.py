"""Limits as they are typed."""

import pytest

from swarm_bench.app.stored.limits import check_numbers, parse_limits
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.gate import Kind, Limit

ARMS = ("baseline", "canopy")


def test_a_limit_can_name_a_mode() -> None:
    typed = {Kind.MAX_RATIO: ["canopy:cost=1.5"], Kind.MIN: ["recall=0"]}
    assert parse_limits(typed, METRICS, ARMS, {"recall"}) == (
        Limit(kind=Kind.MAX_RATIO, metric="cost", value=1.5, mode="canopy"),
        Limit(kind=Kind.MIN, metric="recall", value=0.0),
    )


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (Kind.MAX, "cots=1", "no metric called 'cots'; did you mean 'cost'?"),
        (Kind.MAX, "hit_rate=1", "no metric called 'hit_rate'"),
        (Kind.MAX, "canpy:cost=1", "no mode in this session called 'canpy'; did you mean 'canopy'"),
        (Kind.MAX_RATIO, "baseline:cost=1", "baseline is what the others are compared with"),
        (Kind.MAX_RATIO, "file_recall=1", "no metric of which ratios are computed"),
        (Kind.MAX_RATIO, "recall=1", "no metric of which ratios are computed"),
        (Kind.MIN, "file_recall=60", "file_recall lies between 0 and 1"),
        (Kind.MIN, "recall=60", "recall lies between 0 and 1"),
        (Kind.MIN, "recall=-1", "recall lies between 0 and 1"),
    ],
)
def test_what_no_session_has_is_refused(kind: Kind, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        parse_limits({kind: [text]}, METRICS, ARMS, {"recall"})


@pytest.mark.parametrize("text", ["cost", "cost=", "=1", "cost=nan", "cost=inf", "cost=5%", ""])
def test_what_is_no_number_is_refused_before_a_session_is_looked_at(text: str) -> None:
    with pytest.raises(UsageError, match="a limit is a metric and a number"):
        check_numbers({Kind.MAX: [text]})


def test_several_mistakes_are_named_at_once_and_none_is_one_too() -> None:
    with pytest.raises(ExceptionGroup):
        check_numbers({Kind.MAX: ["cost", "turns=x"]})
    with pytest.raises(UsageError, match="at least one limit"):
        check_numbers({Kind.MAX: []})
