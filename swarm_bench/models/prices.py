"""The dated table of list prices that is shipped. Scout prices itself from it, so this is light."""

import tomllib
from pathlib import Path

from swarm_bench.core.session.prices import Price, Prices, find_price

TABLE = "prices-2025-10-01"


def read_shipped() -> Prices:
    """Read the shipped prices."""
    table = tomllib.loads(Path(__file__).with_name(f"{TABLE}.toml").read_text("utf-8"))
    models = {model: price for model, price in table.items() if isinstance(price, dict)}
    return {model: Price(**price, table=TABLE) for model, price in models.items()}


def price(model: str) -> Price | None:
    """Look up a shipped price; `None` when the table does not have it."""
    return find_price(model, read_shipped())
