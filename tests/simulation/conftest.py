"""What simulations do less often than sessions would."""

from collections.abc import Iterator
from functools import lru_cache

import pytest

from swarm_bench.analysis.statistics import effects


@pytest.fixture(autouse=True, scope="package")
def drawn_once() -> Iterator[None]:
    """The flips of signs are the same for every test of so many values: they are drawn once."""
    draw = effects._draw_flips
    once = lru_cache(maxsize=64)(lambda values: tuple(draw(values)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effects, "_draw_flips", once)
        yield
