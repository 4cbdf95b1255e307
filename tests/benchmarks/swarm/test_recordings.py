"""What is kept of a session, and what is not."""

import os
from datetime import UTC, datetime
from pathlib import Path

from swarm_bench.benchmarks.swarm.recordings import (
    PrintedFiles,
    Recorder,
    make_recorded_trial,
    make_shareable,
)
from swarm_bench.benchmarks.swarm.run_plan import SwarmTrial
from swarm_bench.benchmarks.swarm.running.agent_process import read_home_files
from swarm_bench.benchmarks.swarm.running.trial import Execution, ProcessEnd
from swarm_bench.core.outcome import Launch, Outcome
from swarm_bench.core.session.experiment import NOT_STORED, Mode, Program, Setting, Task
from swarm_bench.core.session.recording import RecordedTrial, Recording
from swarm_bench.core.session.records import Measurements, TrialRecord
from swarm_bench.core.status import Cause
from tests.builders.experiments import experiment

TRIAL = "0123456789ab"
KEY = "sk-a-secret-value"


def record(**changes: object) -> TrialRecord:
    values = {"mode": "canopy", "agent": 1, "task": "t", "trial": TRIAL, "task_id": "t1"}
    return TrialRecord.model_validate({**values, "cause": "finished", **changes})


def line(process: ProcessEnd | None, **changes: object) -> RecordedTrial:
    made = record(**changes)
    assert made.cause is not None
    task = Task(id="t1", title="t1", prompt="t")
    execution = Execution(
        trial=SwarmTrial(id=TRIAL, run=1, arm="canopy", case=task, number=1),
        outcome=Outcome(cause=made.cause),
        measured=Measurements(
            started_at=None, ended_at=datetime(2026, 1, 1, tzinfo=UTC), wall_seconds=None,
            exit_code=None, peak_memory_bytes=None, cpu_seconds=None, attempt=1,
            turns_counted=None,
        ),
        prompt="do t1",
        workspace="/w",
        program_version="1.2",
        process=process,
    )  # fmt: skip
    return make_recorded_trial(execution, made)


def test_an_experiment_is_shared_without_what_is_secret_or_of_this_machine() -> None:
    server = {"command": "/home/me/tool", "env": {"TOKEN": KEY}, "headers": {"X": KEY}}
    mode = Mode(name="canopy", source="/home/me/canopy.json", servers={"tool": server})
    one = experiment(modes=["canopy"])
    repository = one.repository.model_copy(update={"omitted": (f"notes/{KEY}.txt",)})
    one = one.model_copy(
        update={
            "modes": (mode,),
            "repository": repository,
            "agent": Program(name="a", path="/home/me/bin/a"),
            "retrieval": {"canopy": Program(name="tool", path="/home/me/tool")},
            "service_url": "http://127.0.0.1:3000",
            "settings": {"workspace_root": Setting(value="/home/me", source="default")},
        }
    )
    shared = make_shareable(one)
    assert KEY not in shared.model_dump_json()
    assert "/home/me" not in shared.model_dump_json()
    assert shared.modes[0].servers == {"tool": {}}
    assert (shared.tasks, shared.order, shared.service_url) == (one.tasks, one.order, NOT_STORED)


def test_a_trial_is_kept_with_its_streams(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"printed\n")
    (tmp_path / "err").write_bytes(b"")
    recorder = Recorder(tmp_path / "recording", "scout")
    recorder.begin(experiment(), frozenset({"b.py", "a.py"}), {})
    started = datetime(2026, 1, 1, tzinfo=UTC)
    trial = line(
        ProcessEnd(returncode=-15, stopped="turn-limit", turn_limit=5),
        started_at=started,
        wall_seconds=1.5,
        exit_code=-15,
        rehearsal=True,
        rehearsal_requests=3,
    )
    printed = PrintedFiles(
        stdout=tmp_path / "out", stderr=tmp_path / "err", home_files={"a.md": b"left"}
    )
    recorder.keep(trial, printed)

    head = Recording.from_json((tmp_path / "recording/recording.json").read_bytes())
    assert (head.adapter, head.files) == ("scout", ("a.py", "b.py"))
    kept = RecordedTrial.from_json((tmp_path / "recording/trials.jsonl").read_bytes())
    assert kept == trial.model_copy(update={"stdout_bytes": 8, "home_files": {"a.md": 4}})
    assert (kept.stopped, kept.turn_limit, kept.rehearsal_requests) == ("turn-limit", 5, 3)
    assert (kept.started_at, kept.program_version) == (started, "1.2")
    streams = {path.name: path.read_bytes() for path in (tmp_path / "recording/streams").iterdir()}
    assert streams == {
        f"{TRIAL}.stdout": b"printed\n",
        f"{TRIAL}.stderr": b"",
        f"{TRIAL}.left-1": b"left",
    }


def test_a_trial_without_a_process_has_no_streams(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "recording", "scout")
    recorder.begin(experiment(), frozenset(), {})
    nowhere = PrintedFiles(stdout=tmp_path / "no", stderr=tmp_path / "no", home_files={})
    recorder.keep(line(None, cause="workspace-failed"), nowhere)
    kept = RecordedTrial.from_json((tmp_path / "recording/trials.jsonl").read_bytes())
    assert (kept.ran, kept.cause, kept.sizes) == (False, Cause.WORKSPACE_FAILED, {})
    assert list((tmp_path / "recording/streams").iterdir()) == []


def test_a_continued_session_goes_on_with_its_recording(tmp_path: Path) -> None:
    nowhere = PrintedFiles(stdout=tmp_path / "no", stderr=tmp_path / "no", home_files={})
    for attempt in (1, 2):
        recorder = Recorder(tmp_path / "recording", "scout")
        recorder.begin(experiment(runs=attempt), frozenset(), {})
        recorder.keep(line(None, cause="not-started", attempt=attempt), nowhere)
    head = Recording.from_json((tmp_path / "recording/recording.json").read_bytes())
    assert head.experiment.runs == 2
    assert len((tmp_path / "recording/trials.jsonl").read_bytes().splitlines()) == 2


def test_what_an_agent_left_is_read_without_secrets_and_without_its_links(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    (home / "logs").mkdir(parents=True)
    outside.mkdir()
    (outside / "key").write_text("of the user")
    (home / "logs" / "a.json").write_text(f"my key is {KEY}")
    (home / "logs" / f"{KEY}.json").write_text("its name is one")
    (home / "link").symlink_to(outside / "key")
    (home / "folder").symlink_to(outside)
    os.mkfifo(home / "pipe")
    names = ("logs/*.json", "link", "folder/key", "*/key", "pipe", "logs", "none", "../outside/key")
    launch = Launch(argv=("x",), leaves=names)
    assert read_home_files(home, launch, [KEY]) == {"logs/a.json": b"my key is (not stored)"}
    assert read_home_files(home, None, [KEY]) == {}


def test_of_two_secrets_that_begin_alike_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f"my key is {KEY}-and-more")
    launch = Launch(argv=("x",), leaves=("a.json",))
    for secrets in ([KEY, f"{KEY}-and-more"], [f"{KEY}-and-more", KEY]):
        assert read_home_files(tmp_path, launch, secrets) == {"a.json": b"my key is (not stored)"}


def test_a_stream_that_an_agent_replaced_is_missing_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(KEY, encoding="utf-8")
    os.mkfifo(tmp_path / "stdout")
    (tmp_path / "stderr").symlink_to(tmp_path / "secret")
    printed = PrintedFiles(stdout=tmp_path / "stdout", stderr=tmp_path / "stderr", home_files={})
    recorder = Recorder(tmp_path / "recording", "claude")
    recorder.begin(experiment(), frozenset(), {})
    recorder.keep(line(ProcessEnd(returncode=0)), printed)
    assert list((tmp_path / "recording" / "streams").iterdir()) == []
    kept = (tmp_path / "recording" / "trials.jsonl").read_text("utf-8")
    assert RecordedTrial.from_json(kept).sizes == {"stdout": 0, "stderr": 0}
