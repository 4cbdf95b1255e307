"""Sessions of models whose code runs in containers."""

import json
import os
import random
import subprocess
import time

import pytest

from swarm_bench.runtime.ownership import OWNER
from tests.builders.environments import CONTAINER, LOCAL, contained, root_folder
from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench

KILLS = int(os.environ.get("CONTAINER_KILLS", "4"))
RUN = ("run", "unified-diff", "--models", "reference", "--allow-code-execution")


def word_of(environment: str, bench: Bench) -> str:
    root = bench.folder / "root"
    return f"container:{root_folder(root)}" if environment == "container" else environment


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("environment", [LOCAL, "unconfined", CONTAINER])
def test_the_answers_of_the_data_set_solve_all_of_it(bench: Bench, environment: str) -> None:
    words = (*RUN, "--environment", word_of(environment, bench), "--output", "out", "--quiet")
    done = bench.call(*words)
    assert done.code == 0, done.err
    records = bench.records("out")
    assert [it["case"] for it in records if not it["scores"]["passed"]] == []
    assert bench.experiment("out")["confinement"]


def of_session(pid: int) -> list[str]:
    argv = ["podman", "ps", "--all", "--format", "json"]
    listed = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout or "[]")
    owners = [(it["Labels"] or {}).get(OWNER, "") for it in listed]
    return [owner for owner in owners if owner.startswith(f"{pid}-")]


@contained
@pytest.mark.slow
@pytest.mark.timeout(120 + 20 * KILLS)
def test_a_session_that_is_killed_leaves_no_containers(bench: Bench) -> None:
    """`CONTAINER_KILLS` says how often."""
    draw, environment = random.Random(1), word_of("container", bench)
    killed = list[int]()
    for number in range(KILLS):
        argv = [str(COMMAND), *RUN, "--environment", environment, "--runs", "50"]
        session = subprocess.Popen(
            [*argv, "--output", f"out-{number}"],
            cwd=bench.folder, env=bench.environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        end = time.monotonic() + 30
        while not of_session(session.pid) and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(draw.uniform(0, 2))
        assert session.poll() is None
        session.kill()
        session.wait()
        killed.append(session.pid)
    done = bench.call(*RUN, "--environment", environment, "--limit", "1", "--quiet")
    assert done.code == 0, done.err
    end = time.monotonic() + 10  # what watches over them puts them away by itself
    while any(map(of_session, killed)) and time.monotonic() < end:
        time.sleep(0.2)
    assert [it for pid in killed for it in of_session(pid)] == []


@contained
def test_what_cannot_run_is_refused_before_anything_is_asked(
    bench: Bench, golden: Sentences
) -> None:
    words = ("--environment", "container:localhost/no-such-image", "--output", "out")
    done = bench.call(*RUN, *words)
    assert done.code == 2
    assert not (bench.folder / "out" / "metrics.jsonl").exists()
    doctor = bench.call("doctor", "--environment", words[1])
    golden(done.err, *(line for line in doctor.out.splitlines() if "no-such-image" in line))
    planned = bench.call(*RUN, *words, "--plan")
    assert planned.code == 0  # looking starts nothing
    (bench.folder / ".env").write_text(f"SWARM_BENCH_ENVIRONMENT={words[1]}\n")
    asked = bench.call(*RUN, "--output", "out")
    assert asked.code == 2
    golden(asked.err)
