"""canopy_evidence_pack: selection, scores, guidance, and what happens when nothing is found."""

import math
from typing import Any

import pytest

PACK = {
    "query_text", "total_matches", "truncated", "selected_count", "selected_tokens", "handles",
    "files", "expand_suggestion", "guidance",
}  # fmt: skip
GUIDANCE = {
    "confidence", "confidence_band", "stop_querying", "recommended_action",
    "suggested_expand_count", "max_additional_queries", "rationale", "next_step",
}  # fmt: skip
WEIGHTS = {"function": 1.0, "method": 1.0, "class": 0.8, "struct": 0.8, "section": 0.6,
           "code_block": 0.5, "chunk": 0.3, "paragraph": 0.2}  # fmt: skip


def test_the_shape_of_a_pack(shared: Any) -> None:
    pack = shared.json("canopy_evidence_pack", pattern="login")
    assert set(pack) == PACK
    assert set(pack["guidance"]) == GUIDANCE
    for handle in pack["handles"]:
        assert set(handle) == {
            "id", "file_path", "node_type", "line_range", "token_count", "source", "score",
        }  # fmt: skip
        assert len(handle["id"]) == 25
        assert handle["id"].startswith("h")
    ids = [handle["id"] for handle in pack["handles"]]
    assert pack["selected_count"] == len(ids) == 4  # two for each of two files
    assert sorted(pack["expand_suggestion"]) == sorted(ids)
    assert pack["selected_tokens"] == sum(handle["token_count"] for handle in pack["handles"])
    assert [each["file_path"] for each in pack["files"]] == ["src/auth.py", "docs/guide.md"]
    for each in pack["files"]:
        of_file = [one for one in pack["handles"] if one["file_path"] == each["file_path"]]
        assert each["handle_ids"] == [one["id"] for one in of_file]
        assert each["total_tokens"] == sum(one["token_count"] for one in of_file)


def test_the_scores_follow_from_words_type_and_size(shared: Any) -> None:
    pack = shared.json("canopy_evidence_pack", pattern="login")
    scores = []
    for handle in pack["handles"]:
        size = 0.15 / (1 + math.log(max(handle["token_count"], 1)))
        # All of them have the one word in their path or preview.
        scores.append(0.6 + 0.25 * WEIGHTS[handle["node_type"]] + size)
        assert handle["score"] == pytest.approx(scores[-1])
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "arguments",
    [{"pattern": "login"}, {"pattern": "password", "max_handles": 1}, {"symbol": "logout"},
     {"parent": "AuthController"}, {"patterns": ["login", "key"], "max_per_file": 1},
     {"query": '(grep "key")'}, {"pattern": "login", "limit": 2}],
)  # fmt: skip
def test_the_guidance_follows_from_the_selection(shared: Any, arguments: dict[str, Any]) -> None:
    pack = shared.json("canopy_evidence_pack", **arguments)
    advice, count, files = pack["guidance"], pack["selected_count"], len(pack["files"])
    top = [handle["score"] for handle in pack["handles"]][:3]
    confidence = (
        0.55 * sum(top) / len(top)
        + 0.20 * min(files, 3) / 3
        + 0.15 * min(count / arguments.get("max_handles", 8), 1)
        + 0.10 * (0.4 if pack["total_matches"] < 3 else 1)
    )
    assert advice["confidence"] == pytest.approx(confidence)
    band = "low" if confidence < 0.35 else "medium" if confidence < 0.7 else "high"
    assert advice["confidence_band"] == band
    is_enough = confidence >= 0.55 or (count >= 4 and files >= 2)
    assert advice["stop_querying"] is is_enough
    assert advice["recommended_action"] == ("expand_then_answer" if is_enough else "refine_query")
    most = 2 if confidence >= 0.75 else 3 if confidence >= 0.5 else 4
    assert advice["suggested_expand_count"] == min(count, most)
    assert advice["max_additional_queries"] == (0 if is_enough else 1)


def test_nothing_found(shared: Any) -> None:
    pack = shared.json("canopy_evidence_pack", pattern="zebra giraffe")
    assert (pack["total_matches"], pack["selected_count"]) == (0, 0)
    assert pack["handles"] == pack["files"] == pack["expand_suggestion"] == []
    advice = pack["guidance"]
    assert (advice["confidence"], advice["confidence_band"]) == (0, "low")
    assert (advice["stop_querying"], advice["recommended_action"]) == (False, "refine_query")
    assert (advice["suggested_expand_count"], advice["max_additional_queries"]) == (0, 2)


def test_several_words_that_stand_nowhere_together_are_searched_for_singly(shared: Any) -> None:
    pack = shared.json("canopy_evidence_pack", pattern="hexdigest Evict")
    assert {each["file_path"] for each in pack["files"]} == {"src/auth.py", "lib/cache.go"}
    assert pack["query_text"] == "hexdigest evict"  # that of the second search
    for arguments in ({"pattern": "zebra Evict", "section": "x"}, {"patterns": ["zebra giraffe"]}):
        assert shared.json("canopy_evidence_pack", **arguments)["selected_count"] == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"pattern": "login", "glob": "*.py"}, "login *.py"),
     ({"patterns": ["login", "Save"], "symbol": "login"}, "login Save login"),
     ({"symbol": "login", "section": "a", "parent": "AuthController"}, "login a AuthController"),
     ({"query": '(grep "login")', "pattern": "key"}, "")],
)  # fmt: skip
def test_the_text_of_a_pack(shared: Any, arguments: dict[str, Any], text: str) -> None:
    assert shared.json("canopy_evidence_pack", **arguments)["query_text"] == text


@pytest.mark.parametrize(
    ("arguments", "most", "per_file"),
    [({"max_handles": 3}, 3, 2), ({"max_per_file": 1}, 8, 1), ({"max_handles": 0}, 1, 2),
     ({"max_per_file": 0}, 8, 1), ({"max_handles": -1}, 8, 2), ({"max_handles": "2"}, 8, 2),
     ({"max_handles": 999, "max_per_file": 999}, 64, 8)],
)  # fmt: skip
def test_how_much_a_pack_shows(
    shared: Any, arguments: dict[str, Any], most: int, per_file: int
) -> None:
    pack = shared.json("canopy_evidence_pack", patterns=["login", "key", "password"], **arguments)
    assert 0 < pack["selected_count"] <= most
    assert max(len(each["handle_ids"]) for each in pack["files"]) <= per_file


def test_what_was_expanded_is_suggested_last(mcp: Any) -> None:
    before = mcp.json("canopy_evidence_pack", pattern="login")["expand_suggestion"]
    mcp.text("canopy_expand", handle_ids=before[:2])
    after = mcp.json("canopy_evidence_pack", pattern="login")["expand_suggestion"]
    assert after == [*before[2:], *before[:2]]
