"""What tokens cost."""

import pytest

from swarm_bench.core.outcome import Usage
from swarm_bench.models.prices import price


def test_every_kind_of_token_has_its_price() -> None:
    rules = price("rules")
    assert rules is not None
    million = 1_000_000
    assert rules.compute_cost(Usage(input=million, cache_read=0, cache_create=0, output=0)) == 3
    usage = Usage(input=million, cache_read=million, cache_create=million, output=million)
    assert rules.compute_cost(usage) == pytest.approx(3 + 0.3 + 3.75 + 15)


def test_what_is_not_known_has_no_price() -> None:
    rules = price("rules")
    assert rules is not None
    assert rules.compute_cost(Usage(input=1, cache_read=1, cache_create=1)) is None
    assert price("a model that is not in the table") is None
