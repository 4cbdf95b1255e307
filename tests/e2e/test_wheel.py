"""The wheel holds all that is needed and names all that it needs."""

import ast
import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from tests.e2e.borrowing import make_environment
from tests.e2e.conftest import Bench

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_wheel_works_alone(bench: Bench, tmp_path: Path) -> None:
    def run(*argv: str | Path, cwd: Path = tmp_path) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment["TMPDIR"] = str(tmp_path)
        done = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir")
    run(*build, tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    python = make_environment(tmp_path / "installed")
    run(python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", wheel)
    run(python, "-m", "pip", "check")
    (here := tmp_path / "nothing here").mkdir()
    command = python.with_name("swarm-bench")
    assert "canopy-service  (usable" in run(command, "modes", cwd=here)
    assert "exploration  (usable" in run(command, "tasks", cwd=here)
    assert "mcpServers" in run(command, "docs", "examples/codegraph.json", cwd=here)
    laid_out = "from swarm_bench.app.demo import resolve_demo; resolve_demo({})"
    run(python, "-c", laid_out, cwd=here)
    assert len(list(here.glob("results/demo-*/demo.yaml"))) == 1
    small = ("--agents", "1", "--runs", "1", "--require-retrieval")
    summary = run(command, "compare", "--repo", bench.repo, *small, cwd=here)
    assert "## Headline" in summary


EXTRAS = ("extra == 'pandas'", "extra == 'parquet'", "extra == 'ray'")
"""Of users; without them a sentence says what to install."""


def test_everything_that_is_imported_is_a_dependency() -> None:
    """The environments of these tests have more: what is for developers."""
    needed = {
        _normal(re.split(r"[^\w.-]", line)[0])
        for line in requires("swarm-bench") or ()
        if "extra ==" not in line or line.endswith(EXTRAS)
    }
    found = packages_distributions()
    package = ROOT / "swarm_bench"
    # The checker is run as a folder of its own, and so is what a user gets a copy of: their modules
    # import each other.
    folders = (package / "programs/checker", package / "app/kit/example")
    alone = {path.stem for folder in folders for path in folder.glob("*.py")}
    files = package.rglob("*.py")
    imported = {name for file in files for name in _imported(ast.parse(file.read_bytes()))}
    ours = {"swarm_bench", "__future__"} | alone | sys.stdlib_module_names
    missing = {
        name
        for name in imported - ours
        if not needed & {_normal(one) for one in found.get(name, (name,))}  # not installed
    }
    assert missing == set()
    assert "mcp" in imported


def _imported(tree: ast.Module) -> set[str]:
    """The first words of the modules that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
