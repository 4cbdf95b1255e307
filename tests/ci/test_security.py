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


def test_every_promise_names_one() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises = text.partition("## What is promised")[2].partition("\n## ")[0]
    items = re.split(r"\n(?=- |\*\*)", promises)
    bare = [item for item in items if item.strip() and not re.fullmatch(r"\*\*.*\*\*\s*", item)]
    assert not [item for item in bare if not TEST.search(item)]


def _tests(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, functions)}
