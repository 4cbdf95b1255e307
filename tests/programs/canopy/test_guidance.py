"""The worked values of canopy 0.4.0."""

import pytest

from swarm_bench.programs.canopy.search.guidance import Evidence, guidance


def _evidence(score: float, count: int, files: int) -> Evidence:
    return Evidence(
        scores=[score] * count, files=files, matches=count, truncated=False, max_handles=8
    )


def test_eight_good_functions_say_expand_two_and_answer() -> None:
    found = guidance(_evidence(0.877, 8, 5))
    assert round(found["confidence"], 2) == 0.93
    assert found["confidence_band"] == "high"
    assert found["suggested_expand_count"] == 2
    assert found["stop_querying"] is True
    assert found["recommended_action"] == "expand_then_answer"
    assert found["max_additional_queries"] == 0
    assert "0.93" in found["rationale"]
    assert "2" in found["next_step"]


def test_eight_chunks_without_a_word_in_common_say_stop_too() -> None:
    found = guidance(_evidence(0.155, 8, 5))
    assert round(found["confidence"], 2) == 0.54
    assert found["confidence_band"] == "medium"
    assert found["suggested_expand_count"] == 3
    assert found["stop_querying"] is True


def test_one_good_hit_is_enough() -> None:
    found = guidance(_evidence(0.877, 1, 1))
    assert round(found["confidence"], 2) == 0.61
    assert found["stop_querying"] is True
    assert found["suggested_expand_count"] == 1


def test_little_evidence_asks_for_one_more_query() -> None:
    found = guidance(_evidence(0.2, 2, 1))
    assert found["stop_querying"] is False
    assert found["recommended_action"] == "refine_query"
    assert found["max_additional_queries"] == 1


def test_nothing_found() -> None:
    found = guidance(_evidence(0, 0, 0))
    assert found["confidence"] == 0
    assert found["confidence_band"] == "low"
    assert found["suggested_expand_count"] == 0
    assert found["max_additional_queries"] == 2
    assert found["stop_querying"] is False


def test_a_cut_result_costs_a_tenth() -> None:
    whole = Evidence(scores=[0.5], files=1, matches=3, truncated=False, max_handles=8)
    cut = Evidence(scores=[0.5], files=1, matches=3, truncated=True, max_handles=8)
    assert whole.confidence - cut.confidence == pytest.approx(0.10)
