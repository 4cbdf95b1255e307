"""Sessions in which everything is killed: each trial is recorded once, as in a quiet session, and
none that was recorded is asked again. `make chaos-cluster` kills 60 times (CHAOS_KILLS)."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from tests.cluster.machines import Machine
from tests.cluster.ray_cluster import Cluster
from tests.cluster.sessions import BENCH, await_until, by_trial, lines, make_folder, run

KILLS = int(os.environ.get("CHAOS_KILLS", "10"))
SEED = int(os.environ.get("CHAOS_SEED", "1"))
TASKS = 8
PORT = 8123
pytestmark = pytest.mark.timeout(300 + 120 * KILLS)
ASKING = """
import json, sys, time, urllib.parse, urllib.request
try:
    urllib.request.urlopen(sys.argv[2] + urllib.parse.quote(sys.argv[1]), timeout=5).read()
except OSError:
    pass
time.sleep(1)
print(json.dumps({"answer": "It is in app/worker.py"}))
"""
COMPARE = (
    *("compare", "--modes", "baseline", "--runs", "1", "--block-size", "1", "--quiet"),
    *("--concurrency", "1", "--tasks", "./tasks.yaml", "--repo", "repo", "--agent", "asking.yaml"),
)


def make_asking_agent(folder: Path) -> None:
    agent = {
        "name": "asking",
        "command": [sys.executable, "-I", "-c", ASKING, "{{ prompt }}", f"http://head:{PORT}/"],
        "turns": {"limit": "none"},
        "mcp": "none",
        "output": {"source": "stdout", "format": "json", "answer": "$.answer"},
    }
    (folder / "asking.yaml").write_text(yaml.safe_dump(agent))


@contextmanager
def metered(cluster: Cluster, file: Path) -> Iterator[None]:
    program = str(Path(__file__).with_name("metering.py"))
    with cluster.open([sys.executable, program, str(PORT), str(file)]) as server:
        time.sleep(1)
        yield
        server.kill()


class Killer:
    """Kills what a session consists of, and puts the cluster in order again."""

    def __init__(self, cluster: Cluster, draw: random.Random) -> None:
        self._cluster = cluster
        self._draw = draw
        self.repairs: list[Callable[[], None]] = []

    def kill(self, what: str, session: "subprocess.Popen[str]") -> bool:
        """Kill it. Returns whether there was anything to kill."""
        worker = self._draw.choice(self._cluster.workers)
        if what == "driver":
            session.kill()
        elif what == "actor":
            if not any("ray::Relay" in line for line in titles(worker)):
                return False
            self._cluster.kill_actor_process(worker, "ray::Relay")
        elif what == "raylet":
            self._cluster.kill_raylet(worker)
            self.repairs.append(lambda: self._cluster.start(worker))
        elif what == "agent":
            agents = [it for it in self._cluster.processes(worker) if ASKING in it.command]
            for agent in agents:
                worker.kill(agent, signal.SIGKILL)
            return bool(agents)
        else:
            self._cluster.cut(worker)
            self.repairs.append(lambda: self._reconnect(worker))
        return True

    def _reconnect(self, worker: Machine) -> None:
        self._cluster.restore(worker)
        self._cluster.kill_raylet(worker)
        self._cluster.start(worker)

    def restore(self) -> None:
        """Put in order what was broken."""
        for restore in self.repairs:
            restore()
        self.repairs.clear()


def titles(worker: Machine) -> list[str]:
    return [" ".join(process.command) for process in worker.processes()]


def test_what_is_killed_loses_nothing(cluster: Cluster, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "here", TASKS)
    make_asking_agent(folder)
    draw = random.Random(SEED)
    killer, kills, number = Killer(cluster, draw), 0, 0
    with metered(cluster, folder / "requests"):
        quiet = run(cluster, folder, *COMPARE, "--output", "quiet")
        assert quiet.returncode == 0, quiet.stderr
        while kills < KILLS:
            number += 1
            output, words = f"out-{number}", [*COMPARE, "--output", f"out-{number}", "--on", "ray"]
            (folder / "requests").unlink(missing_ok=True)
            agents_killed = 0
            while len(set(finished(folder / output))) < TASKS:
                what = draw.choice(["driver", "actor", "raylet", "agent", "link"])
                with cluster.open([BENCH, *words], cwd=folder) as session:
                    await_begun(session, folder, draw.uniform(0.3, 3))
                    can_be_killed = session.poll() is None and kills < KILLS
                    if can_be_killed and killer.kill(what, session):
                        kills += 1
                        agents_killed += what == "agent"
                        sys.stderr.write(f"{kills}: {what} in {output}\n")
                    session.communicate(timeout=240)
                killer.restore()
                words = [
                    *("compare", "--continue", output, "--quiet", "--on", "ray", "--trust"),
                ]
            check(folder, output, agents_killed)
    machines = (*cluster.workers, cluster.head)
    await_until(lambda: not any(map(cluster.processes, machines)), 60)


def await_begun(session: "subprocess.Popen[str]", folder: Path, seconds: float) -> None:
    """Wait until a trial asks that did not before, and a moment longer."""
    requests = folder / "requests"
    before = requests.stat().st_size if requests.exists() else 0
    await_until(
        lambda: (
            session.poll() is not None or (requests.exists() and requests.stat().st_size > before)
        ),
        90,
    )
    time.sleep(seconds)


def finished(session: Path) -> list[str]:
    """Ids of the trials that need not run again."""
    return [
        record["trial"] for record in lines(session) if record["status"] != "harness-failed"
        and record["status"] != "cancelled"
    ]  # fmt: skip


def check(folder: Path, output: str, agents_killed: int) -> None:
    """The records are those of the quiet session, but for agents that were killed themselves, and
    for counters of a node that was lost before it had sent them."""
    quiet, records = by_trial(folder / "quiet"), by_trial(folder / output)
    assert len(lines(folder / output)) == len(records) == TASKS
    differing = 0
    for trial, record in records.items():
        expected = {**quiet[trial], "attempt": record["attempt"]}
        if record["evidence"]["counters"] is None:
            evidence = {**quiet[trial]["evidence"], "counters": None}
            expected = {**expected, "evidence": evidence}
        if record["cause"] != "finished":
            differing += 1
        else:
            assert record == expected
    assert differing <= agents_killed
    ends = {
        record["task"]: datetime.fromisoformat(record["ended_at"]).timestamp()
        for record in lines(folder / output)
        if record["ended_at"]
    }
    for line in (folder / "requests").read_text().splitlines():
        asked, path = line.split(" ", 1)
        assert float(asked) <= ends[unquote(path.removeprefix("/"))], "asked again"
