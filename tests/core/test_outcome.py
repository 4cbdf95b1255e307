"""Sums of tokens."""

from swarm_bench.core.outcome import Usage


def test_a_figure_that_one_lacks_is_missing_in_the_sum() -> None:
    whole = Usage(input=1, cache_read=2, cache_create=0, output=3)
    part = Usage(input=1, cache_read=2)
    assert Usage.total([whole, whole]) == Usage(input=2, cache_read=4, cache_create=0, output=6)
    assert Usage.total(iter([whole, part])) == Usage(input=2, cache_read=4)


def test_the_sum_of_none_is_not_zero() -> None:
    assert Usage.total([]) == Usage()
