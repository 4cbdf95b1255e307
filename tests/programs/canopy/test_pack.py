import pytest

from swarm_bench.programs.canopy.nodes import Handle, Node, NodeType, handle_hex
from swarm_bench.programs.canopy.parameters import PackLimits
from swarm_bench.programs.canopy.result_json import SearchResult
from swarm_bench.programs.canopy.search.pack import (
    Evidence,
    guidance,
    order_suggestions,
    pack_result,
    score,
    select,
)


def _handle(path: str, number: int, type_: NodeType, preview: str, tokens: int = 95) -> Handle:
    start = number * 10_000
    node = Node(type=type_, start=start, end=start + 4 * tokens, first_line=1, last_line=2)
    hex_ = handle_hex(path, type_, node.start, node.end)
    return Handle(hex=hex_, path=path, node=node, preview=preview)


def _found(*handles: Handle) -> SearchResult:
    return SearchResult(handles=list(handles), matches=len(handles))


def test_the_score_of_a_perfect_function_is_canopys() -> None:
    handle = _handle("src/auth.py", 0, NodeType.FUNCTION, "def login")
    assert round(score(handle, ["auth", "login"]), 3) == 0.877


def test_the_score_of_a_chunk_without_a_word_is_canopys() -> None:
    handle = _handle("x.txt", 0, NodeType.CHUNK, "nothing", tokens=600)
    assert round(score(handle, ["auth", "login"]), 3) == 0.155


def test_the_best_are_taken_and_few_per_file() -> None:
    handles = [_handle("a.py", n, NodeType.FUNCTION, "login") for n in range(5)]
    handles += [
        _handle("b.py", 0, NodeType.CHUNK, "login"),
        _handle("c.py", 0, NodeType.CLASS, "x"),
    ]
    pack = select("login", _found(*handles), PackLimits(max_handles=3, max_per_file=2))
    assert [handle.path for _, handle in pack.selected] == ["a.py", "a.py", "b.py"]


def test_of_equal_scores_the_shorter_comes_first_and_then_the_order_found() -> None:
    handles = [_handle(f"{name}.py", 0, NodeType.FUNCTION, "") for name in "cab"]
    pack = select("", _found(*handles), PackLimits())
    assert [handle.path for _, handle in pack.selected] == ["c.py", "a.py", "b.py"]


def test_what_was_expanded_is_suggested_last() -> None:
    ids = [str(number) for number in range(8)]
    assert order_suggestions(ids, {"0", "2"}) == ["1", "3", "4", "5", "0", "2"]


def test_when_all_suggestions_were_expanded_others_take_their_place() -> None:
    ids = [str(number) for number in range(8)]
    assert order_suggestions(ids, set("012345")) == ["6", "7", "0", "1", "2", "3"]


def test_a_pack_as_json() -> None:
    handle = _handle("src/auth.py", 0, NodeType.FUNCTION, "def login")
    result = pack_result(select("auth login", _found(handle), PackLimits()), set())
    assert result["selected_count"] == 1
    assert result["selected_tokens"] == 95
    assert result["expand_suggestion"] == [handle.id]
    assert result["files"] == [
        {"file_path": "src/auth.py", "handle_ids": [handle.id], "total_tokens": 95}
    ]
    (entry,) = result["handles"]
    assert set(entry) == {
        "id", "file_path", "node_type", "line_range", "token_count", "source", "score"
    }  # fmt: skip


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
