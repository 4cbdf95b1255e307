"""A recorded session, replayed without its repository, programs and mode files: equal records."""

import json
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_bench.testing.recordings import Sample, Side, make_recording
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench, Done, processes_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

CLAUDE = Path(__file__).parents[1] / "agents" / "samples" / "claude-code"
SCRIPTED = "swarm_bench.agents.scripted:Scripted"
OTHER_SESSION = {"session", "replayed", "sha256"}
"""Keys in which a replay differs: the checksum is of the line, and the session is in it."""
USAGE = {"input": 10, "cache_read": 20, "cache_create": 30, "output": 40}
GOOD = {"answer": {"text": "See shop/auth.py.\n", "turns": 2, "cost": 0.5, "usage": USAGE}}
INIT: dict[str, Any] = {"init": {"tools": ["Read"]}}
PLAYS: list[dict[str, Any]] = [
    {"when": {"prompt": "Answer"}, "steps": [INIT, {"environment": None}]},
    {"when": {"prompt": "Fail"}, "steps": [INIT, {"stderr": "no luck"}, {"exit": 3}]},
    {"when": {"prompt": "Crash"}, "steps": [INIT, {"signal": "SIGKILL"}]},
    {"when": {"prompt": "Hang"}, "steps": [{"ignore_term": None}, INIT, {"hang": None}]},
    {"when": {"prompt": "Count"}, "steps": [INIT, {"max_turns": {"usage": USAGE}}]},
    {"when": {"prompt": "Nothing"}, "steps": []},
]


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    """By run, mode and agent: the order in which trials end is chance."""
    found = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    return sorted(found, key=lambda one: (one["run"], one["mode"], str(one.get("agent"))))


def differences(bench: Bench, name: str) -> set[str]:
    """Keys in which some line of the replay `rep` differs from that of the session `out`."""
    pairs = zip(lines(bench.folder / "out", name), lines(bench.folder / "rep", name), strict=True)
    return {key for one, other in pairs for key in one if one[key] != other[key]}


def moved(bench: Bench) -> Path:
    """The recording as somebody else gets it: alone, without what it was made from."""
    shutil.move(bench.folder / "out" / "recording", bench.folder / "received")
    shutil.rmtree(bench.repo)
    shutil.rmtree(bench.folder / "mcp_configs", ignore_errors=True)
    (bench.folder / "script.yaml").unlink(missing_ok=True)
    return bench.folder / "received"


def replay(bench: Bench, agent: str = "replay:received", *arguments: str) -> Done:
    return bench.call("compare", "--agent", agent, "--output", "rep", *arguments)


@pytest.mark.long
def test_a_replay_gives_the_records_of_the_original(bench: Bench) -> None:
    own = bench.folder / "mcp_configs" / "mine.json"
    own.parent.mkdir()
    canopy = {"command": "{{ canopy_mcp }}", "args": ["--root", "{{ workspace }}"]}
    canopy["env"] = {"MY_TOKEN": "sk-a-secret-value"}  # type: ignore[assignment]
    own.write_text(
        json.dumps({"mcpServers": {"canopy": canopy}, "swarmBench": {"probes": ["feedback"]}})
    )
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "mine", "canopy-service",
        "--agents", "1", "--runs", "2", "--output", "out", "--record",
    )  # fmt: skip
    assert done.code == 0, done.err
    received = moved(bench)
    text = b"".join(path.read_bytes() for path in received.rglob("*") if path.is_file())
    assert b"sk-a-secret-value" not in text
    assert b"canopy_mcp" not in (received / "recording.json").read_bytes()

    again = replay(bench)

    assert again.code == 0, again.err
    assert differences(bench, "metrics.jsonl") == OTHER_SESSION | {"scores"}
    for record, first in zip(
        lines(bench.folder / "rep", "metrics.jsonl"),
        lines(bench.folder / "out", "metrics.jsonl"),
        strict=True,
    ):
        missing = record["missing_scores"]
        assert set(missing) == {"lines_invented", "symbols_misplaced", "invented_share"}, (
            "what needs the content of files, which no recording has"
        )
        assert record["scores"] == {**first["scores"], **dict.fromkeys(missing)}
    assert differences(bench, "retrieval.jsonl") == {"session", "sha256"}
    (replayed,) = {record["replayed"] for record in lines(bench.folder / "rep", "metrics.jsonl")}
    assert replayed == bench.experiment("out")["session"] == bench.experiment("rep")["replayed"]
    assert replayed in again.out
    tables = [text.partition("## Against")[2] for text in (done.out, again.out)]
    assert tables[0] == tables[1]
    for file in ("run-1/mine/local-feedback-metrics.json", "run-2/mine/agent-1.stream.jsonl"):
        ours, theirs = ((bench.folder / name / file).read_bytes() for name in ("out", "rep"))
        assert ours == theirs


def test_failures_are_replayed_as_they_were(bench: Bench) -> None:
    words = ("Answer", "Fail", "Crash", "Hang", "Count", "Nothing")
    tasks = [{"id": word, "title": word, "prompt": word} for word in words]
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(PLAYS))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", SCRIPTED,
        "--model", "script.yaml", "--tasks", "tasks.yaml", "--agents", "6", "--runs", "1",
        "--timeout", "5", "--max-turns", "7", "--output", "out", "--record",
        "--agent-env", "MY_KEY=sk-another-secret",
    )  # fmt: skip
    assert done.code == 0, done.err
    received = moved(bench)
    kept = b"".join(path.read_bytes() for path in received.rglob("*") if path.is_file())
    assert b"MY_KEY=(not stored)" in kept
    assert b"sk-another-secret" not in kept

    refused = replay(bench)
    assert refused.code == 2
    assert f"@{SCRIPTED}" in refused.err
    again = replay(bench, f"replay:received@{SCRIPTED}")

    assert again.code == 0, again.err
    assert differences(bench, "metrics.jsonl") == OTHER_SESSION
    causes = [one["cause"] for one in lines(bench.folder / "rep", "metrics.jsonl")]
    assert causes == ["finished", "exit-code", "exit-code", "timeout", "max-turns", "no-output"]
    assert processes_of(bench.experiment("rep")["session"]) == []


def test_an_interrupted_session_leaves_what_it_had_and_is_continued(
    bench: Bench, golden: Sentences
) -> None:
    hang, good = ([INIT, {"hang": None}], [INIT, GOOD])
    tasks = [{"id": word, "title": word, "prompt": word} for word in ("Answer", "Hang")]
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    plays = [{"when": {"prompt": "Answer"}, "steps": good}, {"steps": hang}]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(plays))
    process = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", SCRIPTED,
        "--model", "script.yaml", "--tasks", "tasks.yaml", "--agents", "2", "--runs", "2",
        "--output", "out", "--record",
    )  # fmt: skip
    stream = bench.folder / "out" / "run-1" / "baseline" / "agent-2.stream.jsonl"
    end = time.monotonic() + 30
    while not (bench.records("out") and stream.exists() and stream.stat().st_size):
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    partial = bench.call("compare", "--agent", f"replay:out@{SCRIPTED}", "--output", "partial")
    assert partial.code == 3
    records = lines(bench.folder / "partial", "metrics.jsonl")
    assert [one["cause"] for one in records] == [
        "finished", "interrupted", "not-started", "not-started",
    ]  # fmt: skip
    golden(records[2]["detail"].replace(bench.experiment("out")["session"], "01234567"))

    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": good}]))
    done = bench.call("compare", "--continue", "out")
    assert done.code == 0, done.err
    moved(bench)
    again = replay(bench, f"replay:received@{SCRIPTED}")
    assert again.code == 0, again.err
    assert differences(bench, "metrics.jsonl") == OTHER_SESSION
    assert differences(bench, "retrieval.jsonl") == {"session", "sha256"}
    attempts = [one["attempt"] for one in lines(bench.folder / "rep", "metrics.jsonl")]
    assert attempts == [1, 2, 1, 1]


def test_part_of_a_recording_can_be_chosen_and_nothing_else(
    bench: Bench, golden: Sentences
) -> None:
    arguments = ("--repo", str(bench.repo), "--modes", "baseline", "canopy", "--agents", "1")
    done = bench.call("compare", *arguments, "--runs", "2", "--output", "out", "--record")
    assert done.code == 0, done.err
    moved(bench)
    for given, said in [
        (("--modes", "baseline", "canopy-service"), "the recording has baseline, canopy"),
        (("--runs", "3"), "the recording has 2"),
        (("--agents", "2"), "--agents cannot be given with a replay"),
        (("--record",), "A replay cannot be recorded"),
    ]:
        refused = replay(bench, "replay:received", *given)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert said in refused.err
    assert not (bench.folder / "rep").exists()
    other = bench.call("ab", "--agent", "replay:received")
    assert other.code == 2
    golden(other.err)
    shown = replay(bench, "replay:received", "--plan")
    assert shown.code == 0, shown.err

    again = replay(bench, "replay:received", "--modes", "canopy", "--runs", "1")

    assert again.code == 0, again.err
    (record,) = bench.records("rep")
    assert (record["mode"], record["run"]) == ("canopy", 1)
    mixed = bench.call("compare", "--continue", "rep", "--agent", "scout")
    assert mixed.code == 2
    golden(mixed.err)


OWN = """
from dataclasses import replace
from swarm_bench.agents.scripted import Scripted

class Mine(Scripted):
    \"""Keeps no budget, and leaves its answer in a file.\"""

    def launch(self, request):
        launch = super().launch(request)
        argv = ("sh", "-c", 'echo "the key is $MY_KEY" > "$0/answer.md"; exec "$@"')
        return replace(
            launch, argv=(*argv, str(request.home), *launch.argv), turn_limit=2,
            leaves=("answer.md", "not/there"),
        )

    def activity(self, line):
        activity = super().activity(line)
        return activity and replace(activity, turns=1)

    def outcome(self, exit):
        answer = (exit.home / "answer.md").read_text()
        for secret in exit.secrets:
            answer = answer.replace(secret, "(not stored)")
        return replace(super().outcome(exit), text=answer, detail=exit.stopped, turns=len(answer))
"""


def test_what_an_agent_left_in_its_home_and_a_kept_budget_are_replayed(bench: Bench) -> None:
    (bench.folder / "mine.py").write_text(OWN)
    call = {"call": {"tool": "Read", "usage": USAGE}}
    steps = [INIT, call, call, call, {"hang": None}]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": steps}]))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", "mine:Mine",
        "--model", "script.yaml", "--agents", "1", "--runs", "1", "--output", "out", "--record",
        "--agent-env", "MY_KEY=sk-another-secret",
    )  # fmt: skip
    assert done.code == 3, done.err  # its answer was cut short
    received = moved(bench)
    (left,) = received.glob("streams/*.left-1")
    assert left.read_text() == "the key is (not stored)\n"

    again = replay(bench, "replay:received@mine:Mine")

    assert again.code == 3, again.err
    assert differences(bench, "metrics.jsonl") == OTHER_SESSION
    (record,) = bench.records("rep")
    assert (record["turns_counted"], record["detail"], record["num_turns"]) == (
        True, "turn-limit", 24,
    )  # fmt: skip


def test_real_streams_go_through_everything_without_their_program(
    bench: Bench, golden: Sentences
) -> None:
    names = {
        "baseline": ("parallel_tools_stream.jsonl", "v329_error529_3_retries_stream.jsonl"),
        "canopy": ("mcp_success_stream.jsonl", "sigkill_stream.jsonl"),
    }
    samples = {
        mode: [Sample(stdout=(CLAUDE / name).read_bytes()) for name in files]
        for mode, files in names.items()
    }
    samples["canopy"][1] = replace(samples["canopy"][1], returncode=-9)
    sides = {
        "baseline": Side(samples=samples["baseline"]),
        "canopy": Side(samples=samples["canopy"], servers=("canopy",)),
    }
    make_recording(bench.folder / "received", "claude", sides)

    (bench.folder / ".env").write_text("SWARM_BENCH_SERVICE_URL=http://127.0.0.1:9\n")
    done = replay(bench, "replay:received", "--trust")

    assert done.code == 3  # a provider's failure asks for another run
    assert done.err.rstrip().endswith(f"compare --continue {bench.folder / 'rep'}")
    found = [
        (one["mode"], one["cause"], one["retrieval"], one["output_tokens"] is not None)
        for one in lines(bench.folder / "rep", "metrics.jsonl")
    ]
    assert found == [
        ("baseline", "finished", "not-given", True),
        ("baseline", "provider-failed", "not-given", False),
        ("canopy", "finished", "used", True),
        ("canopy", "exit-code", "unused", False),
    ]
    golden(parts(done.out, "Warnings"))


NAMES: list[list[str]] = [["a.md", "a.md/b"], ["n" * 300], ["mcp.json/x"], ["n" * 253], ["a/b.md"]]


def test_files_that_cannot_be_put_back_end_their_trial_only(
    bench: Bench, golden: Sentences
) -> None:
    answer = {"type": "result", "subtype": "success", "is_error": False, "result": "See a.py."}
    sample = Sample(stdout=json.dumps(answer).encode() + b"\n")
    sides = {"baseline": Side(samples=[sample] * len(NAMES))}
    received = make_recording(bench.folder / "received", "scout", sides)
    made = [json.loads(line) for line in (received / "trials.jsonl").read_text().splitlines()]
    for line, names in zip(made, NAMES, strict=True):
        line["left"] = dict.fromkeys(names, 1)
        for number, _ in enumerate(names, start=1):
            (received / "streams" / f"{line['trial']}.left-{number}").write_bytes(b"x")
    (received / "trials.jsonl").write_text("\n".join(map(json.dumps, made)))

    done = replay(bench)

    assert done.code == 3, done.err
    golden(done.err)
    records = lines(bench.folder / "rep", "metrics.jsonl")
    assert [one["cause"] for one in records] == ["not-started"] * 4 + ["finished"]
    for record in records[:4]:
        assert record["detail"].startswith("what the recorded agent left could not be put back")
