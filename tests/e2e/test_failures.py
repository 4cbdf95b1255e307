"""What goes wrong gets a line with its status and cause, and never an invented figure."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.runtime.ownership import TAG
from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench, Done, processes_of
from tests.e2e.test_compare import fingerprint

pytestmark = pytest.mark.timeout(90)

AGENT = "swarm_bench.agents.scripted:Scripted"
GOOD = {
    "answer": {
        "text": "# A\n\nSee shop/auth.py, shop/models.py and shop/jobs.py.\n",
        "turns": 2,
        "cost": 0.5,
        "usage": {"input": 10, "cache_read": 20, "cache_create": 30, "output": 40},
    }
}
INIT: dict[str, Any] = {"init": {"tools": ["Read"]}}
FIGURES = ("num_turns", "input_tokens", "output_tokens", "total_tokens", "effective_tokens",
           "cost", "result_lines", "compacted", "references", "grounded")  # fmt: skip


def play(
    bench: Bench, plays: object, *arguments: str, modes: str = "baseline", agents: str = "1"
) -> Done:
    """Run agents that play the steps."""
    script = bench.folder / "script.yaml"
    script.write_text(yaml.safe_dump(plays), encoding="utf-8")
    return bench.call(
        "compare", "--repo", str(bench.repo), "--modes", modes, "--agent", AGENT,
        "--model", str(script), "--agents", agents, "--runs", "1", "--output", "out", *arguments,
    )  # fmt: skip


FAILING: dict[str, tuple[list[object], str]] = {
    "silent": ([], "no-output"),
    "failing at once": ([{"exit": 3}], "no-output"),
    "failing later": ([INIT, {"exit": 3}], "exit-code"),
    "chatty": ([{"print": "Segmentation fault"}], "unreadable-output"),
    "garbled": ([{"print_hex": "fffe00ff0a"}], "unreadable-output"),
    "too long": ([INIT, {"error": {"text": "Prompt is too long"}}], "context-overflow"),
    "hanging": ([{"ignore_term": None}, INIT, {"hang": None}], "timeout"),
}
"""What each agent does, and the cause that its record has."""


def test_agents_that_fail_are_named_and_are_no_result(bench: Bench) -> None:
    tasks = [{"id": name.split()[-1], "title": name, "prompt": name} for name in FAILING]
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    plays = [{"when": {"prompt": name}, "steps": one} for name, (one, _) in FAILING.items()]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(plays))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", AGENT,
        "--model", "script.yaml", "--tasks", "tasks.yaml", "--agents", str(len(FAILING)),
        "--runs", "1", "--timeout", "6", "--output", "out",
    )  # fmt: skip
    assert done.code == 3
    said = "No trial gave an answer: "
    assert said in done.err
    causes = {record["task"]: record["cause"] for record in bench.records("out")}
    assert causes == {name: cause for name, (_, cause) in FAILING.items()}
    warnings = done.out.partition("## Warnings")[2].partition("\n## ")[0]
    for record in bench.records("out"):
        cause = Cause(record["cause"])
        assert record["status"] == CONSEQUENCES[cause].status
        assert [record[name] for name in FIGURES] == [None] * len(FIGURES)
        assert f"of 7 trials {CONSEQUENCES[cause].of(1)}" in warnings
        assert CONSEQUENCES[cause].of(1) in done.err.partition(said)[2]
        assert (bench.folder / "out" / "baseline" / f"agent-{record['agent']}.md").exists()
    assert processes_of(bench.experiment("out")["session"]) == []


def test_a_session_stops_at_the_first_agent_that_fails_to_authenticate(
    bench: Bench, golden: Sentences
) -> None:
    refused = [INIT, {"error": {"text": "Invalid API key · Please run /login"}}]
    several = ("--runs", "2", "--concurrency", "1")
    done = play(bench, [{"steps": refused}], *several, agents="2")
    assert done.code == 3
    golden(done.err)
    assert [record["cause"] for record in bench.records("out")] == ["not-authorized"]
    assert done.out.strip() == (bench.folder / "out" / "summary.md").read_text().strip()
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": [INIT, GOOD]}]))
    again = bench.call("compare", "--continue", "out")
    assert again.code == 0, again.err
    assert [record["cause"] for record in bench.records("out")] == ["finished"] * 4


def test_a_turn_limit_keeps_the_figures(bench: Bench, golden: Sentences) -> None:
    usage = GOOD["answer"]["usage"]
    done = play(bench, [{"steps": [INIT, {"max_turns": {"usage": usage}}]}], "--max-turns", "7")
    assert done.code == 3
    golden(done.err)
    (record,) = bench.records("out")
    assert (record["status"], record["cause"]) == ("budget-reached", "max-turns")
    assert (record["num_turns"], record["compacted"], record["total_tokens"]) == (7, 1, 80)
    assert record["result_lines"] is None


def test_what_an_agent_leaves_behind_is_ended(bench: Bench) -> None:
    done = play(bench, [{"steps": [{"spawn": 60}, INIT, GOOD]}])
    assert done.code == 0, done.err
    (record,) = bench.records("out")
    assert (record["cause"], record["effective_tokens"], record["references"]) == (
        "finished",
        100,
        3,
    )
    assert processes_of(bench.experiment("out")["session"]) == []


def test_a_hostile_agent_does_not_reach_the_original(bench: Bench) -> None:
    evil = (
        "git config core.fsmonitor 'touch pwned'; git branch -f main HEAD~0; git push origin --all;"
        "git stash drop; echo evil > README.md; rm -rf shop; echo 'touch pwned' > .git/hooks/x"
    )
    before = fingerprint(bench.repo)
    done = play(bench, [{"steps": [{"run": ["sh", "-c", evil]}, INIT, GOOD]}], modes="baseline")
    assert done.code == 0, done.err
    assert fingerprint(bench.repo) == before


def test_an_agent_sees_no_key_and_no_variable_of_canopy(bench: Bench) -> None:
    (bench.folder / "script.yaml").write_text(
        yaml.safe_dump([{"steps": [INIT, {"environment": None}]}])
    )
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "canopy", "--agent", AGENT,
        "--model", "script.yaml", "--agents", "1", "--runs", "1", "--output", "out",
        env={"ANTHROPIC_API_KEY": "sk-secret", "CANOPY_SERVICE_URL": "http://x", "LC_TIME": "C"},
    )  # fmt: skip
    assert done.code == 0, done.err
    answer = json.loads((bench.folder / "out" / "canopy" / "agent-1.json").read_text())["result"]
    variables = dict(line.split("=", 1) for line in answer.splitlines())
    names = set(variables)
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):  # an agent's own, and gone with it
        assert variables[name] not in {bench.environment().get(name), None}
        assert not Path(variables[name]).exists()
    assert {"PATH", "HOME", "LC_TIME", "SWARM_BENCH_TRIAL"} <= names
    assert not [name for name in names if "CANOPY" in name or "KEY" in name]
    everything = [p.read_text() for p in (bench.folder / "out").rglob("*") if p.is_file()]
    assert not any("sk-secret" in text for text in everything)


def test_a_contaminated_baseline_is_called_so(bench: Bench, golden: Sentences) -> None:
    leak = [{"init": {"tools": ["mcp__canopy__canopy_query"], "servers": {"canopy": "connected"}}}]
    (bench.folder / "plain.json").write_text('{"mcpServers": {}}')
    modes = "baseline,./plain.json"
    done = play(bench, [{"steps": [*leak, GOOD]}], "--require-verdict", modes=modes)
    assert done.code == 4
    golden(done.err)
    assert bench.records("out")[0]["retrieval"] == "contaminated"
    assert "contaminated" in done.out.partition("## Warnings")[2].partition("##")[0]


def test_a_tool_that_nobody_used_fails_the_gate(bench: Bench, golden: Sentences) -> None:
    steps = [{"steps": [INIT, GOOD]}]
    done = play(bench, steps, "--require-retrieval", modes="baseline,canopy-service")
    assert done.code == 4, done.err
    golden(done.err)
    assert {r["retrieval"] for r in bench.records("out")} == {"not-given", "unused"}
    warnings = done.out.partition("## Warnings")[2].partition("\n## ")[0]
    golden(warnings)


def test_a_service_that_dies_stops_its_agents_and_nothing_else(bench: Bench) -> None:
    script = bench.folder / "script.yaml"
    waits = [
        {"when": {"servers": ["canopy"]}, "steps": [INIT, {"hang": None}]},
        {"steps": [INIT, GOOD]},
    ]
    script.write_text(yaml.safe_dump(waits))
    running = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "canopy-service", "baseline",
        "--agent", AGENT, "--model", str(script), "--agents", "1", "--runs", "1",
        "--output", "out",
    )  # fmt: skip
    wait_for_agent(bench.folder / "out" / "canopy-service" / "agent-1.stream.jsonl")
    (service,) = (
        process
        for process in processes_of(bench.experiment("out")["session"])
        if "service" in process.environ()["SWARM_BENCH_TRIAL"]
    )
    service.kill()
    _, err = running.communicate(timeout=60)
    assert running.returncode == 3, err
    assert b"canopy-service ended with exit code -9 while the agents ran" in err
    by_mode = {record["mode"]: record["cause"] for record in bench.records("out")}
    assert by_mode == {"canopy-service": "service-failed", "baseline": "finished"}
    assert "service" in (bench.folder / "out" / "summary.md").read_text()

    script.write_text(yaml.safe_dump([{"steps": [INIT, GOOD]}]))
    done = bench.call("compare", "--continue", "out")
    assert done.code == 0, done.err
    again = {
        record["mode"]: (record["cause"], record["attempt"]) for record in bench.records("out")
    }
    assert again == {"canopy-service": ("finished", 2), "baseline": ("finished", 1)}
    superseded = (bench.folder / "out" / "superseded.jsonl").read_text().splitlines()
    assert [json.loads(line)["cause"] for line in superseded] == ["service-failed"]


def wait_for_agent(stream: Path) -> None:
    for _ in range(600):
        if stream.exists() and stream.stat().st_size:
            return
        time.sleep(0.05)
    raise AssertionError(f"{stream} stayed empty")


def test_an_index_that_fails_is_no_baseline_under_another_name(
    bench: Bench, golden: Sentences
) -> None:
    program = bench.folder / "broken-service"
    works = str(COMMAND.with_name("swarm-bench-canopy-service"))
    program.write_text(  # it answers when it is asked before the session, and not in it
        f"#!{sys.executable}\nimport os, sys\n"
        f"if os.environ[{TAG!r}].startswith('greeting'):\n"
        f"    os.execv({works!r}, [{works!r}, *sys.argv[1:]])\n"
        "sys.exit('cannot open the disk with sesame-of-mine')\n"
    )
    program.chmod(0o755)
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": [INIT, GOOD]}]))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "canopy-service", "--agent", AGENT,
        "--model", "script.yaml", "--agents", "2", "--runs", "1", "--output", "out",
        env={"SWARM_BENCH_CANOPY_SERVICE": str(program), "DISK_TOKEN": "sesame-of-mine"},
    )  # fmt: skip
    assert done.code == 3
    golden(done.err)
    records = bench.records("out")
    assert [record["cause"] for record in records] == ["service-failed"] * 2
    assert all("open the disk with (not stored)" in record["detail"] for record in records)
    written = [path.read_text() for path in (bench.folder / "out").rglob("*") if path.is_file()]
    assert not [text for text in (done.out, done.err, *written) if "sesame" in text]
    for name in ("effective_tokens", "wall_seconds", "started_at"):
        assert [record[name] for record in records] == [None, None]  # none of them ever ran


def test_a_running_service_that_dies_is_noticed_too(bench: Bench) -> None:
    port = free_port()
    program = str(COMMAND.with_name("swarm-bench-canopy-service"))
    service = subprocess.Popen([program, "--port", str(port)], stderr=subprocess.DEVNULL)
    script = bench.folder / "script.yaml"
    script.write_text(yaml.safe_dump([{"steps": [INIT, {"sleep": 3}, GOOD]}]))
    wait_for_port(port)
    running = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "canopy-service", "--agent", AGENT,
        "--model", str(script), "--agents", "1", "--runs", "1", "--output", "out",
        "--service-url", f"http://127.0.0.1:{port}",
    )  # fmt: skip
    try:
        wait_for_agent(bench.folder / "out" / "canopy-service" / "agent-1.stream.jsonl")
    finally:
        service.kill()
        service.wait()
    _, err = running.communicate(timeout=60)
    assert running.returncode == 3, err
    (record,) = bench.records("out")
    assert record["cause"] == "service-failed"
    assert "nobody listens at" in record["detail"]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for_port(port: int) -> None:
    for _ in range(200):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens on {port}")


def test_an_adapter_that_fails_does_not_end_the_session(bench: Bench) -> None:
    (bench.folder / "mine.py").write_text(
        "from swarm_bench.agents.scripted import Scripted\n"
        "class Mine(Scripted):\n"
        "    def outcome(self, exit):\n"
        "        raise RuntimeError('a defect of mine')\n"
    )
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": [INIT, GOOD]}]))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", "mine:Mine",
        "--model", "script.yaml", "--agents", "2", "--runs", "1", "--output", "out",
    )  # fmt: skip
    assert done.code == 3
    assert "Traceback" not in done.err
    assert {r["cause"] for r in bench.records("out")} == {"adapter-failed"}
    assert {r["detail"] for r in bench.records("out")} == {
        "mine.py, line 4: RuntimeError: a defect of mine"
    }


def test_an_answer_is_kept_although_the_session_is_stopped_while_it_is_read(bench: Bench) -> None:
    (bench.folder / "mine.py").write_text(
        "import time\n"
        "from swarm_bench.agents.scripted import Scripted\n"
        "class Mine(Scripted):\n"
        "    def outcome(self, exit):\n"
        "        open('reading', 'w').close()\n"
        "        time.sleep(2)\n"
        "        return super().outcome(exit)\n"
    )
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": [INIT, GOOD]}]))
    running = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "canopy-service", "--agent", "mine:Mine",
        "--model", "script.yaml", "--agents", "1", "--runs", "2", "--output", "out",
    )  # fmt: skip
    for _ in range(600):
        if (bench.folder / "reading").exists():
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    (record,) = bench.records("out")
    assert (record["cause"], record["effective_tokens"]) == ("finished", 100)
    assert record["wall_seconds"] < 2


def test_the_clock_of_a_trial_begins_with_its_agent(bench: Bench) -> None:
    script = bench.folder / "script.yaml"
    script.write_text(yaml.safe_dump([{"steps": [INIT, {"sleep": 1}, GOOD]}]))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", AGENT,
        "--model", str(script), "--agents", "3", "--concurrency", "1", "--runs", "1",
        "--output", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    seconds = [record["wall_seconds"] for record in bench.records("out")]
    assert max(seconds) < min(seconds) + 2
    starts = [record["started_at"] for record in bench.records("out")]
    assert len(set(starts)) == 3


def test_an_answer_of_an_earlier_attempt_is_put_aside(bench: Bench) -> None:
    script = bench.folder / "script.yaml"
    script.write_text(yaml.safe_dump([{"steps": [INIT, GOOD, {"hang": None}]}]))
    running = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", AGENT,
        "--model", str(script), "--agents", "1", "--runs", "1", "--output", "out",
    )  # fmt: skip
    wait_for_agent(bench.folder / "out" / "baseline" / "agent-1.stream.jsonl")
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    script.write_text(yaml.safe_dump([{"steps": []}]))
    done = bench.call("compare", "--continue", "out")
    assert done.code == 3, done.err
    assert bench.records("out")[0]["cause"] == "no-output"
    folder = bench.folder / "out" / "baseline"
    assert not (folder / "agent-1.json").exists()
    assert (folder / "attempt-1-agent-1.stream.jsonl").stat().st_size > 0


def test_keys_of_a_mode_file_reach_the_server_and_no_file(bench: Bench) -> None:
    canopy = str(COMMAND.with_name("swarm-bench-canopy-mcp"))
    server = {"command": canopy, "args": ["--root", "."], "env": {"KEY": "sk-secret"}}
    (bench.folder / "keyed.json").write_text(json.dumps({"mcpServers": {"mine": server}}))
    done = play(bench, [{"steps": [INIT, GOOD]}], modes="./keyed.json")
    assert done.code == 0, done.err
    again = bench.call("compare", "--continue", "out", "--runs", "2")
    assert again.code == 0, again.err
    stored = [p.read_text() for p in (bench.folder / "out").rglob("*") if p.is_file()]
    assert not any("sk-secret" in text for text in stored)


def test_workspaces_are_kept_when_asked(bench: Bench) -> None:
    steps = [{"steps": [{"write": {"trace.txt": "I was here"}}, INIT, GOOD]}]
    done = play(bench, steps, "--keep-workspaces")
    assert done.code == 0, done.err
    (kept,) = (bench.folder / "tmp").glob("swarm-bench-*/kept/*/trace.txt")
    assert kept.read_text() == "I was here"
    assert str(kept.parent.parent) in done.err
    again = bench.call("compare", "--continue", "out", "--runs", "2")
    assert again.code == 0, again.err
    assert kept.exists()


def test_memory_and_processor_time_are_sampled(bench: Bench) -> None:
    busy = [sys.executable, "-c", "import time; t = time.time()\nwhile time.time() < t + 1: pass"]
    done = play(bench, [{"steps": [{"run": busy}, INIT, GOOD]}])
    assert done.code == 0, done.err
    (record,) = bench.records("out")
    assert record["cpu_seconds"] > 0.2
    assert record["peak_memory_bytes"] > psutil.Process(os.getpid()).memory_info().rss / 100
    assert record["wall_seconds"] > 1
