"""The cluster that other tests run on is what it claims to be."""

import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.machines import Machine
from tests.cluster.ray_cluster import RESOURCE, Cluster, ray_cluster

GREETING = [sys.executable, str(Path(__file__).with_name("greeting.py"))]
CONNECTING = [
    *(sys.executable, "-c"),
    "import socket; socket.create_connection(('head', 6379), timeout=1)",
]
SIGNALLED = (
    "import os, signal, time\n"
    "def end(number, _): os.write(1, b'signal %d' % number); raise SystemExit(7)\n"
    "signal.signal(signal.SIGINT, end)\n"
    "os.write(1, b'ready\\n')\n"
    "time.sleep(60)\n"
)


def test_an_actor_on_each_worker_answers(cluster: Cluster) -> None:
    names = [it.name for it in cluster.workers]
    done = cluster.run([*GREETING, *names])
    assert done.returncode == 0, done.stderr
    answers = [tuple(it[:2]) for it in json.loads(done.stdout)]
    assert answers == [("worker-1", "10.77.0.2"), ("worker-2", "10.77.0.3")]
    assert len(cluster.nodes()) == 3
    agents = {it["name"]: it["resources"].get(RESOURCE) for it in cluster.nodes()}
    assert agents == {"head": None, "worker-1": 4, "worker-2": 4}
    homes = [it.tmp / "home" for it in (cluster.head, *cluster.workers)]
    assert [list(it.iterdir()) for it in homes] == [[], [], []], "no token is written down"


def test_what_is_started_on_a_worker_runs_there_and_its_actor_can_be_killed(
    cluster: Cluster,
) -> None:
    first, second = cluster.workers
    with cluster.open([*GREETING, first.name, "wait"]) as driver:
        assert driver.stdout is not None
        ((_, _, pid),) = json.loads(driver.stdout.readline())
        assert (pid, ("sleep", "1000")) in listed(cluster, first)
        assert (pid, ("sleep", "1000")) not in listed(cluster, second)
        cluster.kill_actor_process(first, "ray::Greeter")
        # The raylet's warning comes with it, in any order.
        assert any(line.startswith("Actor") for line in driver.stdout)
        assert driver.wait(20) == 0


def listed(cluster: Cluster, worker: Machine) -> list[tuple[int, tuple[str, ...]]]:
    return [(it.pid, it.command) for it in cluster.processes(worker)]


def test_a_command_without_the_token_is_refused(cluster: Cluster) -> None:
    done = cluster.run([*GREETING, "worker-1"], {"RAY_AUTH_TOKEN": None})
    assert done.returncode != 0
    assert "uthentication" in done.stderr


def test_signals_reach_a_command_that_sees_its_machine_alone(
    cluster: Cluster, tmp_path: Path
) -> None:
    with cluster.open([sys.executable, "-c", SIGNALLED], cwd=tmp_path) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == "ready\n"
        command.send_signal(signal.SIGINT)
        assert command.stdout.read() == "signal 2"
        assert command.wait(10) == 7
    with cluster.open(["sleep", "987"]) as command:
        command.kill()
    await_until(lambda: ("sleep", "987") not in [it.command for it in cluster.head.processes()])


def test_a_link_is_cut_and_restored(cluster: Cluster) -> None:
    first, second = cluster.workers
    cluster.cut(first)
    assert "timed out" in first.run(CONNECTING).stderr
    assert second.run(CONNECTING).returncode == 0
    cluster.restore(first)
    assert first.run(CONNECTING).returncode == 0


def test_a_node_whose_daemon_was_killed_is_started_again(cluster: Cluster) -> None:
    first = cluster.workers[0]
    before = {it["id"] for it in cluster.nodes()}
    cluster.kill_raylet(first)
    cluster.start(first)
    ((name, alive),) = [
        (it["name"], it["alive"]) for it in cluster.nodes() if it["id"] not in before
    ]
    assert (name, alive) == ("worker-1", True)


def test_nothing_is_left_of_a_cluster_that_does_not_start(
    machines_can_be_had: None, tmp_path: Path
) -> None:
    with pytest.raises(TimeoutError, match="head"), ray_cluster(tmp_path, limit=1):
        pytest.fail("no cluster starts in a second")
    assert processes_in_folder(tmp_path) == []


def processes_in_folder(folder: Path) -> list[Path]:
    return [it for it in Path("/proc").glob("[0-9]*/mountinfo") if str(folder) in text_of(it)]


def text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def await_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not become true"
        time.sleep(0.1)
