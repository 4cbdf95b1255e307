"""A session on two nodes of a cluster gives the records of one machine, whatever happens there."""

import signal
import time
from pathlib import Path

import pytest

from tests.cluster.machines import Machine
from tests.cluster.ray_cluster import Cluster
from tests.cluster.sessions import (
    BENCH,
    COMPARE,
    await_until,
    by_trial,
    lines,
    make_folder,
    make_slow_agent,
    run,
)

pytestmark = pytest.mark.timeout(300)
ON = ("--on", "ray", "--output", "there")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "here")


def await_no_process(cluster: Cluster) -> None:
    """What a session started on the nodes is gone."""
    await_until(
        lambda: [it for worker in cluster.workers for it in cluster.processes(worker)] == []
    )


def begun(worker: Machine) -> bool:
    return (worker.tmp / "begun").exists()


@pytest.fixture(autouse=True)
def _nothing_begun(cluster: Cluster) -> None:
    for worker in cluster.workers:
        (worker.tmp / "begun").unlink(missing_ok=True)


def test_a_comparison_has_the_records_of_one_machine(cluster: Cluster, folder: Path) -> None:
    done = run(cluster, folder, *COMPARE, "--output", "one")
    assert done.returncode == 0, done.stderr
    done = run(cluster, folder, *COMPARE, *ON)
    assert done.returncode == 0, done.stderr
    assert "ran on 2 nodes" in done.stdout
    assert done.stdout.startswith("#")
    assert done.stderr == f"Results: {folder / 'there'}\n"
    one, there = by_trial(folder / "one"), by_trial(folder / "there")
    assert there.keys() == one.keys()
    assert len(there) == 12
    for trial, record in there.items():
        assert record == one[trial]
    assert {record["node"] for record in lines(folder / "there")} == {"worker-1", "worker-2"}
    await_no_process(cluster)


RUN = (
    *("run", "humaneval", "--limit", "40", "--models", "reference", "copy", "--quiet"),
    "--allow-code-execution",
)


def test_answers_of_models_have_the_records_of_one_machine(cluster: Cluster, folder: Path) -> None:
    done = run(cluster, folder, *RUN, "--output", "one")
    assert done.returncode == 0, done.stderr
    done = run(cluster, folder, *RUN, *ON)
    assert done.returncode == 0, done.stderr
    assert "ran on 2 nodes" in done.stdout
    one, there = by_trial(folder / "one"), by_trial(folder / "there")
    assert there.keys() == one.keys()
    assert len(there) == 80
    for trial, record in there.items():
        assert record == one[trial]
    nodes_by_case: dict[str, set[str]] = {}
    for record in lines(folder / "there"):
        nodes_by_case.setdefault(record["case"], set()).add(record["node"])
    assert all(len(nodes) == 1 for nodes in nodes_by_case.values())  # a case in all arms
    assert {name for nodes in nodes_by_case.values() for name in nodes} == {"worker-1", "worker-2"}
    await_no_process(cluster)


def test_what_an_actor_was_doing_when_it_was_killed_runs_once_more(
    cluster: Cluster, folder: Path
) -> None:
    first, second = cluster.workers
    command = make_slow_agent(folder, 3)
    with cluster.open([BENCH, *command, *ON], cwd=folder) as session:
        await_until(lambda: begun(first))
        cluster.kill_actor_process(first, "ray::Relay")
        _, told = session.communicate(timeout=120)
    assert session.returncode == 0, told
    check_lost(folder / "there", first, second)
    await_no_process(cluster)


def check_lost(session: Path, first: Machine, second: Machine) -> None:
    """What ran on the first node is recorded as lost, and ran on the second."""
    records, lost = lines(session), lines(session, "superseded.jsonl")
    assert len({record["trial"] for record in records}) == len(records) == 4
    assert {record["cause"] for record in records} == {"finished"}
    assert {(record["cause"], record["node"]) for record in lost} == {("node-lost", first.name)}
    again = {record["trial"] for record in lost}
    assert {record["node"] for record in records if record["trial"] in again} == {second.name}


def test_ctrl_c_ends_every_agent_and_the_session_can_be_continued(
    cluster: Cluster, folder: Path
) -> None:
    command = make_slow_agent(folder, 20)
    with cluster.open([BENCH, *command, *ON], cwd=folder) as session:
        await_until(lambda: all(map(begun, cluster.workers)))
        session.send_signal(signal.SIGINT)
        _, told = session.communicate(timeout=60)
    assert session.returncode == 130, told
    await_no_process(cluster)
    assert {record["cause"] for record in lines(folder / "there")} == {"interrupted"}
    make_slow_agent(folder, 0)
    done = run(
        cluster, folder, "compare", "--continue", "there", "--quiet", "--on", "ray", "--trust"
    )
    assert done.returncode == 0, done.stderr
    assert len(lines(folder / "there")) == 4


@pytest.mark.parametrize("times", [2, None], ids=["ctrl-c twice", "killed"])
def test_agents_end_with_the_driver(cluster: Cluster, folder: Path, times: int | None) -> None:
    command = make_slow_agent(folder, 90)
    with cluster.open([BENCH, *command, *ON], cwd=folder) as session:
        await_until(lambda: all(map(begun, cluster.workers)))
        for _ in range(times or 0):
            session.send_signal(signal.SIGINT)
            time.sleep(0.2)
        if times is None:
            session.kill()
        session.communicate(timeout=60)
    assert session.returncode != 0
    await_no_process(cluster)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"RAY_ADDRESS": "10.77.0.1:9"}, "nobody answers at 10.77.0.1:9"),
        ({"RAY_AUTH_TOKEN": None}, "set RAY_AUTH_MODE=token"),
    ],
    ids=["nobody", "no token"],
)
def test_a_cluster_that_does_not_let_us_in(
    cluster: Cluster, folder: Path, variables: dict[str, str | None], sentence: str
) -> None:
    done = run(cluster, folder, *COMPARE, *ON, env=variables)
    assert (done.returncode, sentence in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr
    assert lines(folder / "there") == []


def test_without_an_address_ray_is_started_on_this_machine(cluster: Cluster, folder: Path) -> None:
    done = run(cluster, folder, *COMPARE, *ON, env={"RAY_ADDRESS": None})
    assert done.returncode == 0, done.stderr
    assert "ran on 1 node" in done.stdout
    assert len(lines(folder / "there")) == 12


def test_what_no_node_has_is_named(cluster: Cluster, folder: Path) -> None:
    words = ["--concurrency", "5", "--block-size", "6"]
    done = run(cluster, folder, *COMPARE, *ON, *words, "--agents", "5")
    assert done.returncode == 3, done.stderr
    assert "5 agents run at once, and the largest node, " in done.stderr
    assert ", takes 4; start nodes with" in done.stderr
    key: dict[str, str | None] = {"NO_SUCH_KEY": "hunter2"}
    done = run(cluster, folder, *COMPARE, *ON, "--agent-env", "NO_SUCH_KEY", env=key)
    assert done.returncode == 3
    assert "worker-" in done.stderr
    assert "NO_SUCH_KEY" in done.stderr
    assert "hunter2" not in done.stderr
    await_no_process(cluster)
