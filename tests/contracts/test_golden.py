"""The golden files of sentences have a section for each test that fills one, and no other. That a
test fills all of its own, the fixture `golden` looks at."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.golden import RENEWED, SENTENCES, TESTS, sections, write_sections


@pytest.mark.timeout(300)  # it collects most of the tests
def test_every_section_is_of_a_test() -> None:
    files = sorted(SENTENCES.rglob("*.txt"))
    modules = [TESTS / file.relative_to(SENTENCES).with_suffix(".py") for file in files]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, *modules], cwd=TESTS.parent, capture_output=True, text=True, check=True
    )
    collected = set(done.stdout.splitlines())
    for file, module in zip(files, modules, strict=True):
        held, asking = sections(file), _asking(module)
        tests = {heading: heading.rpartition(": ")[0] for heading in held}
        stale = {
            heading
            for heading, test in tests.items()
            if f"{module.relative_to(TESTS.parent)}::{test}" not in collected
            or test.partition("[")[0] not in asking
        }
        if RENEWED and stale:
            write_sections(file, {name: held[name] for name in held.keys() - stale})
            continue
        assert not stale


def _asking(module: Path) -> set[str]:
    """The tests of a module that take the fixture."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    functions = (
        it for it in ast.walk(tree) if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {it.name for it in functions if "golden" in {argument.arg for argument in it.args.args}}
