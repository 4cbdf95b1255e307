"""SECURITY.md promises what a test holds."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEST = re.compile(r"`(tests/\S+\.py)::(\w+)`")


def test_every_test_that_is_named_is_there() -> None:
    named = TEST.findall((ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) > 30
    assert not [f"{file}::{name}" for file, name in named if name not in _tests(ROOT / file)]


def test_every_promise_has_a_row_with_tests_and_every_row_a_promise() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises, rows = text.partition("## What is promised")[2].split("## Which test holds what")
    items = re.findall(r"^- (.*)", promises.partition("\n## ")[0], re.MULTILINE)
    ids = [item.partition(": ")[0] for item in items]
    assert len(ids) == len(set(ids)) > 40
    assert all(re.fullmatch(r"[A-Z]\d+", name) for name in ids)
    table = dict(re.findall(r"^\| ([A-Z]\d+) \| (.*) \|$", rows, re.MULTILINE))
    assert list(table) == ids
    assert not [name for name, tests in table.items() if not TEST.search(tests)]


def _tests(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, functions)}
