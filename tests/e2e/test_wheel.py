"""The wheel holds all that is needed: installed in an empty environment, run in an empty folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Bench

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_wheel_works_alone(bench: Bench, tmp_path: Path) -> None:
    def run(*argv: str | Path, cwd: Path = tmp_path) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment["TMPDIR"] = str(tmp_path)
        environment["PIP_NO_COMPILE"] = "1"  # of what is installed, little is imported
        done = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir")
    run(*build, tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", "empty")
    python = tmp_path / "empty" / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    run(python, "-m", "pip", "install", "--quiet", "--constraint", constraints, wheel)
    (here := tmp_path / "nothing here").mkdir()
    command = tmp_path / "empty" / "bin" / "swarm-bench"
    assert "canopy-service  (usable" in run(command, "modes", cwd=here)
    assert "exploration  (usable" in run(command, "tasks", cwd=here)
    small = ("--agents", "1", "--runs", "1", "--require-retrieval")
    summary = run(command, "compare", "--repo", bench.repo, *small, cwd=here)
    assert "## Headline" in summary
