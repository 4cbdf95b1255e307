"""Shares of success that benchmarks declare."""

from swarm_bench.benchmarks.cases.passing import answer_share
from swarm_bench.core.metric import Better


def test_a_share_is_compared_unless_it_says_otherwise() -> None:
    share = answer_share("right", "Right", "Right answers.")
    assert (share.compared, share.better) == (True, Better.HIGHER)
    assert not answer_share("right", "Right", "Right answers.", compared=False).compared
