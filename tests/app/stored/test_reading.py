"""Folders that hold no single session are named with what to give instead."""

import shutil
from pathlib import Path

import pytest

from swarm_bench.app.stored.reporting import diff_sessions, gate_session
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.gate import Kind, State

GOLDEN = Path(__file__).parents[2] / "golden" / "session"
LIMIT = {Kind.MAX: ["wall_seconds=1e9"]}


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    for folder, message in ((tmp_path / "none", "is not a folder"), (tmp_path, "holds no session")):
        with pytest.raises(UsageError, match=message):
            gate_session(folder, LIMIT, "estimate")
        with pytest.raises(UsageError, match=message):
            diff_sessions(GOLDEN, folder)


def test_of_a_series_one_size_is_asked_for(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "agents-2")
    with pytest.raises(UsageError, match=r"a session for each of 1 sizes; .*agents-2"):
        gate_session(tmp_path, LIMIT, "estimate")


def test_a_session_of_an_older_version_is_read(tmp_path: Path) -> None:
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    before = (session / "summary.md").read_bytes() if (session / "summary.md").exists() else None
    result = gate_session(session, LIMIT, "estimate")
    assert {each.state for each in result.gate.verdicts} <= set(State)
    after = (session / "summary.md").read_bytes() if (session / "summary.md").exists() else None
    assert after == before
    with pytest.raises(UsageError, match="they are the same one"):
        diff_sessions(GOLDEN, session)


def test_a_calibration_is_refused(tmp_path: Path) -> None:
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    file = session / "experiment.json"
    text = file.read_text(encoding="utf-8")
    design = '"design": "compare"' if '"design": "compare"' in text else '"benchmark": "swarm"'
    file.write_text(text.replace(design, f'{design.split(":")[0]}: "calibrate"'), encoding="utf-8")
    with pytest.raises(UsageError, match="compares a mode with itself"):
        gate_session(session, LIMIT, "estimate")
