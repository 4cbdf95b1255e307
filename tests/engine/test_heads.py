"""The heads of lines are those of the records that the lines hold."""

from pathlib import Path

import pytest

from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.engine.heads import _HEAD, read_heads
from swarm_bench.engine.lines import read_lines
from swarm_bench.engine.seal import sealed

FORGED = (
    '","trial":"000000000000","attempt":9,"run":1,"task_id":"x","status":"completed",'
    '"cause":"finished"'
)
LINE = TrialRecord(
    mode="canopy", agent=3, task=FORGED, trial="0123456789ab", attempt=2, task_id=FORGED,
    cost=0.5, status=Status.AGENT_FAILED, cause=Cause.TIMEOUT, detail=FORGED,
).model_dump_json()  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        sealed(LINE),
        LINE.encode(),
        sealed(LINE.replace('"0123456789ab"', "null")),
        sealed(LINE.replace("0123456789ab", "of a stranger")),
        sealed(LINE).replace(b'"cost":0.5', b'"cost":"much"'),
        LINE.encode().replace(b'"cost":0.5', b'"cost":"much"'),
        LINE.encode().replace(b'"agent":3,', b""),
        sealed(LINE)[:-1],
        sealed(LINE.replace("timeout", "swapped-by-aliens")),
        sealed(LINE.replace('"attempt":2', '"attempt":"two"')),
        b"[]",
        b"\xff",
    ],
)
def test_a_line_has_a_head_when_it_holds_a_record(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(line + b"\n\n" + sealed(LINE))
    ((_, _, record), _) = read_lines(tmp_path / "metrics.jsonl", TrialRecord)
    ((number, same, head), (last, _, _)) = read_heads(tmp_path / "metrics.jsonl", TrialRecord)
    assert (number, same, last) == (1, line, 3)
    assert (head is None) == (record is None)
    if head is not None and record is not None:
        assert (head.key, head.conclusive) == (record.key, record.conclusive)


def test_what_we_write_is_recognised() -> None:
    """Otherwise a large session takes long to go on."""
    keys = _HEAD.search(LINE.encode())
    assert keys is not None
    assert keys.groups() == (b"0123456789ab", b"2", b"timeout")
