"""Diffs as models write them, and rows of SWE-bench's form."""

import json
from contextlib import suppress
from pathlib import Path

from swarm_bench.benchmarks.cases.python_code import parse_python
from swarm_bench.benchmarks.diffs.applying import find_diff, read_diff
from swarm_bench.benchmarks.diffs.rows import Edit, find_exports, find_fault, write_program
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.datasets.rows import read_rows

DIFFS = [
    b"Here:\n```diff\n--- a/a.py\n+++ b/a.py\t2026\n@@ -1,2 +1,2 @@ f\n a\n-b\n+c\n\\ No line\n```",
    b"1. It:\n   ~~~\n   diff --git a/a b/a\n   @@\n   -a\r\n   +b\n   ~~~\n```\nno\n```",
]
TESTS = [
    b"from main import f\ndef test_a(x=1):\n    assert f(x) == 2\n",
    b"import unittest\nclass A(unittest.TestCase):\n    async def test_a(self): yield\n",
]
ROWS = [
    json.dumps(
        {"repo": "a/b", "base_commit": "0" * 40, "patch": "x", "test_patch": "y", "command": "sh"}
    ).encode(),
]


def diff(data: bytes, _: Path) -> None:
    """Whatever is no hunk is passed over, and lines stay as they are."""
    text = data.decode(errors="replace")
    read = read_diff(find_diff(text))
    own = {line.rstrip("\r") for line in text.split("\n")}
    for change in read.changes:
        for hunk in change.hunks:
            assert all(any(each.endswith(line) for each in own) for _, line in hunk.lines)
    assert read.text.endswith("\n")


def unit_tests(data: bytes, _: Path) -> None:
    """The program that runs tests is Python where they are."""
    text = data.decode(errors="replace")
    tree = parse_python(text)
    if tree is not None:
        assert find_fault(tree, "main.py") != ""
        assert parse_python(write_program(text, tree, "a/main.py"))
        assert find_exports(tree)


def swe_rows(data: bytes, folder: Path) -> None:
    path = folder / "rows.jsonl"
    path.write_bytes(data)
    with suppress(SwarmBenchError):
        read_rows(f"swe-dataset:{path}", Edit)
