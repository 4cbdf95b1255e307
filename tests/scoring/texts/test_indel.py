from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.scoring.texts.indel import indel
from tests.scoring.texts.golden_values import TOLERANCE, golden_values


@pytest.mark.parametrize("pair", golden_values("fim_scores"))
def test_similarity_of_a_hole(pair: dict[str, Any]) -> None:
    similarity = indel(pair["scored_guess"], pair["scored_middle"])
    assert similarity == pytest.approx(pair["indel"], abs=TOLERANCE)


def test_two_empty_texts_are_equal_and_blanks_count() -> None:
    assert indel("", "") == 1.0
    assert indel("", "a") == 0.0
    assert indel("foo(bar)", "foo( bar )") == pytest.approx(0.8889, abs=1e-4)


@given(guess=st.text(), truth=st.text())
def test_it_is_symmetric_and_a_share(guess: str, truth: str) -> None:
    assert 0 <= indel(guess, truth) <= 1
    assert indel(guess, truth) == indel(truth, guess)
    assert indel(truth, truth) == 1.0
