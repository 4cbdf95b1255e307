"""The main job, from the command to the summary."""

import hashlib
import json
import os
import pty
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench, processes_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

MODES = ("baseline", "canopy", "canopy-service")


def fingerprint(root: Path) -> str:
    """A hash of every name, mode, time and byte below `root`."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        about = path.lstat()
        digest.update(f"{path.relative_to(root)} {about.st_mode} {about.st_mtime_ns}".encode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def test_three_modes_on_a_real_repository(bench: Bench) -> None:
    (bench.repo / ".canopy").mkdir()
    (bench.repo / ".canopy" / "feedback.db").write_text("the user's own")
    before = fingerprint(bench.repo)
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", *MODES,
        "--agents", "2", "--runs", "2", "--seed", "1", "--output", "out",
    )  # fmt: skip
    assert (done.code, fingerprint(bench.repo)) == (0, before), done.err
    assert done.out == (bench.folder / "out" / "summary.md").read_text()
    records = bench.records("out")
    assert {(r["run"], r["mode"], r["agent"]) for r in records} == {
        (run, mode, agent) for run in (1, 2) for mode in MODES for agent in (1, 2)
    }
    assert {r["retrieval"] for r in records if r["mode"] == "baseline"} == {"not-given"}
    assert {r["retrieval"] for r in records if r["mode"] != "baseline"} == {"used"}
    assert all(r["status"] == "completed" and r["result_lines"] > 1 for r in records)
    for run in ("run-1", "run-2"):
        check_artefacts(bench.folder / "out" / run)
    assert list((bench.folder / "tmp").iterdir()) == []
    assert processes_of(bench.experiment("out")["session"]) == []
    assert "run 1 of 2, order: " in done.err


def check_artefacts(run: Path) -> None:
    for mode in MODES:
        for agent in (1, 2):
            payload = json.loads((run / mode / f"agent-{agent}.json").read_text())
            assert payload["type"] == "result"
            assert (run / mode / f"agent-{agent}.stream.jsonl").stat().st_size > 0
            assert (run / mode / f"agent-{agent}.stderr.log").exists()
            assert payload["result"] in (run / mode / f"agent-{agent}.md").read_text()
    assert not (run / "baseline" / "local-feedback-metrics.json").exists()
    for mode in ("canopy", "canopy-service"):
        local = json.loads((run / mode / "local-feedback-metrics.json").read_text())
        assert local["query_events"] > 0
        assert local["expand_events"] > 0
    service = json.loads((run / "canopy-service" / "service-metrics.json").read_text())
    assert service["performance"]["queries"] > 0
    assert service["performance"]["expands"] > 0
    assert (run / "canopy-service" / "service.log").exists()


def test_prompts_differ_by_the_instructions_of_the_mode_only(bench: Bench) -> None:
    keep = ["sh", "-c", "tr '\\0' '\\n' < /proc/$PPID/cmdline > said.txt; pwd >> said.txt"]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": [{"run": keep}]}]))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline,canopy", "--agents", "1",
        "--runs", "1", "--output", "out", "--keep-workspaces", "--model", "script.yaml",
        "--agent", "swarm_bench.agents.scripted:Scripted",
    )  # fmt: skip
    assert done.code == 3, done.err  # none of them answers
    said = {
        path.parent.name.split("-")[2]: path.read_text()
        for path in (bench.folder / "tmp").glob("swarm-bench-*/kept/*/said.txt")
    }
    modes = {mode["name"]: mode["instructions"] for mode in bench.experiment("out")["modes"]}
    prompt = said["baseline"].partition("\n--\n")[2]
    assert "authenticate" in prompt
    assert said["canopy"].partition("\n--\n")[2] == f"{modes['canopy']}\n\n{prompt}"


def test_a_plain_folder_can_be_worked_in_and_continued(bench: Bench) -> None:
    shutil.rmtree(bench.repo / ".git")
    here = Bench(folder=bench.repo, repo=bench.repo)
    arguments = ("compare", "--modes", "baseline", "--agents", "1")
    first = here.call(*arguments, "--runs", "1")
    assert first.code == 0, first.err
    grown = here.call("compare", "--continue", "--runs", "2")
    assert grown.code == 0, grown.err
    other = here.call(*arguments, "--runs", "1", "--output", "another place")
    assert other.code == 0, other.err
    (session,) = (p.name for p in (here.folder / "results").iterdir() if p.is_dir())
    files = {
        here.experiment(place)["repository"]["files"]
        for place in (f"results/{session}", "another place")
    }
    assert len(files) == 1


def test_one_agent_at_a_time(bench: Bench) -> None:
    tasks = [
        {"id": word, "title": word, "prompt": f"Find the {word}."} for word in ("token", "job")
    ]
    (bench.folder / "two.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    done = bench.call(
        "ab", "--repo", str(bench.repo), "--modes", "baseline", "canopy-service",
        "--tasks", "two.yaml", "--runs", "1", "--output", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert len(bench.records("out")) == 4
    swarms = [
        json.loads(line)
        for line in (bench.folder / "out" / "retrieval.jsonl").read_text().splitlines()
    ]
    assert [len(swarm["agents"]) for swarm in swarms] == [1] * 4
    service = [swarm for swarm in swarms if swarm["mode"] == "canopy-service"]
    assert all(swarm["difference"]["service"]["queries"] > 0 for swarm in service)
    assert all(swarm["before"]["service"]["performance"]["queries"] == 0 for swarm in service)


def test_a_plan_starts_nothing(bench: Bench, golden: Sentences) -> None:
    words = ("--repo", str(bench.repo), "--plan", "--runs", "2", "--concurrency", "2")
    done = bench.call("compare", *words)  # without, by the number of processors
    assert done.code == 0, done.err
    assert "30 to run, 0 done" in done.out
    (agents,) = (line for line in done.out.splitlines() if line.startswith("Agents:"))
    golden(agents)
    assert "Cost:" not in done.out
    assert "canopy-service" in done.out
    assert [path.name for path in bench.folder.iterdir()] == ["tmp"]
    paid = with_claude(bench)
    words = ("--repo", str(bench.repo), "--plan", "--agents", "900", "--agent", "claude")
    large = bench.call("compare", *words, env=paid)
    assert "8100 to run, 0 done" in large.out, large.err
    assert large.out.startswith("Cost:       8100 paid trials of claude\n")
    assert large.out.endswith("and 8040 more in the same way\n")


def with_claude(bench: Bench) -> dict[str, str]:
    """Install a program that says it is Claude Code and does nothing."""
    claude = bench.folder / "claude"
    claude.write_text("#!/bin/sh\necho 2.1.329\n")
    claude.chmod(0o755)
    return {"PATH": f"{bench.folder}:{os.environ['PATH']}", "ANTHROPIC_API_KEY": "none of any use"}


def test_a_start_that_costs_says_what_it_can_show(bench: Bench, golden: Sentences) -> None:
    words = ("--repo", str(bench.repo), "--agents", "5", "--runs", "2", "--agent", "claude")
    done = bench.call("compare", "--modes", "baseline", "canopy", *words, env=with_claude(bench))
    (line,) = (line for line in done.err.splitlines() if "--plan says more" in line)
    golden(line.partition("] ")[2])


def outcomes(records: list[dict[str, Any]]) -> dict[str, tuple[object, ...]]:
    """What of each trial does not depend on the moment."""
    assert len({record["trial"] for record in records}) == len(records)
    about = ("mode", "run", "agent", "task_id", "status", "retrieval", "num_turns")
    figures = ("total_tokens", "effective_tokens", "references")
    return {
        record["trial"]: tuple(
            record[key]
            # A service ranks down what any agent has expanded, so it matters who came first.
            for key in (about if record["mode"] == "canopy-service" else (*about, *figures))
        )
        for record in records
    }


def completed(bench: Bench) -> list[dict[str, Any]]:
    return [record for record in bench.records("out") if record["status"] == "completed"]


def wait_for_completed(bench: Bench, number: int) -> None:
    for _ in range(1200):
        if len(completed(bench)) >= number:
            return
        time.sleep(0.05)
    raise AssertionError(f"there were never {number} completed trials")


ARGUMENTS = ("--modes", "baseline", "canopy-service", "--agents", "1", "--runs", "2")


@pytest.mark.long
def test_a_session_that_was_interrupted_and_then_killed_can_be_continued(bench: Bench) -> None:
    whole = bench.call("compare", "--repo", str(bench.repo), *ARGUMENTS, "--output", "undisturbed")
    assert whole.code == 0, whole.err
    running = bench.start("compare", "--repo", str(bench.repo), *ARGUMENTS, "--output", "out")
    wait_for_completed(bench, 1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert b"stopping what runs" in err
    assert b"compare --continue" in err
    assert b"Traceback" not in err
    assert out.startswith(b"# Swarm Benchmark Summary")
    check_nothing_is_left(bench)

    killed = bench.start("compare", "--continue", "out")
    wait_for_completed(bench, 2)
    killed.kill()
    killed.communicate()
    kept = completed(bench)
    assert 2 <= len(kept) < 4
    done = bench.call("compare", "--continue", "out")
    assert done.code == 0, done.err
    assert outcomes(bench.records("out")) == outcomes(bench.records("undisturbed"))
    assert all(record in completed(bench) for record in kept)
    assert len(completed(bench)) == 4
    check_nothing_is_left(bench)


def check_nothing_is_left(bench: Bench) -> None:
    assert processes_of(bench.experiment("out")["session"]) == []
    assert list((bench.folder / "tmp").iterdir()) == []


def test_a_session_grows(bench: Bench) -> None:
    first = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agents", "1",
        "--runs", "1", "--output", "out",
    )  # fmt: skip
    assert first.code == 0, first.err
    record = bench.records("out")[0]
    done = bench.call("compare", "--continue", "out", "--runs", "2", "--modes", "canopy")
    assert done.code == 0, done.err
    records = bench.records("out")
    assert records[0] == record
    assert {(r["run"], r["mode"]) for r in records} == {
        (run, mode) for run in (1, 2) for mode in ("baseline", "canopy")
    }
    assert (bench.folder / "out" / "run-1" / "baseline" / "agent-1.json").exists()
    assert not (bench.folder / "out" / "baseline").exists()


def test_tasks_can_be_added_where_every_task_has_a_trial(bench: Bench, golden: Sentences) -> None:
    tasks = [{"id": f"t{n}", "title": f"T{n}", "prompt": f"Where is {n}?"} for n in range(3)]
    for name, some in (("two", tasks[:2]), ("three", tasks)):
        (bench.folder / f"{name}.yaml").write_text(yaml.safe_dump({"tasks": some}))
    arguments = ("--modes", "baseline", "--runs", "1")
    first = bench.call(
        "compare", "--repo", str(bench.repo), *arguments, "--tasks", "two.yaml", "--output", "out"
    )
    assert first.code == 0, first.err
    shared = bench.call("compare", "--continue", "out", "--agents", "4")
    assert shared.code == 2, shared.err
    golden(shared.err)
    done = bench.call("compare", "--continue", "out", "--tasks", "three.yaml")
    assert done.code == 0, done.err
    assert sorted(record["task_id"] for record in bench.records("out")) == ["t0", "t1", "t2"]


def test_three_in_the_same_second_have_a_folder_each(bench: Bench) -> None:
    arguments = ("--modes", "baseline", "--runs", "1", "--agents", "1")
    running = [bench.start("compare", "--repo", str(bench.repo), *arguments) for _ in range(3)]
    ends = [one.communicate(timeout=90) for one in running]
    assert [one.returncode for one in running] == [0, 0, 0], ends
    sessions = [path for path in (bench.folder / "results").iterdir() if path.is_dir()]
    assert len(sessions) == 3


def test_the_newest_session_is_continued_without_a_name(bench: Bench) -> None:
    arguments = ("--modes", "baseline", "--agents", "1")
    first = bench.call("compare", "--repo", str(bench.repo), *arguments, "--runs", "1")
    assert first.code == 0, first.err
    done = bench.call("compare", "--runs", "2", "--continue")
    assert done.code == 0, done.err
    (session,) = [p for p in (bench.folder / "results").iterdir() if p.is_dir()]
    assert len(bench.records(f"results/{session.name}")) == 2
    assert (bench.folder / "results" / ".gitignore").read_text() == "*\n"


def test_nobody_has_to_read_the_progress(bench: Bench) -> None:
    words = "--modes baseline --agents 1 --runs 1 --output out"
    script = f'"{COMMAND}" compare --repo "$REPO" {words} 2>&1 >/dev/null'
    done = subprocess.run(
        ["bash", "-c", f"{script} | head -1"],
        cwd=bench.folder,
        env=bench.environment({"REPO": str(bench.repo)}),
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(bench.records("out")) == 1


def test_nobody_has_to_read_the_summary(bench: Bench) -> None:
    script = (
        f'"{COMMAND}" compare --repo "$REPO" --agents 1 --runs 1 --modes canopy-service '
        "--require-retrieval --quiet --agent swarm_bench.agents.scripted:Scripted "
        "--model script.yaml | true; echo ${PIPESTATUS[0]}"
    )
    steps = [{"sleep": 1}, {"answer": {"text": "a.py:1", "turns": 1}}]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": steps}]))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=bench.folder,
        env=bench.environment({"REPO": str(bench.repo)}),
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert done.stdout == b"4\n", done.stderr


def test_settings_say_where_they_came_from(bench: Bench) -> None:
    (bench.folder / "swarm-bench.toml").write_text('modes = ["baseline"]\n')
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--agents", "1", "--output", "out", "--quiet",
        env={"SWARM_BENCH_RUNS": "1"},
    )  # fmt: skip
    assert (done.code, done.err.splitlines()) == (0, [f"Results: {bench.folder / 'out'}"])
    settings = bench.experiment("out")["settings"]
    assert settings["modes"] == {"value": ["baseline"], "source": "file"}
    assert settings["runs"] == {"value": 1, "source": "environment"}
    assert settings["agents"] == {"value": [1], "source": "command line"}
    assert settings["max_turns"] == {"value": 15, "source": "default"}


def test_a_terminal_shows_a_live_view(bench: Bench) -> None:
    master, slave = pty.openpty()
    arguments = ["compare", "--repo", str(bench.repo), "--modes", "baseline", "canopy-service"]
    running = subprocess.Popen(
        [COMMAND, *arguments, "--agents", "1", "--runs", "1", "--output", "out"],
        cwd=bench.folder,
        env={**bench.environment(), "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    seen = b""
    try:
        while chunk := os.read(master, 65536):
            seen += chunk
    except OSError:  # the other end is closed
        pass
    assert running.wait(60) == 0
    for words in (b"running", b"canopy-service", b"Authentication flow"):
        assert words in seen
