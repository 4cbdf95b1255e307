"""The checks of rows of prompts."""

from swarm_bench.benchmarks.prompts.rows import Checks


def test_an_answer_that_a_pattern_takes_too_long_for_is_not_matched() -> None:
    slow = Checks(contains=["total"], matches=["^(([a-z])+.)+[A-Z]([a-z])+$"])
    assert slow.share("y" * 5_000) == 0
    assert slow.share("total" + "y" * 5_000) == 0.5
