"""Whoever waits for an import is told what for."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import swarm_bench.cli

FILES = [
    path
    for path in Path(swarm_bench.cli.__path__[0]).rglob("*.py")
    if path.name not in ("completing.py", "main.py", "terminal.py")  # nobody is told by these
]


def silent(node: ast.AST, *, is_told: bool) -> Iterator[str]:
    """What is imported of the application where no line says so."""
    for child in ast.iter_child_nodes(node):
        module = child.module or "" if isinstance(child, ast.ImportFrom) else ""
        if module.startswith("swarm_bench.app") and not is_told:
            yield module
        shows = isinstance(child, ast.With) and "show_step(" in ast.unparse(child.items[0])
        shows = shows or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
        yield from silent(child, is_told=is_told or shows)


@pytest.mark.parametrize("path", FILES, ids=lambda it: it.stem)
def test_what_is_heavy_is_imported_while_a_line_says_what_for(path: Path) -> None:
    assert list(silent(ast.parse(path.read_text()), is_told=False)) == []
