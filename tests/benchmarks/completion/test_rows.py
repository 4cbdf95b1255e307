"""Rows are files or holes; what cannot be used is named or counted."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm_bench.benchmarks.completion.rows import LARGEST, Code, choose_rows, indel
from swarm_bench.core.errors import UsageError
from swarm_bench.core.validation import describe_problem
from swarm_bench.datasets.rows import read_rows
from tests.scoring.texts.golden_values import TOLERANCE, golden_values

TEXT = "contract A {\n    uint256 public x;\n}\n"
FILE = {"path": "a.sol", "content": TEXT}
HOLE = {"prefix": "a\n", "middle": "b\n", "suffix": "c\n"}

PART = {"path": "a", "part": "one", **HOLE}


def file(path: str, content: str = TEXT, day: str | None = None) -> Code:
    return Code.model_validate({"path": path, "content": content, "date": day})


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"content": TEXT}, "is missing"),
        ({"path": "", "content": TEXT}, "must not be empty"),
        ({"path": "a\nb", "content": TEXT}, "cannot be 'a\\nb': it must be shown in one line"),
        ({"path": "a", **HOLE, "part": "\x1b"}, "it must be shown in one line"),
        ({"path": "a"}, "has no prefix for a hole, or a content for a file"),
        ({"path": "a", "prefix": "x", "middle": "y"}, "has no suffix"),
        ({"path": "a", "middle": "y", "suffix": "z"}, "has no prefix"),
        ({"path": "a", **HOLE, "part": "all"}, "cannot be 'all', which names all cases"),
        ({"path": "a", **HOLE, "middle": ""}, "has a middle of blanks alone"),
        ({"path": "a", **HOLE, "middle": " \n\t"}, "has a middle of blanks alone"),
        ({"path": "a", "content": TEXT, **HOLE}, "it is either a file or a hole"),
        ({"path": "a", "content": TEXT, "date": "June"}, "must be a day, as 2026-01-31"),
        ({"path": "a", "content": 3}, "must be a string"),
        ({"path": "a", "content": "x" * (LARGEST + 1)}, f"at most {LARGEST} characters"),
    ],
)
def test_a_row_that_is_neither_says_what_is_wrong(row: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Code.model_validate(row)
    assert problem in describe_problem(raised.value.errors()[0])


def test_an_empty_field_of_a_csv_file_is_none() -> None:
    row = Code.model_validate({"path": "a", "content": TEXT, "date": "", "part": ""})
    assert (row.date, row.part) == (None, None)


def test_short_and_equal_files_are_omitted_and_counted() -> None:
    rows = [
        file("a.sol"),
        file("b.sol", TEXT.replace("    ", "\t") + "\n"),
        file("c.sol", "one\ntwo"),
        file("d.sol", "a\nb\nc"),
        file("e.sol", ""),
    ]
    used = choose_rows(rows, None)
    assert used.files == (("a.sol", TEXT),)
    assert used.omitted == {
        "equal to another but for blanks": 1,
        "of fewer than 3 lines": 2,
        "of fewer than 10 characters": 1,
    }
    omitted, undated = used.notes()
    assert omitted == (
        "Rows left out: 4 (1 equal to another but for blanks, 1 of fewer than 10 characters, "
        "2 of fewer than 3 lines)."
    )
    assert undated.startswith("1 of 1 rows have no date")


def test_old_code_is_refused_and_counted_and_undated_code_is_named() -> None:
    rows = [
        file("a.sol", day="2024-05-31"),
        file("b.sol", f"// b\n{TEXT}", day="2024-06-01"),
        file("c.sol", f"// c\n{TEXT}"),
    ]
    cutoff = date(2024, 6, 1)
    used = choose_rows(rows, cutoff)
    assert [path for path, _ in used.files] == ["b.sol", "c.sol"]
    omitted, undated, dated = used.notes()
    assert omitted == "Rows left out: 1 (1 dated before the cutoff)."
    assert undated.startswith("1 of 2 rows have no date: models may have read them")
    assert "is dated 2024-06-01: models that were trained later" in dated
    both = list(choose_rows(rows[:2], None).notes())
    assert len(both) == 1
    assert "dated 2024-05-31 to 2024-06-01" in both[0]


def test_line_ends_are_those_of_models() -> None:
    assert choose_rows([file("a", "a b\r\nc d\re f\n")], None).files == (("a", "a b\nc d\ne f\n"),)


def test_rows_that_are_no_cases_at_all_are_refused() -> None:
    with pytest.raises(UsageError, match=r"no row can be used \(1 of fewer than 3 lines\)"):
        choose_rows([file("a.sol", "")], None)


@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        ([FILE, FILE], "rows.jsonl:2: the file 'a.sol' is at rows.jsonl:1 too; omit one"),
        (
            [FILE, {"path": "a", **HOLE}],
            "rows.jsonl:2: the row is a hole, and those before it are not",
        ),
        (
            [{"path": "a", **HOLE}, FILE],
            "rows.jsonl:2: the row is a file, and those before it are not",
        ),
        (
            [PART, {"path": "a", **HOLE}],
            "rows.jsonl:2: the row has no part, unlike those before it",
        ),
        ([{"path": "a", **HOLE}, PART], "rows.jsonl:2: the row has a part, unlike those before it"),
    ],
)
def test_rows_that_do_not_fit_together_are_refused_with_their_places(
    tmp_path: Path, contents: list[dict[str, Any]], problem: str
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(content)}\n" for content in contents))
    with pytest.raises(UsageError) as raised:
        choose_rows(read_rows(str(path), Code).rows, None)
    assert problem in str(raised.value).replace(f"{tmp_path}/", "")


def test_holes_of_one_file_are_several_rows() -> None:
    hole = Code.model_validate({"path": "a", **HOLE})
    assert len(choose_rows([hole, hole], None).holes) == 2


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
