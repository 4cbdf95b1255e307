"""Which price a model has."""

import math
from typing import Any

import pytest

from swarm_bench.core.outcome import Usage
from swarm_bench.core.session.prices import Price, find_price

FIGURES: dict[str, Any] = {"input": 2, "cache_write": 3, "cache_read": 1, "output": 8, "table": "t"}
PRICES = {
    "gpt-9": Price(**FIGURES),
    "gpt-9-mini": Price(**FIGURES),
    "pinned-2026-01-01": Price(**FIGURES),
}


@pytest.mark.parametrize(
    ("model", "taken"),
    [
        ("gpt-9", "gpt-9"),
        ("gpt-9-20260101", "gpt-9"),
        ("gpt-9-2026-01-01", "gpt-9"),
        ("gpt-9@20260101", "gpt-9"),
        ("gpt-9-mini-2026-01-01", "gpt-9-mini"),
        ("pinned-2026-01-01", "pinned-2026-01-01"),
        *((other, None) for other in (
            None, "", "gpt", "gpt-9-nano", "GPT-9", "openai/gpt-9", "gpt-9[1m]", "gpt-90", "pinned",
            "gpt-9-2026", "gpt-9-20260101-eu", "gpt-9-99990101", "pinned-2026-01-02",
        )),
    ],
)  # fmt: skip
def test_a_model_is_looked_up_by_its_id_and_without_its_date(
    model: str | None, taken: str | None
) -> None:
    assert find_price(model, PRICES) is (PRICES[taken] if taken else None)


def test_every_kind_of_token_has_its_price() -> None:
    price = Price(**FIGURES)
    million = 1_000_000
    usage = Usage(input=million, cache_create=million, cache_read=million, output=million)
    assert price.compute_cost(usage) == 2 + 3 + 1 + 8
    assert price.compute_cost(Usage(input=1, cache_read=0, output=1)) is None


@pytest.mark.parametrize("amount", [-1, math.nan, math.inf, 1e7])
def test_a_price_that_cannot_be_is_refused(amount: float) -> None:
    with pytest.raises(ValueError, match="cannot be a price of output"):
        Price(**{**FIGURES, "output": amount})
