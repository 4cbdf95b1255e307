"""The measures of ranked lists, against those of trec_eval."""

from collections.abc import Sequence

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarm_bench.source.ranking import ndcg_at, recall_at, reciprocal_rank

NAMES = [f"{number}.py" for number in range(15)]


@settings(deadline=None)
@given(st.permutations(NAMES), st.integers(0, 15), st.sets(st.sampled_from(NAMES), min_size=1))
def test_they_are_those_of_trec_eval(
    order: Sequence[str], answered: int, relevant: set[str]
) -> None:
    ranked = order[:answered]
    measures = {
        **{f"R@{k}": recall_at(ranked, relevant, k) for k in (1, 5, 10)},
        "RR": reciprocal_rank(ranked, relevant),
        "nDCG@10": ndcg_at(ranked, relevant, 10),
    }
    # A list that is empty would be no answer to be measured, so there is one more name in each.
    run = {"q": {"other": -1.0, **{name: 100.0 - i for i, name in enumerate(ranked)}}}
    judged = {"q": dict.fromkeys(relevant, 1)}
    named = [ir_measures.parse_measure(name) for name in measures]
    expected = ir_measures.calc_aggregate(named, judged, run)
    assert {str(measure): value for measure, value in expected.items()} == pytest.approx(measures)
