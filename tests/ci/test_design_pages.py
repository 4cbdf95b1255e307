"""Pages for developers name files and functions that exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "swarm_bench"
PAGES = (ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs/design").glob("*.md")))
WAYS = ROOT / "docs/design/025-two-ways.md"
STEP = re.compile(r"^\d+\. `([\w/]+\.py)`: ((?:`[\w.]+`(?:, )?)+) ", re.MULTILINE)
"""A file, and the names in it that a step is about."""
FEWEST = 60


def find_names(path: Path) -> Iterator[str]:
    """Yield functions and classes of a file, and members as `Class.member`."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                match member:
                    case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                        yield f"{node.name}.{name}"
                    case ast.AnnAssign(target=ast.Name(id=name)):
                        yield f"{node.name}.{name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_of_pages_exist(page: Path) -> None:
    files = [path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py")]
    for name in re.findall(r"`([\w.]+(?:/[\w.]+)+\.py)`", page.read_text()):
        assert (ROOT / name).is_file() or any(file.endswith(f"/{name}") for file in files), name


def test_every_step_of_the_two_ways_exists() -> None:
    text = WAYS.read_text()
    steps = STEP.findall(text)
    assert len(steps) == len(re.findall(r"^\d+\. ", text, re.MULTILINE)) >= FEWEST
    for file, names in steps:
        existing = set(find_names(PACKAGE / file))
        for name in re.findall(r"`([\w.]+)`", names):
            assert name in existing, f"{file}: {name}"
