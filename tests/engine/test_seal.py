"""A line that was changed after it was sealed is told; one that nobody sealed is no alarm."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from swarm_bench.benchmarks.swarm.folder import OVERHEAD, RETRIEVAL, SessionFolder
from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.lines import METRICS, add_checksum, is_intact
from swarm_bench.retrieval.modes.secrets import make_storable
from tests.builders.golden import Sentences
from tests.builders.reports import summarise
from tests.builders.sessions import make_experiment, make_session, make_swarm, make_trial

LINE = '{"mode":"canopy","task":"\\"sha256\\": ü","total_tokens":5600}'


def test_a_sealed_line_is_the_same_object_with_one_key_more() -> None:
    line = add_checksum(LINE)
    assert is_intact(line) is True
    assert is_intact(line + b"\r") is True
    assert {**json.loads(LINE), "sha256": json.loads(line)["sha256"]} == json.loads(line)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b"5600", b"56"),
        lambda line: line.replace(b'"canopy"', b'"canopY"'),
        lambda line: line.replace(b',"total', b', "total'),
        lambda line: json.dumps(json.loads(line)).encode(),
        lambda line: line.replace(b'"sha256":"', b'"sha256":"0', 1)[:-1],
        lambda line: line[:-3] + b'0"}',
    ],
)
def test_a_changed_line_is_told(change: Callable[[bytes], bytes]) -> None:
    line = change(add_checksum(LINE))
    assert line != add_checksum(LINE)
    assert is_intact(line) is False


def test_a_line_without_a_checksum_says_nothing() -> None:
    assert is_intact(LINE.encode()) is None


def test_lines_stay_sealed_however_the_folder_rewrites_them(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path)
    folder.write_experiment(make_storable(make_experiment(("canopy",))))
    mine = TrialRecord(mode="canopy", agent=1, task="t", trial="x", cause=Cause.FINISHED)
    again = TrialRecord(mode="canopy", agent=2, task="t", trial="y", cause=Cause.RATE_LIMITED)
    folder.records.append(mine)
    folder.records.append(again)
    folder.records.append(mine.model_copy(update={"retrieval": Treatment.USED}))
    folder.records.fold()
    folder.records.set_aside_reruns()
    audit = folder.read().audit
    assert audit is not None
    assert (audit.sealed, audit.edited, audit.without_checksum) == (1, frozenset(), frozenset())
    assert is_intact((tmp_path / "superseded.jsonl").read_bytes()) is True


def test_what_was_changed_stays_so_when_others_are_amended(tmp_path: Path) -> None:
    folder, metrics = SessionFolder(tmp_path), tmp_path / METRICS
    folder.write_experiment(make_storable(make_experiment(("canopy",))))
    one, other, third = (
        TrialRecord(mode="canopy", agent=agent, task="t", trial=str(agent), total_tokens=5600)
        for agent in (1, 2, 3)
    )
    for record in (one, other):
        folder.records.append(record)
    metrics.write_bytes(metrics.read_bytes().replace(b"5600", b"56", 1))
    folder.records.append(third)
    with metrics.open("ab") as file:
        file.write(b'{"mode":"canopy","age')
    folder.records.append(other.model_copy(update={"retrieval": Treatment.USED}))
    data = folder.read()
    assert data.audit is not None
    assert (data.audit.sealed, set(data.audit.edited)) == (3, {one.key})
    assert len(data.warnings) == 1, "the torn line is named, and is no changed one"


def test_lines_on_swarms_and_overhead_are_sealed_too(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path)
    folder.write_experiment(make_storable(make_experiment(("canopy",))))
    folder.append_swarm(make_swarm("canopy", index_seconds=7.5))
    folder.write_overhead([Overhead(session="s", mode="canopy", tool_tokens=75)])
    assert (audit := folder.read().audit) is not None
    assert not audit.edited_beside
    assert not audit.bare_beside
    for name, old in ((RETRIEVAL, b"7.5"), (OVERHEAD, b"75")):
        path = tmp_path / name
        path.write_bytes(path.read_bytes().replace(old, b"0"))
    assert (audit := folder.read().audit) is not None
    assert audit.edited_beside == {(RETRIEVAL, "canopy"): 1, (OVERHEAD, "canopy"): 1}
    folder.write_overhead(folder.read().overhead)  # as --continue does
    assert (audit := folder.read().audit) is not None
    assert audit.edited_beside[OVERHEAD, "canopy"] == 1
    (tmp_path / RETRIEVAL).write_text(make_swarm("canopy").model_dump_json())
    assert (audit := folder.read().audit) is not None
    assert audit.bare_beside == {(RETRIEVAL, "canopy"): 1}


def test_lines_on_overhead_that_cannot_be_read_stay(tmp_path: Path) -> None:
    folder, path = SessionFolder(tmp_path), tmp_path / OVERHEAD
    known = Overhead(session="s", mode="canopy", tool_tokens=75)
    others = (b'{"mode":"baseline","schema_version":99}\n', b'{"mode": "cut\n')
    folder.write_overhead([known])
    with path.open("ab") as file:
        file.writelines(others)
    for _ in range(2):
        folder.write_overhead([known])
        assert path.read_bytes().splitlines(keepends=True)[1:] == list(others)


@pytest.mark.parametrize("sealed_beside", [True, False])
def test_a_missing_checksum_says_something_where_every_line_has_one(
    sealed_beside: bool, golden: Sentences
) -> None:
    session = make_session(make_trial(), make_trial("canopy"), sealed_beside=sealed_beside)
    audit = Audit(bare_beside={(RETRIEVAL, "canopy"): 1})
    standings = summarise(replace(session, audit=audit)).headline.standings
    said = [clause for one in standings for clause in one.qualifications]
    assert len(said) == sealed_beside
    golden(*said)
