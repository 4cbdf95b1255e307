"""The heads of lines are those of the records that the lines hold."""

from pathlib import Path

import pytest

from swarm_bench.core.records import TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.engine.heads import read_heads
from swarm_bench.engine.lines import read_lines
from swarm_bench.engine.seal import sealed

LINE = TrialRecord(
    mode="canopy", agent=3, task="ü", trial="a", attempt=2, cost=0.5, cause=Cause.TIMEOUT
).model_dump_json()


@pytest.mark.parametrize(
    "line",
    [
        sealed(LINE),
        LINE.encode(),
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
    ((number, same, head), (last, _, _)) = read_heads(tmp_path / "metrics.jsonl")
    assert (number, same, last) == (1, line, 3)
    assert (head is None) == (record is None)
    if head is not None and record is not None:
        assert (head.key, head.conclusive) == (record.key, record.conclusive)
