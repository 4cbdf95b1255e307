"""The checks of rows of prompts."""

from swarm_bench.benchmarks.prompts.common import Checks


def test_an_answer_that_a_pattern_takes_too_long_for_is_not_matched() -> None:
    slow = Checks(contains=["total"], matches=["^(([a-z])+.)+[A-Z]([a-z])+$"])
    assert slow.share("y" * 5_000) == 0
    assert slow.share("total" + "y" * 5_000) == 0.5


def test_an_answer_that_has_nothing_of_it_is_not_praised_for_what_it_lacks() -> None:
    checks = Checks.model_validate({"contains": ["total"], "not": ["print", "exec"]})
    assert checks.share("def nothing(): return 1") == 0
    assert checks.share("total = 1") == 1
    assert Checks.model_validate({"not": ["print"]}).share("x") == 1
