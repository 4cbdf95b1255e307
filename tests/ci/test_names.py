"""The contract that what can be exchanged is named where it lives."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / ".ci" / "names.py"


def checked(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(CHECK)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("if mode != 'baseline': pass", "baseline"),
        ("counters = after.get('feedback')", "feedback"),
        ("url = probes['service']", "service"),
        ("label = 'embedded canopy' in backend", "embedded canopy"),
        ("fixed = model == 'rules'", "rules"),
        ("several = benchmark in ('ab', 'calibrate')", "calibrate"),
    ],
)
def test_a_module_that_names_what_is_not_its_own_is_named(
    tmp_path: Path, line: str, name: str
) -> None:
    (module := tmp_path / "swarm_bench" / "engine" / "new.py").parent.mkdir(parents=True)
    module.write_text(f"'''New, and no {name}.'''\n{line}\n", encoding="utf-8")
    done = checked(tmp_path)
    assert done.returncode == 1
    assert f"swarm_bench/engine/new.py:2: {name!r}: see .ci/names.py" in done.stdout.splitlines()


def test_the_package_keeps_to_it_and_every_exemption_is_needed() -> None:
    assert checked(ROOT).stdout == ""
