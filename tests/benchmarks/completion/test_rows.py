"""Rows are files or holes; what cannot be used is named or counted."""

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from swarm_bench.benchmarks.completion.rows import LARGEST, Code, chosen
from swarm_bench.core.errors import UsageError
from swarm_bench.core.validation import problem_of

TEXT = "contract A {\n    uint256 public x;\n}\n"
HOLE = {"prefix": "a\n", "middle": "b\n", "suffix": "c\n"}


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
    assert problem in problem_of(raised.value.errors()[0])


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
    used = chosen(rows, None)
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
    used = chosen(rows, cutoff)
    assert [path for path, _ in used.files] == ["b.sol", "c.sol"]
    omitted, undated, dated = used.notes()
    assert omitted == "Rows left out: 1 (1 dated before the cutoff)."
    assert undated.startswith("1 of 2 rows have no date: models may have read them")
    assert "is dated 2024-06-01: models that were trained later" in dated
    both = list(chosen(rows[:2], None).notes())
    assert len(both) == 1
    assert "dated 2024-05-31 to 2024-06-01" in both[0]


def test_line_ends_are_those_of_models() -> None:
    assert chosen([file("a", "a b\r\nc d\re f\n")], None).files == (("a", "a b\nc d\ne f\n"),)


def test_rows_that_are_no_cases_at_all_are_refused() -> None:
    with pytest.raises(UsageError, match=r"no row can be used \(1 of fewer than 3 lines\)"):
        chosen([file("a.sol", "")], None)
    with pytest.raises(UsageError, match="two rows are the file 'a.sol'"):
        chosen([file("a.sol"), file("a.sol")], None)
    hole = Code.model_validate({"path": "a", **HOLE})
    with pytest.raises(UsageError, match="the row 3 is a hole, and those before it are not"):
        chosen([file("a.sol"), file("b.sol"), hole], None)
    assert len(chosen([hole, hole], None).holes) == 2
