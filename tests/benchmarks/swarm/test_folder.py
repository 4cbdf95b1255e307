import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.folder import SessionFolder, find_sessions
from swarm_bench.core.errors import ConfigError, Refused, UsageError
from swarm_bench.core.session.base import EXPERIMENT_VERSION, SLICE_VERSION
from swarm_bench.core.session.designs import AB
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.engine.lines import SUPERSEDED, Entry, Head, add_checksum, read_heads
from swarm_bench.retrieval.modes.secrets import make_storable
from swarm_bench.runtime.files import write_whole
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences

MINE = TrialRecord(mode="canopy", agent=1, task="ü", trial="b", cost=0.5, cause=Cause.FINISHED)
LABELLED = MINE.model_copy(update={"retrieval": Treatment.USED})


def line(trial: str, cause: str = "finished", **more: object) -> str:
    values = {"mode": "canopy", "agent": 1, "task": "t", "trial": trial, "cause": cause, **more}
    return json.dumps(values)


def folder_with(path: Path, *lines: str) -> SessionFolder:
    folder = SessionFolder(path)
    folder.make()
    folder.write_experiment(make_storable(experiment()))
    (path / "metrics.jsonl").write_text("".join(f"{one}\n" for one in lines))
    return folder


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_what_must_run_again_is_moved_as_it_was_written(tmp_path: Path) -> None:
    good, cut, torn = line("a", later="key"), line("b", "interrupted", other=1), '{"mode": "can'
    stay = folder_with(tmp_path, good, cut, torn).records.set_aside_reruns()
    assert [record.trial for record in stay] == ["a"]
    assert lines_of(tmp_path / "metrics.jsonl") == [good]
    assert lines_of(tmp_path / SUPERSEDED) == [cut, torn]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"runs": "x"}, "version: runs must be a whole number; restore it, or start a new session"),
        ({"modes": []}, "experiment.json needs modes, with different names"),
        (
            {"design": "calibrate", "modes": [{"name": "a", "source": "test"}]},
            "compares a mode with itself, but does not have two modes",
        ),
        ({"blocks": []}, "has blocks that do not have each of its agents once"),
        ({"blocks": [[1, 2], [2, 3, 4]]}, "has blocks that do not have each of its agents once"),
        ({"blocks": [[1, 2], [3]]}, "has blocks that do not have each of its agents once"),
        ({"blocks": [[1, 2, 3, 4, 5]]}, "has blocks that do not have each of its agents once"),
        ({"blocks": [[1, 2, 3, 4], []]}, "has a block without agents"),
        ({"blocks": [[1, 2], [3, 4]]}, "has an order that does not fit its modes, blocks and runs"),
        (
            {"blocks": [[1, 2, 3, 4]], "order": [["baseline", "another"]] * 2},
            "has an order that does not fit its modes, blocks and runs",
        ),
        (
            {"blocks": [[1, 2, 3, 4]], "order": [["baseline"]] * 2},
            "has an order that does not fit its modes, blocks and runs",
        ),
        (
            {
                "blocks": [[1, 2, 3, 4]],
                "tasks": [
                    {"id": one, "title": one, "prompt": one, "commit": one * 40} for one in "ab"
                ],
            },
            "has a block whose tasks are on several commits",
        ),
    ],
)
def test_an_experiment_that_cannot_be_says_why(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    folder = folder_with(tmp_path)
    stored = json.loads((tmp_path / "experiment.json").read_text())
    (tmp_path / "experiment.json").write_text(json.dumps({**stored, **changes}))
    with pytest.raises(ConfigError, match=words):
        folder.read_experiment()


@pytest.mark.parametrize("changes", [{}, {"design": "latin-square"}, {"runs": "many"}])
def test_an_experiment_of_a_newer_version_is_refused(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    folder = folder_with(tmp_path)
    stored = json.loads((tmp_path / "experiment.json").read_text())
    assert stored["schema_version"] == EXPERIMENT_VERSION == 4, (
        "older ones know no blocks within a run"
    )
    newer = {**stored, "schema_version": SLICE_VERSION + 1, **changes}
    (tmp_path / "experiment.json").write_text(json.dumps(newer))
    with pytest.raises(UsageError, match="was written by a newer swarm-bench; update this one"):
        folder.read_experiment()


def test_an_older_experiment_that_is_extended_is_one_of_this_version(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    older = json.loads((tmp_path / "experiment.json").read_text())
    del older["design"], older["benchmark_version"]
    older |= {"schema_version": 1, "benchmark": "ab"}
    (tmp_path / "experiment.json").write_text(json.dumps(older))
    read = folder.read_experiment()
    assert (read.design, read.schema_version) == (AB, 1)
    folder.write_experiment(make_storable(read))
    stored = json.loads((tmp_path / "experiment.json").read_text())
    assert (stored["design"], stored["schema_version"]) == ("ab", EXPERIMENT_VERSION)


def test_of_a_trial_with_two_lines_the_first_stays(tmp_path: Path) -> None:
    one, two = line("a", agent=1), line("a", agent=2)
    folder_with(tmp_path, one, two).records.set_aside_reruns()
    assert lines_of(tmp_path / "metrics.jsonl") == [one]
    assert lines_of(tmp_path / SUPERSEDED) == [two]


def test_lines_of_a_newer_version_are_not_thrown_away(tmp_path: Path) -> None:
    newer = line("a", "swapped-by-aliens", schema_version=99)
    with pytest.raises(UsageError, match="line 1 was written by a newer swarm-bench"):
        folder_with(tmp_path, newer).records.set_aside_reruns()
    assert lines_of(tmp_path / "metrics.jsonl") == [newer]


def test_nothing_is_written_when_nothing_must_run_again(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, line("a"), line("b", "max-turns"))
    before = (tmp_path / "metrics.jsonl").stat().st_mtime_ns
    assert len(folder.records.set_aside_reruns()) == 2
    assert (tmp_path / "metrics.jsonl").stat().st_mtime_ns == before


def test_attempts_are_counted(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, line("a", "interrupted", attempt=2))
    folder.records.set_aside_reruns()
    assert folder.records.count_attempts() == {"a": 2}


def test_a_record_follows_a_torn_line_on_a_line_of_its_own(
    tmp_path: Path, golden: Sentences
) -> None:
    folder = folder_with(tmp_path)
    (tmp_path / "metrics.jsonl").write_text('{"mode": "can')
    folder.records.append(TrialRecord(mode="canopy", agent=1, task="t", cause=Cause.FINISHED))
    data = folder.read()
    assert len(data.trials) == 1
    golden(*data.warnings)


def test_one_run_becomes_the_first_of_several_however_often_it_is_cut_off(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path)
    folder.make()
    folder.write_experiment(make_storable(experiment(runs=1)))
    for place in ("canopy", "run-1/canopy"):  # as after a kill in the middle of the move
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "canopy" / "agent-1.json").write_text("1")
    (tmp_path / "run-1" / "canopy" / "agent-2.json").write_text("2")
    folder.rearrange(experiment(runs=1), experiment(runs=2))
    folder.write_experiment(make_storable(experiment(runs=2)))
    names = sorted(path.name for path in (tmp_path / "run-1" / "canopy").iterdir())
    assert names == ["agent-1.json", "agent-2.json"]
    assert not (tmp_path / "canopy").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"session": "x/../../y"}, "has an id that cannot name a folder"),
        ({"modes": ["../evil"], "order": [["../evil"]] * 2}, "whose name cannot name a folder"),
        ({"modes": ["/evil"], "order": [["/evil"]] * 2}, "whose name cannot name a folder"),
        ({"order": [["canopy"]]}, "an order that does not fit"),
    ],
)
def test_names_of_a_session_from_elsewhere_lead_nowhere(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    folder = folder_with(tmp_path)
    stored = json.loads((tmp_path / "experiment.json").read_text())
    if "modes" in changes:
        changes = {**changes, "modes": [{"name": one, "source": ""} for one in changes["modes"]]}
    (tmp_path / "experiment.json").write_text(json.dumps({**stored, **changes}))
    with pytest.raises(ConfigError, match=words):
        folder.read_experiment()


@pytest.mark.parametrize("name", ["/evil", "../evil", "run-1", "a/b", ""])
def test_only_a_name_names_the_folder_of_a_mode(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a folder"):
        Artefacts(tmp_path, runs=1).mode_folder(1, name)


@pytest.mark.parametrize("planted", ["canopy", "run-1", "run-1/canopy"])
def test_a_session_that_grows_moves_nothing_from_or_to_behind_a_link(
    tmp_path: Path, planted: str
) -> None:
    (docs := tmp_path / "docs").mkdir()
    (docs / "thesis.txt").write_text("mine")
    folder = SessionFolder(tmp_path / "session")
    folder.make()
    folder.write_experiment(make_storable(experiment(runs=1)))
    (folder.path / "canopy").mkdir()
    (folder.path / "canopy" / "agent-1.json").write_text("1")
    if (place := folder.path / planted).is_dir():
        place.rename(tmp_path / "gone")
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(docs, target_is_directory=True)
    folder.rearrange(experiment(runs=1), experiment(runs=2))
    folder.write_experiment(make_storable(experiment(runs=2)))
    assert [path.name for path in docs.iterdir()] == ["thesis.txt"]
    moved = folder.path / "run-1" / "canopy" / "agent-1.json"
    assert moved.exists() == (planted != "canopy")
    assert folder.read().planted == (f"planted-1-{place.name}",)


def test_a_series_has_no_session_behind_a_link(tmp_path: Path) -> None:
    """Of a series from elsewhere that would be a session of one's own."""
    folder_with(tmp_path / "mine")
    folder_with(tmp_path / "series" / "agents-1")
    (tmp_path / "series" / "agents-2").symlink_to(tmp_path / "mine")
    assert list(find_sessions(tmp_path / "series")) == [1]


def test_amended_lines_take_their_places_and_no_other_byte_changes(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, line("a", later="key"))
    with (tmp_path / "metrics.jsonl").open("ab") as file:
        file.write(b'{"mode": "can\xff\n')
    folder.records.append(MINE)
    folder.records.append(MINE.model_copy(update={"attempt": 2}))
    before = (tmp_path / "metrics.jsonl").read_bytes().split(b"\n")

    folder.records.append(LABELLED)
    folder.records.fold()

    after = (tmp_path / "metrics.jsonl").read_bytes().split(b"\n")
    assert [number for number, one in enumerate(after) if one != before[number]] == [2]
    assert json.loads(after[2])["retrieval"] == "used"
    assert len(after) == len(before)


def test_what_is_written_for_a_swarm_does_not_grow_with_the_session(tmp_path: Path) -> None:
    folder, metrics = folder_with(tmp_path), tmp_path / "metrics.jsonl"
    grown = list[int]()
    for number in range(20):
        before, file = metrics.read_bytes(), metrics.stat().st_ino
        folder.records.append(LABELLED.model_copy(update={"trial": f"{number:02}"}))
        assert metrics.stat().st_ino == file, "it was written anew"
        assert metrics.read_bytes().startswith(before)
        grown.append(metrics.stat().st_size - len(before))
    assert len(set(grown)) == 1


def test_threads_append_whole_lines_and_nothing_between(tmp_path: Path) -> None:
    folder, metrics = folder_with(tmp_path), tmp_path / "metrics.jsonl"
    before = metrics.read_bytes()
    long = LABELLED.model_copy(update={"detail": "a" * 100_000})  # more than a page at a time
    records = [long.model_copy(update={"trial": f"{number:02}"}) for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(folder.records.append, records))
    lines = metrics.read_bytes().removeprefix(before).split(b"\n")
    assert sorted(lines) == sorted([b"", *(add_checksum(it.model_dump_json()) for it in records)])


def test_a_session_that_was_killed_before_it_was_folded_reads_and_goes_on(
    tmp_path: Path, golden: Sentences
) -> None:
    folder = folder_with(tmp_path)
    cut = MINE.model_copy(update={"trial": "c", "cause": Cause.INTERRUPTED})
    relabelled = cut.model_copy(update={"retrieval": Treatment.USED})
    for record in (MINE, cut):
        folder.records.append(record)
    folder.records.append(LABELLED, relabelled)
    with (tmp_path / "metrics.jsonl").open("ab") as file:
        file.write(b'{"mode":"canopy","age')

    data = folder.read()
    assert data.trials == (LABELLED, relabelled)
    assert data.audit is not None
    assert (data.audit.sealed, data.audit.edited, data.audit.without_checksum) == (
        2,
        frozenset(),
        frozenset(),
    )
    golden(*data.warnings)

    assert [head.trial for head in folder.records.set_aside_reruns()] == ["b"]
    assert folder.read().trials == (LABELLED,)
    assert len(lines_of(tmp_path / "metrics.jsonl")) == 1
    gone = lines_of(tmp_path / SUPERSEDED)
    assert [json.loads(one)["retrieval"] for one in gone[:1]] == ["used"]
    assert len(gone) == 2


def test_a_second_line_that_is_no_amendment_takes_no_place(
    tmp_path: Path, golden: Sentences
) -> None:
    """An agent can append one to the file."""
    cheaper = LABELLED.model_copy(update={"cost": 0.01}).model_dump_json()
    unsealed, edited = (
        LABELLED.model_dump_json().encode(),
        add_checksum(cheaper).replace(b"0.01", b"0.02"),
    )
    for number, second in enumerate((add_checksum(cheaper), cheaper.encode(), unsealed, edited)):
        folder, metrics = folder_with(tmp_path / str(number)), tmp_path / f"{number}/metrics.jsonl"
        folder.records.append(MINE)
        first = metrics.read_bytes()
        with metrics.open("ab") as file:
            file.write(second + b"\n")
        folder.records.fold()
        data = folder.read()
        assert data.trials == (MINE,)
        golden(*data.warnings)
        assert data.audit is not None
        assert (MINE.key in data.audit.edited | data.audit.without_checksum) == (
            second != add_checksum(cheaper)
        )
        assert len(folder.records.set_aside_reruns()) == 1
        assert metrics.read_bytes() == first
        assert (folder.path / SUPERSEDED).read_bytes() == second + b"\n"


def test_what_was_measured_comes_back_when_the_first_line_was_changed(tmp_path: Path) -> None:
    folder, metrics = folder_with(tmp_path), tmp_path / "metrics.jsonl"
    folder.records.append(MINE)
    metrics.write_bytes(metrics.read_bytes().replace(b'"cost":0.5', b'"cost":0.1'))
    folder.records.append(LABELLED)
    assert folder.read().trials == (LABELLED,)


def test_nothing_is_written_when_nothing_is_amended(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, line("a"), line("a"), line("b"))
    before = (tmp_path / "metrics.jsonl").stat()
    folder.records.append()
    folder.records.fold()
    after = (tmp_path / "metrics.jsonl").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_nothing_planted_in_a_session_is_followed_or_waited_for(tmp_path: Path) -> None:
    (precious := tmp_path / "precious").write_text("mine\n", encoding="utf-8")
    folder = folder_with(tmp_path / "session", line("a"))
    metrics, lock = tmp_path / "session" / "metrics.jsonl", folder.lock
    lock.unlink()
    lock.symlink_to(precious)
    with pytest.raises(UsageError, match="cannot be a folder for results"):
        folder.make()
    metrics.unlink()
    metrics.symlink_to(precious)
    with pytest.raises(Refused, match="is a link"):
        folder.read()
    metrics.unlink()
    os.mkfifo(metrics)
    with pytest.raises(Refused, match="no regular file"):
        folder.records.set_aside_reruns()
    (tmp_path / "session" / "experiment.json").unlink()
    (tmp_path / "session" / "experiment.json").symlink_to("/dev/zero")
    with pytest.raises(UsageError):
        folder.read_experiment()
    assert precious.read_text("utf-8") == "mine\n"


def test_a_session_that_runs_makes_room_for_its_lines(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, line("a"))
    metrics = folder.path / "metrics.jsonl"
    metrics.rename(folder.path / "elsewhere")
    (metrics / "x").mkdir(parents=True)
    folder.records.append(TrialRecord.from_json(line("b")))
    assert [record.trial for record in folder.read().trials] == ["b"]
    assert (folder.path / "planted-1-metrics.jsonl" / "x").is_dir()


def test_a_session_that_goes_on_makes_room_for_all_its_files(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    names = ("metrics", "retrieval", "overhead", "superseded")
    files = [*(folder.path / f"{name}.jsonl" for name in names), folder.lock]
    for file in files:
        file.unlink(missing_ok=True)
        os.mkfifo(file)
    folder.make_room()
    assert folder.records.set_aside_reruns() == []
    assert folder.records.count_attempts() == {}
    assert folder.had_session()
    assert set(folder.read().planted) == {f"planted-1-{file.name}" for file in files}


def test_what_is_planted_for_a_later_agent_is_set_aside(tmp_path: Path) -> None:
    artefacts = Artefacts(tmp_path, runs=1)
    for name, target in (("stream", "/nowhere"), ("log", "/dev/zero")):
        (tmp_path / name).symlink_to(target)
        artefacts.set_aside(tmp_path / name)
    (tmp_path / "folder").mkdir()
    artefacts.set_aside(tmp_path / "folder")
    assert {"attempt-1-stream", "attempt-1-log", "attempt-1-folder"} <= {
        path.name for path in tmp_path.iterdir()
    }


@pytest.mark.parametrize(("given", "folder", "file"), [(None, 0o700, 0o600), (0o750, 0o750, 0o640)])
def test_a_session_is_as_private_as_the_folder_that_was_given(
    tmp_path: Path, given: int | None, folder: int, file: int
) -> None:
    path = tmp_path / "out"
    if given is not None:
        path.mkdir(mode=given)
    session = SessionFolder(path)
    session.make()
    session.write_experiment(make_storable(experiment()))
    write_whole(path / "baseline" / "agent-1.md", "x")
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in (path, *path.rglob("*"))}
    assert (modes["out"], modes["baseline"]) == (folder, folder)
    assert (modes["experiment.json"], modes["agent-1.md"]) == (file, file)


def test_lines_are_read_once_before_a_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[Path]()

    def counted(path: Path, kind: type[TrialRecord]) -> list[Entry[Head]]:
        calls.append(path)
        return read_heads(path, kind)

    monkeypatch.setattr("swarm_bench.engine.lines.read_heads", counted)
    folder = folder_with(tmp_path, line("a"), line("b"))
    assert len(folder.records.read_heads()) == len(folder.records.set_aside_reruns()) == 2
    assert len(calls) == 1
    assert len(folder.records.read_heads()) == 2
    folder.records.append(MINE.model_copy(update={"trial": "c"}))
    assert len(folder.records.set_aside_reruns()) == 3, "what was written meanwhile is read"
    folder.records.fold()
    calls.clear()
    assert len(folder.records.read_heads()) == 3
    assert not calls


def test_a_session_of_a_series_is_known_by_the_very_name_that_links_have(tmp_path: Path) -> None:
    for name in ("agents-2", "agents-02", "agents-0", "agents-٣", "agents-4x", "agents-10"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "experiment.json").touch()
    assert [*find_sessions(tmp_path)] == [2, 10]
