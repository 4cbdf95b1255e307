"""Rows of data sets, from files of several kinds."""

import gzip
import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.datasets.rows import list_datasets, read_rows, shipped

ROWS = [{"id": "a", "number": 1}, {"id": "b", "number": 2}]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)


class Anything(BaseModel):
    """A schema of nothing."""


class Row(BaseModel):
    id: str
    number: int


def test_all_forms_give_the_same_rows(tmp_path: Path) -> None:
    forms = {
        "rows.jsonl": LINES.encode(),
        "rows.json": json.dumps(ROWS).encode(),
        "rows.csv": b"id,number\na,1\nb,2\n",
        "rows.jsonl.gz": gzip.compress(LINES.encode(), mtime=0),
    }
    for name, content in forms.items():
        (tmp_path / name).write_bytes(content)
        read = read_rows(str(tmp_path / name), Row)
        assert [(row.id, row.number) for row in read.rows] == [("a", 1), ("b", 2)]
        assert (read.data.rows, len(read.data.sha256)) == (2, 64)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("rows.jsonl", LINES.encode() + b'{"id": "c"}\n', r"rows.jsonl:3: number is missing"),
        ("rows.jsonl", b'{"id": "a", "number": "x"}\n', r"rows.jsonl:1: number must be"),
        ("rows.jsonl", LINES.encode()[:-5], r"rows.jsonl:2: not a row of JSON"),
        ("rows.jsonl", b"[1]\n", r"rows.jsonl:1: the row must be"),
        ("rows.json", b"{}", "holds no list of rows"),
        ("rows.json", b"[", "is damaged"),
        ("rows.jsonl", b"", "has no rows"),
        ("rows.jsonl", b"\xff", "is damaged"),
        ("rows.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)[:-9], "is damaged"),
        ("rows.jsonl.gz", b"no", "is damaged"),
        ("rows.txt", b"a", "is none of .jsonl"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, content: bytes, error: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ConfigError, UsageError), match=error):
        read_rows(str(tmp_path / name), Row)


def test_a_file_that_is_not_there_is_a_mistake_of_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_rows(str(tmp_path / "rows.jsonl"), Row)
    with pytest.raises(UsageError, match="did you mean 'mbpp'"):
        read_rows("mbbp", Row)


def test_shipped_data_sets_are_as_they_are_described() -> None:
    for name, description in shipped().items():
        assert read_rows(name, Anything).data.sha256 == description.sha256
    assert {listing.name for listing in list_datasets()} == {"apps-mini", "humaneval", "mbpp"}
