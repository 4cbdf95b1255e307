"""Files of rows, lists of repositories, and manifests of what was fetched."""

from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.datasets.fetched.repositories import read_list
from swarm_bench.datasets.files import RowFile
from swarm_bench.datasets.rows import check_row
from tests.fuzz.parts import joined, parts

ENDINGS = (".jsonl", ".json", ".csv", ".jsonl.gz")
LISTS = [
    b'{"title": "a", "content": [{"repo": "https://x.org/a/b.git", "commit": "' + b"0" * 40
    + b'", "include": ["src/*", "**/*.sol"]}]}',
    b'{"title": "a", "content": [{"repo": "file:///a/..", "commit": "main", "include": ["../*"]}]}',
]  # fmt: skip
FILES = [
    joined(b"\0", b'{"id": "a", "number": 1}\n\n{"id": "\\ud800"}\n[]\n'),
    joined(b"\1", b'[{"id": "a"}, {"id": 1e400}]'),
    joined(b"\2", b'id;number\n"a";1\n'),
    joined(b"\0", b"\xff\xfe{\0}\0"),
]


class Anything(BaseModel):
    """A schema of nothing."""


def list_of_repositories(data: bytes, folder: Path) -> None:
    """What is read is fetched from nowhere else, and stays below the root."""
    path = folder / "list.json"
    path.write_bytes(data)
    with suppress(SwarmBenchError):
        for repository in read_list(path).content:
            assert repository.repo.startswith(("https://", "file://"))
            assert all(".." not in it.split("/") for it in repository.include)


def row_file(data: bytes, folder: Path) -> None:
    """Each row has content or says why it has none, the same ones in each reading."""
    kind, content = parts(data, 2)
    path = folder / f"rows{ENDINGS[(kind or bytes(1))[0] % len(ENDINGS)]}"
    path.write_bytes(content)
    with suppress(SwarmBenchError):
        rows = list(RowFile(path).load().rows)
        assert repr(rows) == repr(list(RowFile(path).load().rows))
        for row in rows:
            checked, clauses = check_row(row, Anything)
            assert (checked is None) == bool(clauses)
