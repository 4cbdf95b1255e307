"""Looking runs nothing: what a folder or a stranger's session names needs trust. Each program
leaves a file behind when it was started."""

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench

pytestmark = pytest.mark.timeout(120)

AGENT = """
from pathlib import Path
from swarm_bench.agents.scripted import Scripted
Path("loaded").touch()
class Own(Scripted):
    pass
"""
ANSWER = [{"steps": [{"init": {"tools": ["Read"]}}, {"answer": {"text": "It is `a.py`."}}]}]


def files(bench: Bench) -> None:
    (bench.folder / "own.py").write_text(AGENT)
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(ANSWER))
    (bench.folder / "swarm-bench.toml").write_text(
        f'agent = "own:Own"\nmodel = "script.yaml"\nmodes = ["baseline"]\nruns = 1\nagents = 1\n'
        f"repo = {json.dumps(str(bench.repo))}\n"
    )


def on_a_terminal(bench: Bench, *arguments: str, answer: bytes) -> tuple[int, str]:
    """The exit code and what was printed, with an answer to the question."""
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=bench.folder,
        env=bench.environment(),
        stdin=slave,
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    os.write(master, answer)
    code, printed = running.wait(60), b""
    try:
        while part := os.read(master, 10_000):
            printed += part
    except OSError:  # the terminal is closed, and all of it was read
        pass
    return code, printed.decode()


def test_a_folder_runs_what_it_names_after_it_was_trusted(bench: Bench, golden: Sentences) -> None:
    files(bench)
    loaded = bench.folder / "loaded"

    refused = bench.call("compare")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    golden(refused.err)
    assert "--trust" in refused.err
    planned = bench.call("compare", "--plan")
    assert (planned.code, "own:Own" in planned.out) == (0, True)
    doctor = bench.call("doctor")
    (unused,) = (line for line in doctor.out.splitlines() if "own:Own (" in line)
    golden(unused)
    code, printed = on_a_terminal(bench, "compare", answer=b"n\n")
    assert (code, "Trust this folder? [y/N]" in printed) == (2, True)
    assert "A yes is remembered for these lines until they change." in printed
    assert not loaded.exists()

    code, printed = on_a_terminal(bench, "compare", "--output", "out", "--quiet", answer=b"y\n")
    assert code == 0, printed
    assert loaded.exists()
    check_session(bench, loaded)


def check_session(bench: Bench, loaded: Path) -> None:
    """A session that was made here goes on; the same in another hand, and a changed one, ask."""
    (bench.folder / "swarm-bench.toml").unlink()
    shutil.move(bench.folder / "out", bench.folder / "moved")
    done = bench.call("compare", "--continue", "moved", "--runs", "2", "--quiet")
    assert done.code == 0, done.err
    loaded.unlink()

    stranger = bench.folder / "stranger"
    stranger.mkdir()
    elsewhere = bench.call("compare", "--continue", "moved", env={"HOME": str(stranger)})
    assert (elsewhere.code, "own:Own (the session" in elsewhere.err) == (2, True)
    assert bench.call("report", "moved", env={"HOME": str(stranger)}).code == 0
    assert not loaded.exists()
    stored = bench.folder / "moved" / "experiment.json"
    experiment = json.loads(stored.read_text())
    experiment["modes"][0]["teardown"] = ["touch", str(bench.folder / "torn")]
    stored.write_text(json.dumps(experiment))
    changed = bench.call("compare", "--continue", "moved")
    assert (changed.code, "torn (the session" in changed.err) == (2, True)
    assert not (bench.folder / "torn").exists()
