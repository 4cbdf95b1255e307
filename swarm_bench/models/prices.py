"""What tokens cost, from a dated table of list prices."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.core.outcome import Usage

TABLE = "prices-2025-10-01"
_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float
    cache_create: float
    cache_read: float
    output: float

    def of(self, usage: Usage) -> float | None:
        """Price a usage in US dollars; `None` when it is not known completely."""
        parts = (
            (self.input, usage.input),
            (self.cache_create, usage.cache_create),
            (self.cache_read, usage.cache_read),
            (self.output, usage.output),
        )
        total = 0.0
        for price, tokens in parts:
            if tokens is None:
                return None
            total += price * tokens
        return total / _MILLION


def price(model: str) -> Price | None:
    """Look up the price of a model; `None` when the table does not have it."""
    table = tomllib.loads(Path(__file__).with_name(f"{TABLE}.toml").read_text("utf-8"))
    return Price(**table[model]) if model in table else None
