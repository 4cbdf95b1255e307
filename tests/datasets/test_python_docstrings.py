"""Documentation of the standard library that is installed, as rows."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from swarm_bench.core.errors import ConfigError
from swarm_bench.datasets.python_docstrings import MODULES, PythonDocstrings

HASH = (
    "from swarm_bench.datasets.python_docstrings import PythonDocstrings as P\n"
    "print(P().load().sha256)"
)


def test_the_rows_are_the_same_in_another_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HASH], capture_output=True, text=True, check=True,
        env={"PYTHONHASHSEED": "7"},
    )  # fmt: skip
    assert done.stdout.strip() == PythonDocstrings().load().sha256


def test_each_row_is_a_function_with_its_documentation() -> None:
    rows = [row.content for row in PythonDocstrings().load().rows]
    assert len(rows) > 200
    assert [row["id"] for row in rows] == list(range(len(rows)))
    for row in rows:
        (function,) = ast.parse(row["code"]).body
        assert isinstance(function, ast.FunctionDef)
        assert row["func_name"].rpartition(".")[2] == function.name
        assert (ast.get_docstring(function, clean=False) or "").strip() == row["docstring"]
        assert row["docstring"] in row["code"]
        summary = row["docstring"].partition("\n\n")[0]
        assert "".join(row["docstring_tokens"]) == "".join(summary.split())
        assert "\n" not in "".join(row["docstring_tokens"])


def test_no_module_has_most_of_the_rows() -> None:
    paths = [row.content["path"] for row in PythonDocstrings().load().rows]
    assert max(map(paths.count, paths)) * 15 < len(paths)
    assert len(set(paths[:20])) == 20
    assert len(set(paths)) > len(MODULES) * 2 / 3


def test_a_python_without_its_library_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"argparse\.py cannot be read"):
        PythonDocstrings(str(tmp_path)).load()


def test_another_folder_is_named_as_the_source_and_has_no_licence(tmp_path: Path) -> None:
    own, other = PythonDocstrings(), PythonDocstrings(str(tmp_path))
    assert (own.licence, "Python Software Foundation" in (own.source or "")) == ("PSF-2.0", True)
    assert (other.licence, other.source) == (None, str(tmp_path))
