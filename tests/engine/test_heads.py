"""The heads of lines are those of the records that the lines hold."""

from pathlib import Path

import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.base import StoredRecord
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.engine.lines import (
    Records,
    add_checksum,
    describe_torn_lines,
    read_heads,
    read_lines,
)
from tests.builders.golden import Sentences

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
        add_checksum(LINE),
        LINE.encode(),
        add_checksum(LINE.replace('"0123456789ab"', "null")),
        add_checksum(LINE.replace("0123456789ab", "of a stranger")),
        add_checksum(LINE).replace(b'"cost":0.5', b'"cost":"much"'),
        LINE.encode().replace(b'"cost":0.5', b'"cost":"much"'),
        LINE.encode().replace(b'"agent":3,', b""),
        add_checksum(LINE)[:-1],
        add_checksum(LINE.replace("timeout", "swapped-by-aliens")),
        add_checksum(LINE.replace('"attempt":2', '"attempt":"two"')),
        b"[]",
        b"\xff",
    ],
)
def test_a_line_has_a_head_when_it_holds_a_record(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(line + b"\n\n" + add_checksum(LINE))
    ((_, _, record), _) = read_lines(tmp_path / "metrics.jsonl", TrialRecord)
    ((number, same, head), (last, _, _)) = read_heads(tmp_path / "metrics.jsonl", TrialRecord)
    assert (number, same, last) == (1, line, 3)
    assert (head is None) == (record is None)
    if head is not None and record is not None:
        assert (head.key, head.conclusive) == (record.key, record.conclusive)


CASE = CaseRecord(
    arm=FORGED, case=FORGED, number=1, run=2, session=FORGED, trial="0123456789ab", attempt=2,
    status=Status.AGENT_FAILED, cause=Cause.TIMEOUT, detail=FORGED,
).model_dump_json()  # fmt: skip


@pytest.mark.parametrize(("kind", "line"), [(TrialRecord, LINE), (CaseRecord, CASE)])
def test_what_we_write_is_not_parsed(
    kind: type[StoredRecord], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a large session takes long to go on."""
    monkeypatch.setattr(kind, "from_json", None)
    (tmp_path / "metrics.jsonl").write_bytes(add_checksum(line))
    ((_, _, head),) = read_heads(tmp_path / "metrics.jsonl", kind)
    assert head == ("0123456789ab", 2, Cause.TIMEOUT)


@pytest.mark.parametrize(("kind", "line"), [(TrialRecord, LINE), (CaseRecord, CASE)])
def test_a_line_of_a_newer_version_is_not_read_as_one_of_this(
    kind: type[StoredRecord], line: str, tmp_path: Path, golden: Sentences
) -> None:
    newer = add_checksum(line.replace('"schema_version":1,', '"schema_version":2,'))
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"\n".join([newer, b"torn", add_checksum(line)]))
    assert [head and head.trial for _, _, head in read_heads(path, kind)][:2] == [None, None]
    golden(*describe_torn_lines(path, read_lines(path, kind)))
    with pytest.raises(UsageError, match="line 1 was written by a newer swarm-bench"):
        Records(tmp_path, kind).set_aside_reruns()
