"""What reads a figure gives none that cannot be."""

import math

import pytest

from swarm_bench.core.metric import Guarded


@pytest.mark.parametrize("value", [0, 1, 0.5, True, False, 1 + 1e-12, -1e-12])
def test_a_share_is_what_was_read(value: float) -> None:
    assert Guarded[None](lambda _: value, share=True).attempt(None) == (value, None)


@pytest.mark.parametrize("value", [95, 1.01, -0.01, -3.0])
def test_what_is_beyond_the_whole_is_no_share(value: float) -> None:
    clause = f"it gave {value}, and a share lies between 0 and 1"
    assert Guarded[None](lambda _: value, share=True).attempt(None) == (None, clause)
    assert Guarded[None](lambda _: value).attempt(None) == (value, None)


@pytest.mark.parametrize("share", [True, False])
def test_what_is_no_figure_is_missing(share: bool) -> None:
    clause = "it gave nan, which is no figure"
    assert Guarded[None](lambda _: math.nan, share=share).attempt(None) == (None, clause)
