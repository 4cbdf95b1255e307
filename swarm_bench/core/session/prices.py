"""What tokens cost, and which price a model has."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.outcome import Usage

HIGHEST = 1_000_000
"""Dollars per million tokens."""
KINDS = ("input", "cache_write", "cache_read", "output")
"""Kinds of tokens, each with a price of its own."""
_DATE = re.compile(r"[-@]20\d\d(?:\d{4}|-\d\d-\d\d)", re.ASCII)
_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a model costs: US dollars per million tokens."""

    input: float
    cache_write: float
    cache_read: float
    output: float
    table: str
    """Name of the table that has it, with its date."""

    def __post_init__(self) -> None:
        for kind in KINDS:
            amount = getattr(self, kind)
            if not (math.isfinite(amount) and 0 <= amount <= HIGHEST):
                raise ValueError(f"{amount} cannot be a price of {kind}")

    def compute_cost(self, usage: Usage) -> float | None:
        """Price a usage in US dollars; `None` when it is not known completely, or cannot be."""
        parts = (
            (self.input, usage.input),
            (self.cache_write, usage.cache_create),
            (self.cache_read, usage.cache_read),
            (self.output, usage.output),
        )
        total = 0.0
        for price, tokens in parts:
            if tokens is None or tokens < 0:
                return None
            total += price * tokens
        return total / _MILLION


Prices = Mapping[str, Price]
"""Prices by the id of the model."""


def find_price(model: str | None, prices: Prices) -> Price | None:
    """Look up a model: by its exact id, then without the date that ends it. No other id is taken
    for it."""
    if model is None or model in prices:
        return prices.get(model) if model else None
    date = _DATE.search(model)
    return prices.get(model[: date.start()]) if date and date.end() == len(model) else None
