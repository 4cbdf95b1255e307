"""The contract that files are opened in one module."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / ".ci" / "opening.py"
OPENS = [
    "open('x')",
    "Path('x').open()",
    "path.read_bytes()",
    "(lambda read: read)(path.read_text)",
    "from shutil import rmtree",
    "import shutil; shutil.copyfile('a', 'b')",
    "from tempfile import TemporaryDirectory",
    "sqlite3.connect('x')",
    "os.open('x', 0)",
    "FileIO('x')",
]


def checked(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(CHECK)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("line", OPENS)
def test_a_module_that_opens_files_by_itself_is_named(tmp_path: Path, line: str) -> None:
    (module := tmp_path / "swarm_bench" / "engine" / "new.py").parent.mkdir(parents=True)
    module.write_text(f"'''New.'''\n{line}\n", encoding="utf-8")
    found = checked(tmp_path)
    assert found.returncode == 1
    assert found.stdout.startswith("swarm_bench/engine/new.py:2: ")


def test_the_package_keeps_to_it_and_every_exemption_is_needed(tmp_path: Path) -> None:
    assert checked(ROOT).stdout == ""
    exempt = CHECK.read_text("utf-8").partition("EXEMPT = {")[2].partition("}")[0].split('"')[1::4]
    bare = tmp_path / "opening.py"
    bare.write_text(CHECK.read_text("utf-8").replace("inner == name", "inner == 0 * name"))
    bare.write_text(bare.read_text("utf-8").replace('inner.startswith(f"{name}/")', "False"))
    ran = subprocess.run(
        [sys.executable, bare], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert [name for name in exempt if f"swarm_bench/{name}" not in ran.stdout] == []
