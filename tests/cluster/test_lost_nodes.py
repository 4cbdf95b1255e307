"""A node that dies, or whose link is cut, in the middle of a session."""

from pathlib import Path

import pytest

from tests.cluster.ray_cluster import Cluster
from tests.cluster.sessions import BENCH, await_until, lines, make_folder, make_slow_agent

pytestmark = pytest.mark.timeout(400)
ON = ("--on", "ray", "--output", "there")


@pytest.mark.parametrize("what", ["raylet", "link"])
def test_a_node_that_is_gone(cluster: Cluster, tmp_path: Path, what: str) -> None:
    folder = make_folder(tmp_path / "here")
    first, second = cluster.workers
    for worker in cluster.workers:
        (worker.tmp / "begun").unlink(missing_ok=True)
    command = make_slow_agent(folder, 12)
    with cluster.open([BENCH, *command, *ON], cwd=folder) as session:
        await_until((first.tmp / "begun").exists)
        if what == "raylet":
            cluster.kill_raylet(first)
            await_until(lambda: not cluster.processes(first), 40)
        else:
            cluster.cut(first)
            await_until(lambda: not cluster.processes(first), 50)  # by its lease: nobody tells it
        _, told = session.communicate(timeout=250)
    if what == "link":
        cluster.restore(first)
    await_until(lambda: not cluster.processes(first))
    cluster.start(first)
    assert session.returncode == 0, told
    records, lost = lines(folder / "there"), lines(folder / "there", "superseded.jsonl")
    assert len({record["trial"] for record in records}) == len(records) == 4
    assert {record["cause"] for record in records} == {"finished"}
    assert {(record["cause"], record["node"]) for record in lost} == {("node-lost", "worker-1")}
    again = {record["trial"] for record in lost}
    assert {record["node"] for record in records if record["trial"] in again} == {second.name}
