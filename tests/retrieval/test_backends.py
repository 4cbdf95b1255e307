import os
import sys
from pathlib import Path

import pytest

from swarm_bench.core.errors import ConfigError
from swarm_bench.retrieval.backends import find_program, identify, is_embedded

pytestmark = pytest.mark.anyio

REAL = """#!{python}
import json, sys
request = json.loads(sys.stdin.readline())
info = {{"name": "canopy-mcp", "version": "0.4.0"}}
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": {{"serverInfo": info}}}}))
"""


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text.format(python=sys.executable), encoding="utf-8")
    path.chmod(0o755)
    return path


async def test_the_embedded_one_runs_when_there_is_no_other() -> None:
    path = find_program("canopy-mcp", None)
    assert is_embedded(path)
    found = await identify(path, dict(os.environ))
    assert found.label.startswith("swarm-bench embedded canopy ")


async def test_the_real_one_on_the_path_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = program(tmp_path, "canopy-mcp", REAL)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    path = find_program("canopy-mcp", None)
    assert path == real
    assert not is_embedded(path)
    assert (await identify(path, dict(os.environ))).label == "canopy-mcp 0.4.0"


async def test_the_one_that_was_named_comes_before_all(tmp_path: Path) -> None:
    named = program(tmp_path, "my canopy", REAL)
    assert find_program("canopy-mcp", str(named)) == named


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    (text := tmp_path / "notes.txt").write_text("no program")
    with pytest.raises(ConfigError, match="mend SWARM_BENCH_CANOPY_MCP or unset it"):
        find_program("canopy-mcp", str(text))


@pytest.mark.parametrize("text", ["#!{python}\n", "#!{python}\nprint('hello')\n", "garbage"])
async def test_a_program_that_does_not_answer_has_no_version(tmp_path: Path, text: str) -> None:
    path = program(tmp_path, "odd", text)
    found = await identify(path, dict(os.environ))
    assert (found.name, found.version) == ("odd", None)
