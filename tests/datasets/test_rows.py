"""Rows of data sets, from files of several kinds."""

import gzip
import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from pydantic import BaseModel

from swarm_bench.core.errors import ConfigError, SwarmBenchError, UsageError
from swarm_bench.core.roles.dataset import RawRows
from swarm_bench.datasets.rows import (
    check_row,
    find_dataset,
    is_class,
    is_file,
    list_datasets,
    paths_of,
    read_rows,
)
from swarm_bench.datasets.shipped import ShippedFile

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
        "lines.json": LINES.encode(),
        "one.json.gz": gzip.compress(json.dumps(ROWS, indent=1).encode()),
        "rows.csv": b"id,number\na,1\nb,2\n",
        "excel.csv": b"\xef\xbb\xbfid;number\r\na;1\r\nb;2\r\n",
        "TABS.CSV": b"id\tnumber\na\t1\nb\t2\n",
        "one.csv.GZ": gzip.compress(b'id;number\n"a";1\nb;2\n'),
        "ROWS.JSONL": LINES.encode() + b"\xef\xbb\xbf\n",
        "marked.csv": b"\xef\xbb\xbfid,number\na,1\nb,2\n",
        "marked.jsonl": b"\xef\xbb\xbf" + LINES.encode(),
        "marked.json": b"\xef\xbb\xbf" + json.dumps(ROWS).encode(),
        "marked.json.gz": gzip.compress(b"\xef\xbb\xbf" + LINES.encode()),
        "rows.jsonl.gz": gzip.compress(LINES.encode(), mtime=0),
        "wide.jsonl": LINES.encode("utf-16"),
        "blank.json": b"\n\n \n" + LINES.encode(),
        "short.json": b"\xef\xbb\xbf\n" + LINES.encode(),
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
        ("rows.json", b"{}", "rows.json:1: id is missing"),
        ("rows.json", b'{"id":\n"a"}', "holds no list of rows"),
        ("rows.json", LINES.encode() + b"[", "rows.json:3: not a row of JSON"),
        ("rows.json", b"[", "is damaged"),
        (
            "rows.jsonl",
            LINES.encode() + b'{"id": "\\ud800", "number": 3}\n',
            r"rows.jsonl:3: id has half",
        ),
        ("rows.jsonl", b"", "has no rows"),
        ("rows.csv", b"id,number\na,1\nb,2,3\n", r"rows.csv:3: more values than the 2 columns"),
        ("rows.csv", b"id;number\na;1\nb;2;3\n", r"rows.csv:3: .* that has semicolons\)"),
        (
            "rows.json",
            b'[{"id": "a", "number": 1}, {"id": "b"}]',
            r"rows.json, row 2: number is missing",
        ),
        ("rows.csv", b"number,id\n1,a\n2\n", r"rows.csv:3: fewer values than the 2 columns"),
        ("rows.jsonl", LINES.encode() + b"\xff", r"rows.jsonl:3: is no UTF-8"),
        ("rows.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)[:-9], "is damaged"),
        ("rows.jsonl.gz", b"no", "is damaged"),
        ("rows.txt", b"a", "is none of .jsonl"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, content: bytes, error: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ConfigError, UsageError), match=error):
        read_rows(str(tmp_path / name), Row)


@pytest.mark.parametrize("head", ["id,number", "id;number"])
def test_a_table_is_read_behind_what_is_wrong(tmp_path: Path, head: str) -> None:
    lines = [head, "a,1", "b", "c,2,3", "", "d,4", "e"]
    (tmp_path / "rows.csv").write_text("\n".join(lines).replace(",", head[2]))
    rows = list(find_dataset(str(tmp_path / "rows.csv")).load().rows)
    assert [row.content for row in rows if row.fault is None] == [
        {"id": "a", "number": "1"},
        {"id": "d", "number": "4"},
    ]
    assert [row.where.rpartition(":")[2] for row in rows if row.fault] == ["3", "4", "7"]


def test_blank_lines_count_and_a_line_has_an_end(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\n \r\n" * 1_000_000 + LINES.encode())
    rows = list(find_dataset(str(file)).load().rows)
    assert [row.where.rpartition(":")[2] for row in rows] == ["2000001", "2000002"]
    file.write_bytes(LINES.encode() + b" " * (65 * 2**20) + LINES.encode())
    with pytest.raises(ConfigError, match=r"rows.jsonl:3: .*64 MiB"):
        read_rows(str(file), Row)


def test_half_characters_are_told_from_what_is_deep(tmp_path: Path) -> None:
    deep, half = "[" * 900 + "]" * 900, "[" * 900 + '"\\ud800"' + "]" * 900
    (tmp_path / "rows.jsonl").write_text(f'{{"id": {deep}}}\n{{"id": {half}}}\n')
    first, second = find_dataset(str(tmp_path / "rows.jsonl")).load().rows
    assert check_row(first, Anything)[1] == ()
    (clause,) = check_row(second, Anything)[1]
    assert "half a character" in clause


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(LINES * 10_000)
    rows = iter(find_dataset(str(file)).load().rows)
    next(rows)
    with file.open("a") as more:
        more.write(LINES)
    with pytest.raises(ConfigError, match="was changed while it was read"):
        list(rows)


def test_parquet_gives_the_same_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    rows = [row | {"day": date(2024, 6, 1), "parts": [{"text": b"t"}]} for row in ROWS]
    parquet.write_table(pyarrow.Table.from_pylist(rows), file, row_group_size=1)
    read = read_rows(str(file), Row)
    assert [(row.id, row.number) for row in read.rows] == [("a", 1), ("b", 2)]
    assert (read.data.rows, len(read.data.sha256)) == (2, 64)
    contents = [row.content for row in find_dataset(str(file)).load().rows]
    assert [content["day"] for content in contents] == ["2024-06-01"] * 2
    assert [content["parts"] for content in contents] == [[{"text": "t"}]] * 2


def test_what_is_wrong_with_parquet_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([*ROWS, {"id": "c"}]), file)
    with pytest.raises(ConfigError, match=r"rows.parquet, row 3: number must be"):
        read_rows(str(file), Row)
    parquet.write_table(pyarrow.Table.from_pylist([{"id": b"\xff", "number": 1}]), file)
    with pytest.raises(ConfigError, match=r"rows.parquet is damaged .*utf-8"):
        read_rows(str(file), Row)
    whole = file.read_bytes()
    for content in (b"", b"PAR1", whole[:-9], whole[:9] + b"\xff" * 40 + whole[49:]):
        file.write_bytes(content)
        with pytest.raises(ConfigError, match="is damaged"):
            read_rows(str(file), Row)


TEXT = pyarrow.array(["x" * 1_000_000])
TIMES = 1000
SAME = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * TIMES, pyarrow.int32()), TEXT)
SHARED = {"dictionary_pagesize_limit": 1 << 30}
BEGINNINGS = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (SAME, SHARED),
        (pyarrow.ListArray.from_arrays(pyarrow.array([0, TIMES], pyarrow.int32()), SAME), SHARED),
        (pyarrow.chunked_array([TEXT] * TIMES), BEGINNINGS),
        (pyarrow.nulls(70_000_000), {}),
    ],
    ids=["equal", "equal in a list", "with the same beginning", "nothing"],
)
def test_a_small_file_of_very_much_is_refused_in_little_memory(
    tmp_path: Path, column: pyarrow.Array, options: dict[str, Any]
) -> None:
    file = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"text": column}), file, compression="zstd", **options)
    assert file.stat().st_size < 2_000_000
    program = (
        "from tests.memory import peak\n"
        "from swarm_bench.core.errors import ConfigError\n"
        "from swarm_bench.datasets.files import Path, RowFile\n"
        "try:\n    list(RowFile(Path('rows.parquet')).load().rows)\n"
        "except ConfigError as error:\n    print(error)\n"
        "print(peak())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    sentence, megabytes = done.stdout.splitlines()
    assert sentence.startswith("rows.parquet has more than 512 MiB of rows")
    assert int(megabytes) < 1000


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=8), st.integers(0))
def test_any_parquet_is_read_or_refused(changes: list[tuple[int, int]], end: int) -> None:
    """One that was written, with changed bytes and a changed end."""
    written = BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), written)
    content = bytearray(written.getvalue())
    for at, byte in changes:
        content[at % len(content)] = byte
    with tempfile.TemporaryDirectory() as folder, suppress(SwarmBenchError):
        file = Path(folder) / "rows.parquet"
        file.write_bytes(content[: -1 - end % 40] if end % 3 == 0 else content)
        assert read_rows(str(file), Anything).data.rows >= 1


def test_the_extra_is_named_where_parquet_cannot_be_read(tmp_path: Path) -> None:
    """In an interpreter that sees all installed packages but this one."""
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    (tmp_path / "pyarrow.py").write_text("raise ImportError('not installed')")
    program = (
        "from swarm_bench.core.errors import UsageError\n"
        "from swarm_bench.datasets.files import Path, RowFile\n"
        "try:\n    list(RowFile(Path('rows.parquet')).load().rows)\n"
        "except UsageError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "pip install pyarrow" in done.stdout


def test_a_file_that_is_not_there_is_a_mistake_of_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_rows(str(tmp_path / "rows.jsonl"), Row)
    with pytest.raises(UsageError, match="did you mean 'mbpp'"):
        read_rows("mbbp", Row)


def test_shipped_data_sets_are_as_they_are_described() -> None:
    shipped = [(it.name, dataset) for it in list_datasets()
               if isinstance(dataset := find_dataset(it.name), ShippedFile)]  # fmt: skip
    assert {"apps-mini", "conala-mini", "humaneval", "mbpp"} <= {name for name, _ in shipped}
    for name, dataset in shipped:
        data = read_rows(name, Anything).data
        assert (data.sha256, data.licence) == (dataset.sha256, dataset.licence)


OWN = """
class Rows:
    about, licence, source, published = "Two rows.", "MIT", "ours", None

    def load(self):
        from swarm_bench.core.roles.dataset import RawRows

        return RawRows.of({"id": id, "number": number} for number, id in enumerate("ab"))


class Wrong(Rows):
    def load(self):
        from swarm_bench.core.roles.dataset import RawRows

        return RawRows.of([{"id": "a", "number": 1}, {"id": "b"}])


class Broken(Rows):
    def load(self):
        raise KeyError("number")


class Other:
    pass
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_rows.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "own_rows"


def test_a_class_is_a_data_set(own: str) -> None:
    read = read_rows(f"{own}:Rows", Row)
    assert [(row.id, row.number) for row in read.rows] == [("a", 0), ("b", 1)]
    assert (read.data.name, read.data.licence, read.data.source) == (f"{own}:Rows", "MIT", "ours")
    again = read_rows(f"{own}:Rows", Row)
    assert (again.data, len(read.data.sha256)) == (read.data, 64)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Wrong", "row 2: number is missing"),
        ("Broken", "'own_rows:Broken' cannot be read: own_rows.py, line 20: KeyError: 'number'"),
        ("Other", "is no data set: it needs about"),
        ("Nothing", "cannot be loaded"),
    ],
)
def test_what_a_class_does_wrong_is_named(own: str, name: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        read_rows(f"{own}:{name}", Row)


def test_the_hash_is_of_what_the_rows_say() -> None:
    rows = [{"a": 1, "b": "\u00e9"}, {"a": 2}]
    same = [{"b": "\u00e9", "a": 1}, {"a": 2}]
    assert RawRows.of(rows).sha256 == RawRows.of(same).sha256
    for other in (rows[::-1], rows[:1], [{"a": 1, "b": "e"}, {"a": 2}]):
        assert RawRows.of(other).sha256 != RawRows.of(rows).sha256


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("humaneval", None),
        ("rows.jsonl", "file"),
        ("./rows", "file"),
        ("data/a:b.jsonl", "file"),
        ("rows:Own", "class"),
        ("my.rows:Own", "class"),
    ],
)
def test_words_of_files_and_of_classes(word: str, kind: str | None) -> None:
    assert (is_file(word), is_class(word)) == (kind == "file", kind == "class")


def test_where_the_rows_of_a_word_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = tmp_path / "rows.jsonl"
    rows.write_text("{}\n")
    assert [*paths_of(str(rows))] == [*paths_of(f"swe-dataset:{rows}")] == [rows]
    assert [*paths_of(f"contracts:{tmp_path}")] == [tmp_path]
    assert [*paths_of("humaneval"), *paths_of("rows:Own"), *paths_of("absent.jsonl")] == []
    fetched = tmp_path / "cache/swarm-bench/datasets"
    fetched.mkdir(parents=True)
    assert [*paths_of("fetched:own"), *paths_of(str(rows))] == [fetched, rows, fetched]


def test_a_field_of_csv_may_be_a_file(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(f"id,number\n{'x' * 200_000},1\n")
    assert [len(row.id) for row in read_rows(str(rows), Row).rows] == [200_000]
