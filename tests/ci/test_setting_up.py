"""What an installation takes: which versions it allows, and that it shows that it works."""

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
DEPENDENCIES = [
    Requirement(line)
    for line in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
]
BY_CALENDAR = {"packaging", "regex"}
"""Their versions begin with the year, and say nothing of what is compatible."""


@pytest.mark.parametrize("needed", DEPENDENCIES, ids=lambda it: it.name)
def test_a_major_version_that_does_not_exist_yet_is_not_allowed(needed: Requirement) -> None:
    installed = version(needed.name)
    assert installed in needed.specifier
    if needed.name not in BY_CALENDAR:
        major = int(re.match(r"\d+", installed)[0])  # type: ignore[index]
        assert f"{major + 1}.0.0" not in needed.specifier


def test_setting_up_shows_what_pip_does(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    planned = subprocess.run(
        ["make", "--dry-run", "demo"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    installing = [line for line in planned.stdout.splitlines() if " pip install " in line]
    assert len(installing) == 3
    assert "--upgrade 'pip>=25.1" in installing[0], "older ones are silent while they unpack"
    assert not [line for line in installing if "--quiet" in line or " -q" in line]
