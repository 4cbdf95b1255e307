import pytest

from swarm_bench.core.ports import Score, ScoreContext
from swarm_bench.scoring.form import Digest, Length, Structure


def score(text: str) -> dict[str, object]:
    context = ScoreContext(text=text, workspace="", files=frozenset())
    return dict(Structure().score(context))


def test_headings_bullets_and_fences_are_counted() -> None:
    text = "# A\n\n## B\n### C\n- one\n* two\n   - three\n```python\nx = 1\n```\n~~~\ny\n~~~"
    assert score(text) == {"headings": 3, "bullets": 3, "fences": 2, "structured": True}


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("#\tTab", 1),
        ("   # Three spaces", 1),
        ("#no space", 0),
        ("####### seven", 0),
        ("#", 0),
        ("# A\r\n# B\r\n", 2),
    ],
)
def test_a_heading_is_what_the_script_takes_for_one(text: str, headings: int) -> None:
    assert score(text)["headings"] == headings


def test_comments_inside_a_fence_are_not_headings() -> None:
    text = "# A\n```sh\n# comment\n- no bullet\n```\n# B"
    assert score(text) == {"headings": 2, "bullets": 0, "fences": 1, "structured": False}


def test_a_fence_in_a_list_item_is_a_fence() -> None:
    assert score("- step\n\n      ```\n# comment\n      ```\n# A")["headings"] == 1


def test_a_fence_ends_with_its_own_kind_only() -> None:
    assert score("````\n```\n# code\n````\n# A")["headings"] == 1
    assert score("~~~\n```\n# code\n~~~\n# A")["headings"] == 1
    assert score("```\n``` not the end\n# code\n```\n# A")["headings"] == 1


def test_a_fence_that_is_never_closed_reaches_to_the_end() -> None:
    assert score("# A\n```\n# code\n# code") == {
        "headings": 1,
        "bullets": 0,
        "fences": 1,
        "structured": False,
    }


def test_three_backticks_within_a_line_are_no_fence() -> None:
    assert score("```x``` and\n# A")["fences"] == 0


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        ("# A\n# B\n# C\n" + "- x\n" * 5, True),
        ("# A\n# B\n# C\n" + "- x\n" * 4, False),
        ("# A\n# B\n# C\n```\n```", True),
        ("# A\n# B\n" + "- x\n" * 9 + "```\n```", False),
    ],
)
def test_structured_needs_headings_and_bullets_or_a_fence(text: str, structured: bool) -> None:
    assert score(text)["structured"] is structured


def test_no_answer_gives_no_figures() -> None:
    assert set(score("").values()) == {None}


@pytest.mark.parametrize("piece", ["`", "~", "#", "- ", "```\n", "\n", " ", "# a\n"])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Were it quadratic, a megabyte would outlast the time limit of the test."""
    score(piece * (1_000_000 // len(piece)))


def digest(text: str) -> Score:
    context = ScoreContext(text=text, workspace="", files=frozenset())
    return Digest().score(context)["answer_digest"]


def test_equal_texts_have_equal_digests_and_no_text_has_none() -> None:
    assert digest("one\ntwo") == digest("\none\ntwo  \n")
    assert digest("one\ntwo") != digest("one two")
    assert digest(" \n") is None


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", None), ("one", 1), ("one\n\n\n", 1), ("one\ntwo", 2), ("\n\nthree", 3), ("-n", 1)],
)
def test_lines_of_the_answer(text: str, lines: int | None) -> None:
    context = ScoreContext(text=text, workspace="", files=frozenset())
    assert Length().score(context) == {"result_lines": lines}
