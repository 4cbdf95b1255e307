import os
import sys
from pathlib import Path

import pytest

from swarm_bench.core.errors import ConfigError
from swarm_bench.retrieval.canopy.backends import find_program, is_embedded

REAL = "#!{python}\n"


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text.format(python=sys.executable), encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_embedded_one_runs_when_there_is_no_other() -> None:
    path = find_program("canopy-mcp", None)
    assert is_embedded(path)


def test_the_real_one_on_the_path_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = program(tmp_path, "canopy-mcp", REAL)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    path = find_program("canopy-mcp", None)
    assert path == real
    assert not is_embedded(path)


def test_the_one_that_was_named_comes_before_all(tmp_path: Path) -> None:
    named = program(tmp_path, "my canopy", REAL)
    assert find_program("canopy-mcp", str(named)) == named


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    (text := tmp_path / "notes.txt").write_text("no program")
    with pytest.raises(ConfigError, match="fix SWARM_BENCH_CANOPY_MCP or unset it"):
        find_program("canopy-mcp", str(text))


def test_a_path_is_never_looked_for_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named = program(tmp_path, "ls", REAL)
    assert find_program("canopy-mcp", "./ls") == named
    assert find_program("canopy-mcp", "ls") != named
