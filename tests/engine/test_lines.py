"""What is kept of the lines of a session while they are read."""

import gc
from pathlib import Path

import pytest

from swarm_bench.core.session.records import TrialRecord
from swarm_bench.engine.lines import add_checksum, parse_checked, read_raw_lines

LINE = '{"mode":"m","agent":1,"task":"t","trial":"a"}'


def test_lines_are_let_go_of_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"\n".join([add_checksum(LINE), b"", LINE.encode(), b"{"]) + b"\n")
    lines = read_raw_lines(path)
    (one, whole, first), (two, bare, second), (three, torn, third) = parse_checked(
        lines, TrialRecord
    )
    assert lines == []
    assert (one, two, three) == (1, 3, 4)
    assert (whole, bare, torn) == (True, None, False)
    assert first == second == TrialRecord(mode="m", agent=1, task="t", trial="a")
    assert third is None


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_afterwards_as_before(tmp_path: Path, enabled: bool) -> None:
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        parse_checked(read_raw_lines(tmp_path / "none.jsonl"), TrialRecord)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
