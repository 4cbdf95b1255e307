"""Replay as an agent: real processes print what was recorded; and what a recording from somebody
else cannot do."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.replay.adapter import Replay
from swarm_bench.core.errors import ConfigError, SwarmBenchError, UsageError
from swarm_bench.core.outcome import AgentExit, AgentRequest, Usage
from swarm_bench.core.ports import Agent
from swarm_bench.core.session.experiment import stable_id
from swarm_bench.core.session.recording import FORMAT, Replays
from swarm_bench.core.status import Cause
from swarm_bench.testing.recordings import Sample, Side, make_recording
from tests.builders.golden import Sentences

RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "See a.py."}
ANSWER = json.dumps({**RESULT, "num_turns": 3, "usage": {"input_tokens": 5}}).encode() + b"\n"
TRIAL = stable_id(1, "baseline", 1, "sample-1")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    side = Side(samples=[Sample(stdout=ANSWER, stderr=b"a warning\n")])
    return make_recording(tmp_path / "recording", "scout", {"baseline": side}, files=["a.py"])


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


def play(agent: Replay, folder: Path, trial: str = TRIAL) -> tuple[int, bytes, bytes]:
    request = AgentRequest(
        prompt="Sample 1",
        workspace=folder,
        home=folder,
        mcp_config=folder / "mcp.json",
        max_turns=3,
        model=None,
        seed=0,
        trial=trial,
    )
    done = subprocess.run(
        agent.launch(request).argv, capture_output=True, env={}, cwd=folder, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_it_prints_what_was_recorded_and_reads_it_as_the_recorded_agent(
    recording: Path, tmp_path: Path
) -> None:
    agent = Replay(str(recording))
    assert isinstance(agent, Agent)
    assert isinstance(agent, Replays)
    assert play(agent, tmp_path) == (0, ANSWER, b"a warning\n")
    (tmp_path / "out").write_bytes(ANSWER)
    (tmp_path / "err").touch()
    exit = AgentExit(returncode=0, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err")
    outcome = agent.outcome(exit)
    assert (outcome.cause, outcome.text, outcome.turns) == (Cause.FINISHED, "See a.py.", 3)
    assert outcome.usage == Usage(input=5)
    assert agent.program(None).name == "scout"


@pytest.mark.parametrize("code", [0, 3, 255, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGSEGV])
def test_it_ends_as_the_recorded_process_ended(code: int, tmp_path: Path) -> None:
    samples = [Sample(stdout=b"x" * 300_000, returncode=code)]
    made = make_recording(tmp_path / "r", "scout", {"baseline": Side(samples=samples)})
    assert play(Replay(str(made)), tmp_path) == (code, b"x" * 300_000, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["r"]  # and no core


@pytest.mark.parametrize("code", [-signal.SIGSTOP, -signal.SIGCHLD, -127])
def test_signals_that_end_nothing_end_it(code: int, tmp_path: Path) -> None:
    samples = [Sample(stdout=b"x", returncode=code)]
    made = make_recording(tmp_path / "r", "scout", {"baseline": Side(samples=samples)})
    assert play(Replay(str(made)), tmp_path) == (1, b"x", b"")


def test_the_folder_of_the_session_does_as_well(recording: Path) -> None:
    assert Replay(str(recording.parent)).recorded.path == recording


def test_a_trial_without_its_streams_is_left_out_and_said(
    recording: Path, golden: Sentences
) -> None:
    (recording / "streams" / f"{TRIAL}.stdout").unlink()
    recorded = Replay(str(recording)).recorded
    assert recorded.trials == {}
    (problem,) = recorded.problems
    golden(problem)


def test_the_last_line_of_a_trial_counts_and_a_torn_one_is_left_out(
    recording: Path, golden: Sentences
) -> None:
    file = recording / "trials.jsonl"
    line = json.loads(file.read_text())
    file.write_text("\n".join([json.dumps(line), json.dumps({**line, "attempt": 2}), '{"trial"']))
    recorded = Replay(str(recording)).recorded
    assert recorded.trials[TRIAL].attempt == 2
    (problem,) = recorded.problems
    golden(problem)


def test_what_is_no_recording_is_refused_in_a_sentence(recording: Path, tmp_path: Path) -> None:
    for given, said in [
        (tmp_path / "nowhere", "holds no recording"),
        (recording / "recording.json", "is a file; unpack it"),
    ]:
        with pytest.raises(UsageError, match=said):
            Replay(str(given))
    change(recording / "recording.json", lambda content: content.update(format=FORMAT + 1))
    with pytest.raises(UsageError, match="recorded by a newer swarm-bench"):
        Replay(str(recording))
    (recording / "recording.json").write_text("{")
    with pytest.raises(ConfigError, match="is no recording"):
        Replay(str(recording))


@pytest.mark.parametrize(
    "word", ["os:abort", "replay", "replay:.", "command:x.yaml", "./x.yaml", "nobody", "scout:x"]
)
def test_an_agent_that_a_recording_names_is_never_loaded(
    recording: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recording.parent)
    (recording.parent / "x.yaml").write_text("!!python/object/apply:os.abort []")
    change(recording / "recording.json", lambda content: content.update(adapter=word))
    with pytest.raises(UsageError, match="not loaded because a recording names it"):
        Replay(str(recording))


def test_an_agent_that_the_user_gives_is_loaded(recording: Path) -> None:
    change(recording / "recording.json", lambda content: content.update(adapter="mine:Agent"))
    assert Replay(f"{recording}@swarm_bench.agents.scripted:Scripted").recorded.path == recording
    for given in ("os:sep", "nobody", "replay"):
        with pytest.raises((SwarmBenchError, TypeError)):
            Replay(f"{recording}@{given}")


@pytest.mark.parametrize(
    "edit",
    [
        lambda e: e["modes"][0].update(name="../../evil"),
        lambda e: e["modes"][0].update(name="run-1"),
        lambda e: e.update(modes=[]),
        lambda e: e.update(tasks=[]),
        lambda e: e.update(modes=e["modes"] * 2),
        lambda e: e.update(runs=2),
        lambda e: e.update(order=[["canopy"]]),
        lambda e: e.update(agents=10**9),
        lambda e: e.update(agents=0),
        lambda e: e.update(agents=-1),
        lambda e: e.update(session="\x1b[2J"),
        lambda e: e["limits"].update(output_bytes=10**15),
        lambda e: e["modes"][0].update(probes=["../other"]),
        lambda e: e.update(tasks=e["tasks"] * 2),
        lambda e: e.update(replayed="another"),
    ],
)
def test_an_experiment_that_cannot_be_is_refused(
    recording: Path, edit: Callable[[dict[str, Any]], object]
) -> None:
    change(recording / "recording.json", lambda content: edit(content["experiment"]))
    with pytest.raises(ConfigError, match="recording.json is no recording: experiment"):
        Replay(str(recording))


@pytest.mark.parametrize(
    "changes",
    [
        {"trial": "../../../etc/passwd"},
        {"trial": TRIAL + "/.."},
        {"ran": False},
        {"returncode": 99999},
        {"wall_seconds": -1},
        {"cause": "magic"},
        {"left": {"../out": 1}},
        {"left": {"/out": 1}},
        {"left": {"a\0b": 1}},
        {"left": {".": 1}},
        {"left": {"out": -1}},
    ],
)
def test_a_line_that_cannot_be_is_left_out(recording: Path, changes: dict[str, Any]) -> None:
    change(recording / "trials.jsonl", lambda line: line.update(changes))
    recorded = Replay(str(recording)).recorded
    assert recorded.trials == {}
    (problem,) = recorded.problems
    assert problem.startswith("trials.jsonl: line 1 ")


def test_a_counter_that_is_no_number_is_left_out(recording: Path) -> None:
    line = {"session": "s", "swarm": "x", "mode": "baseline", "run": 1, "agents": [1]}
    bad = {**line, "difference": {"feedback": {"query_events": "many"}}}
    (recording / "swarms.jsonl").write_text(f"{json.dumps(bad)}\n{json.dumps(line)}\n")
    recorded = Replay(str(recording)).recorded
    assert len(recorded.swarms) == 1
    (problem,) = recorded.problems
    assert problem.startswith("swarms.jsonl: line 1 ")


def test_links_and_pipes_lead_nowhere(recording: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(ANSWER)
    stream = recording / "streams" / f"{TRIAL}.stdout"
    stream.unlink()
    stream.symlink_to(secret)
    assert Replay(str(recording)).recorded.trials == {}
    stream.unlink()
    os.mkfifo(stream)
    assert Replay(str(recording)).recorded.trials == {}
    (recording / "streams").rename(tmp_path / "elsewhere")
    (recording / "streams").symlink_to(tmp_path / "elsewhere")
    assert Replay(str(recording)).recorded.trials == {}
    for name in ("trials.jsonl", "recording.json"):
        (recording / name).rename(tmp_path / name)
        (recording / name).symlink_to(tmp_path / name)
        with pytest.raises(ConfigError, match=f"{name} is no file of a recording"):
            Replay(str(recording))
        (recording / name).unlink()
        (tmp_path / name).rename(recording / name)


def test_a_stream_that_is_too_large_is_refused_unread(recording: Path) -> None:
    size = 10**13  # sparse: it takes no room, until somebody copies it
    stream = recording / "streams" / f"{TRIAL}.stdout"
    try:
        os.truncate(stream, size)
    except OSError:
        pytest.skip("the file system has no files of this size")
    change(recording / "trials.jsonl", lambda line: line.update(stdout_bytes=size))
    with pytest.raises(ConfigError, match="more output than an agent can print"):
        Replay(str(recording))


def test_it_reads_on_when_it_is_asked_to_stop(recording: Path, tmp_path: Path) -> None:
    """A turn limit stops it while it prints; what the original printed after that is kept."""
    size = 4_000_000
    samples = [Sample(stdout=b"y" * size)]
    made = make_recording(tmp_path / "r", "scout", {"baseline": Side(samples=samples)})
    agent = Replay(str(made))
    request = AgentRequest(
        prompt="", workspace=tmp_path, home=tmp_path, mcp_config=tmp_path, max_turns=1,
        model=None, seed=0, trial=TRIAL,
    )  # fmt: skip
    process = subprocess.Popen(agent.launch(request).argv, stdout=subprocess.PIPE, env={})
    assert process.stdout is not None
    first = process.stdout.read(1)  # it blocks on the full pipe now
    process.terminate()
    time.sleep(0.05)
    rest = process.stdout.read()
    process.stdout.close()
    assert (len(first + rest), process.wait()) == (size, 0)
