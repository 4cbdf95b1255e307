"""Bad input: one sentence with what to do, an exit code of its own, no traceback."""

import os
import random
import socket
import subprocess
from pathlib import Path

import pytest

from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench

pytestmark = pytest.mark.timeout(60)

REPO = "{repo}"
USAGE = [
    (["--modes", "canpy"], "There is no mode called 'canpy'; did you mean 'canopy'?"),
    (["--agent", "skout"], "There is no agent called 'skout'; did you mean 'scout'?"),
    (["--agent", "nowhere:Agent"], "'nowhere:Agent' cannot be loaded as one of the agents"),
    (["--tasks", "explore"], "There is no task suite called 'explore'"),
    (["--tasks", "absent.yaml"], "The task file absent.yaml cannot be read"),
    (["--model", "gpt"], "There is no model of scout called 'gpt'"),
    (["--agents", "0"], "--agents '0': it must be at least 1"),
    (["--primary", "cst", "--plan"], "--primary cst: a verdict is on a metric of which less"),
    (["--timeout", "0"], "--timeout 0: it must be more than 0"),
    (["--concurrency", "9", "--agents", "2"], "--concurrency 9 is more than the 2 agents"),
    (["--repo", "absent"], "does not exist; give the repository with --repo PATH"),
    (["--repo", "file.txt"], "is a file; give the folder of a repository"),
    (["--repo", "empty"], "holds no files"),
    (["--modes", "broken.json"], "The mode file broken.json is not JSON"),
    (["--modes", "unknown.json"], "swarmBench.tool is not a key that is known here"),
    (["--tasks", "wrong.yaml"], "wrong.yaml:2: task 'a': title is missing"),
    (["--tasks", "groups.yaml"], "groups.yaml:2: task 'a': group must not be empty"),
    (["--tasks", "mixed.yaml"], "mixed.yaml: 1 of 2 tasks has no answer key (b)"),
    (["--output", "other"], "is not an empty folder; choose another --output"),
    (["--output", "held"], "holds another session; continue it with --continue"),
    (["--output", ""], "--output '': it must name a folder"),
    (["--model", ""], "--model '': it must name a model"),
    (["--output", "/proc/nowhere"], "cannot be a folder for results"),
    (["--continue", "empty"], "holds no session"),
    (["--continue", "file.txt"], "holds no session"),
    (["--continue", "held", "--output", "x"], "--output cannot be given with --continue"),
    (["--agent", "json:loads"], "cannot be made into an agent"),
    (["--agent", "os:getcwd"], "is no agent: it needs launch"),
    (["--agent", ":"], "cannot be loaded"),
    (["--timeout", "inf"], "must be a finite number"),
    (["--modes", "baseline", "--require-retrieval"], "none of the modes gives a tool"),
    (["--continue"], "There is no session below results"),
    (["--config", "absent.toml"], "The settings file absent.toml does not exist"),
]


@pytest.fixture
def prepared(bench: Bench) -> Bench:
    here = bench.folder
    (here / "file.txt").write_text("x")
    (here / "empty").mkdir()
    (here / "other").mkdir()
    (here / "other" / "notes.txt").write_text("mine")
    (here / "held").mkdir()
    (here / "held" / "experiment.json").write_text("{}")
    (here / "broken.json").write_text("{")
    task = "  - {id: a, title: A, prompt: Where, group: '%s', key: {files: [shop/auth.py]}}\n"
    (here / "groups.yaml").write_text(f"tasks:\n{task % ' '}")
    bare = "  - {id: b, title: B, prompt: What}\n"
    (here / "mixed.yaml").write_text(f"tasks:\n{task % 'g'}{bare}")
    (here / "unknown.json").write_text('{"mcpServers": {}, "swarmBench": {"tool": 1}}')
    (here / "wrong.yaml").write_text("tasks:\n  - id: a\n    prompt: b\n")
    return bench


@pytest.mark.parametrize(("arguments", "sentence"), USAGE, ids=[" ".join(u[0]) for u in USAGE])
def test_wrong_usage(prepared: Bench, arguments: list[str], sentence: str) -> None:
    repo = [] if "--repo" in arguments else ["--repo", str(prepared.repo)]
    before = sorted(path.name for path in prepared.folder.rglob("*"))
    done = prepared.call("compare", *repo, *arguments)
    *progress, said = done.err.splitlines()
    assert sentence in said
    assert done.code == 2
    steps = (
        *("] copying ", "] making tasks from ", "] asking "),
        *(" agents share ", " gives no tasks with answer keys: too few of "),
    )
    assert all(any(step in line for step in steps) for line in progress), done.err
    assert done.out == ""
    after = sorted(path.name for path in prepared.folder.rglob("*"))
    assert [name for name in after if name != "tmp"] == before


def test_an_option_that_does_not_exist(bench: Bench) -> None:
    done = bench.call("compare", "--agnets", "2")
    assert done.code == 2
    assert "--agents" in done.err


def test_a_variable_with_a_wrong_value(bench: Bench, golden: Sentences) -> None:
    done = bench.call("compare", env={"SWARM_BENCH_RUNS": "many"})
    assert done.code == 2
    golden(done.err)


def test_a_program_that_was_named_and_is_not_there(bench: Bench, golden: Sentences) -> None:
    done = bench.call(
        "compare", "--repo", str(bench.repo), env={"SWARM_BENCH_CANOPY_MCP": "./absent"}
    )
    assert done.code == 2
    golden(done.err)


def test_an_agent_without_a_key_is_refused_before_anything_runs(
    bench: Bench, golden: Sentences
) -> None:
    program = bench.folder / "claude"
    program.write_text("#!/bin/sh\necho '2.1.0 (Claude Code)'\n")
    program.chmod(0o755)
    path = f"{bench.folder}:{os.environ['PATH']}"
    words = ("compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", "claude")
    done = bench.call(*words, env={"PATH": path})
    assert done.code == 2
    golden(done.err)
    assert not (bench.folder / "results").exists()


def test_a_service_address_where_nobody_answers_is_refused_before_anything_runs(
    bench: Bench, golden: Sentences
) -> None:
    done = bench.call("compare", "--repo", str(bench.repo), "--service-url", "http://127.0.0.1:9")
    assert done.code == 3
    golden(done.err)
    assert not (bench.folder / "results").exists()


def test_a_port_that_is_taken(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = subprocess.run(
            [COMMAND.with_name("swarm-bench-canopy-service"), "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("folder", ["absent", "file.txt", "empty"])
def test_a_report_of_what_is_no_session(prepared: Bench, folder: str) -> None:
    done = prepared.call("report", folder)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1


def test_a_disk_that_is_full(bench: Bench, golden: Sentences) -> None:
    script = f'ulimit -f 2; exec "{COMMAND}" compare --repo "$REPO" --modes baseline --output out'
    unwritten = {"PYTHONDONTWRITEBYTECODE": "1"}  # a part of such a file breaks the next start
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=bench.folder,
        env=bench.environment({"REPO": str(bench.repo), **unwritten}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    golden(done.stderr)
    assert done.stderr.endswith("; then repeat the command\n")  # there is no session to continue
    assert "Traceback" not in done.stderr


def test_two_at_once_in_one_session_are_refused(
    bench: Bench, tmp_path: Path, golden: Sentences
) -> None:
    running = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--runs", "99",
        "--agents", "1", "--output", "out",
    )  # fmt: skip
    try:
        while not (bench.folder / "out" / "metrics.jsonl").exists():
            assert running.poll() is None
        done = bench.call("compare", "--continue", "out")
        assert done.code == 2
        golden(done.err)
    finally:
        running.terminate()
        running.communicate()
    assert running.returncode == 130


def test_a_disk_that_is_full_when_the_servers_are_asked(bench: Bench) -> None:
    """What fails in a task group is said as anything else: one sentence."""
    (bench.repo / "large.bin").write_bytes(random.Random(1).randbytes(1_000_000))
    subprocess.run(["git", "add", "-A"], cwd=bench.repo, check=True)
    small = 'mount -t tmpfs -o size=2500k tmpfs "$TMPDIR" && exec "$@"'
    inside = ("unshare", "--map-root-user", "--mount", "sh", "-c", small, "sh")
    if subprocess.run([*inside[:3], "true"], check=False).returncode != 0:
        pytest.skip("NO MOUNT NAMESPACE HERE: no small disk can be made")
    words = ("compare", "--repo", str(bench.repo), "--dirty", "--modes", "baseline", "canopy")
    done = bench.call(*words, "--quiet", inside=inside)
    assert done.code == 3, done.err
    assert (done.err.count("\n"), "git clone failed in" in done.err) == (1, True), done.err
    assert " MB are free there; make room, or choose another workspace-root" in done.err


def test_doctor_on_a_disk_without_room_for_a_clone(bench: Bench) -> None:
    small = 'mount -t tmpfs -o size=24k tmpfs "$TMPDIR" && exec "$@"'
    inside = ("unshare", "--map-root-user", "--mount", "sh", "-c", small, "sh")
    if subprocess.run([*inside[:3], "true"], check=False).returncode != 0:
        pytest.skip("NO MOUNT NAMESPACE HERE: no small disk can be made")
    done = bench.call("doctor", "--repo", str(bench.repo), "--modes", "baseline", inside=inside)
    (line,) = (line for line in done.out.splitlines() if " disk: " in line)
    assert (done.code, line.startswith("problem"), "needs 0.1 MB" in line) == (4, True, True), line


def test_no_more_run_at_once_than_may_open_their_files(bench: Bench, golden: Sentences) -> None:
    inside = ("sh", "-c", 'ulimit -n 100 && exec "$@"', "sh")
    (bench.folder / "slow.yaml").write_text(
        "name: slow\ncommand: [sh, -c, 'sleep 1; echo see shop/auth.py', '{{ prompt }}']\n"
        "mcp: none\nturns: {limit: none}\noutput: {format: text, answer: {pattern: '(?s).+'}}\n"
    )
    words = ("compare", "--repo", str(bench.repo), "--tasks", "exploration", "--runs", "1",
             "--modes", "baseline", "--agents", "30", "--agent", "./slow.yaml")  # fmt: skip
    done = bench.call(*words, "--output", "out", inside=inside)
    assert done.code == 0, done.err
    assert {it["cause"] for it in bench.records("out")} == {"finished"}
    assert bench.experiment("out")["concurrency"] == 10
    (line,) = (line for line in done.err.splitlines() if "open files" in line)
    golden(line.partition("note: ")[2])
    refused = bench.call(*words, "--concurrency", "30", inside=inside)
    assert refused.code == 2
    golden(refused.err)
    model = ("run", "labels", "--concurrency", "30", "--models", "reference")
    assert bench.call(*model, inside=inside).code == 2
