"""A Ray cluster on machines of their own namespaces: a head, and workers that have agents."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.machines import HOME, Machine, Process, connect, ip, machine

RESOURCE = "swarm_bench_agents"
START_SECONDS = 120
_ANSWER_SECONDS = 20
_PORT = 6379
_BIN = Path(sys.executable).parent
_OBJECT_STORE = 256 * 1024 * 1024
_NODES = """
import json, sys
from ray._raylet import GcsClient
nodes = GcsClient(address=sys.argv[1]).get_all_node_info().values()
print(json.dumps([
    {
        "id": it.node_id.hex(),
        "name": it.node_name,
        "ip": it.node_manager_address,
        "alive": it.state == 0,
        "resources": dict(it.resources_total),
    }
    for it in nodes
]))
"""
"""Asks the head's store, since a driver takes seconds to connect."""
_NO_ACTORS = ("ray::IDLE", "ray::DashboardAgent", "ray::RuntimeEnvAgent")


@dataclass(kw_only=True)
class Cluster:
    head: Machine
    workers: tuple[Machine, ...]
    agents: Mapping[str, int]
    """How many a worker may have, by its name."""
    limit: float

    @property
    def address(self) -> str:
        """Return what `RAY_ADDRESS` is for a command at the head."""
        return f"{self.head.ip}:{_PORT}"

    def run(
        self,
        argv: Sequence[str],
        env: Mapping[str, str | None] | None = None,
        cwd: Path | str = HOME,
        timeout: float = 60,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command at the head, as `Machine.run`, with the address and the token."""
        return self.head.run(argv, {"RAY_ADDRESS": self.address, **(env or {})}, cwd, timeout)

    def open(
        self,
        argv: Sequence[str],
        env: Mapping[str, str | None] | None = None,
        cwd: Path | str = HOME,
    ) -> "subprocess.Popen[str]":
        """Start a command at the head, as `Machine.open`, with the address and the token."""
        return self.head.open(argv, {"RAY_ADDRESS": self.address, **(env or {})}, cwd)

    def nodes(self) -> list[dict[str, Any]]:
        """Ask the head for all nodes, gone ones too: `id`, `name`, `ip`, `alive`, `resources`."""
        done = self.head.run([sys.executable, "-c", _NODES, self.address], timeout=_ANSWER_SECONDS)
        if done.returncode:
            raise RuntimeError(f"the head does not answer: {done.stderr}")
        listed: list[dict[str, Any]] = json.loads(done.stdout)
        return listed

    def processes(self, worker: Machine) -> list[Process]:
        """List what runs on a worker and is not Ray's."""
        return [it for it in worker.processes() if not _is_of_ray(it)]

    def kill_raylet(self, worker: Machine) -> None:
        """Kill the daemon of a node; what it had started sees that by itself."""
        _kill(worker, [it for it in worker.processes() if Path(it.command[0]).name == "raylet"])

    def kill_actor_process(self, worker: Machine, title: str = "ray::") -> None:
        """Kill the processes of actors on a worker, by how their titles begin: `ray::NodeActor`."""
        running = [it for it in worker.processes() if it.command[0].startswith(title)]
        _kill(worker, [it for it in running if not it.command[0].startswith(_NO_ACTORS)])

    def cut(self, worker: Machine) -> None:
        """Cut the link of a worker: packets are lost, and no connection is closed."""
        ip(self.head, "link", "set", worker.name, "down")

    def restore(self, worker: Machine) -> None:
        """Restore the link of a worker."""
        ip(self.head, "link", "set", worker.name, "up")

    def start(self, worker: Machine, env: Mapping[str, str | None] | None = None) -> None:
        """Start Ray on a worker again, as a supervisor would: what is left of the Ray before is
        killed, and what is not Ray's stays. Returns once the head has the new node; for a quarter
        of a minute the one before may be alive to it as well."""
        end = time.monotonic() + self.limit
        before = [it["id"] for it in self.nodes()]
        for process in worker.processes():
            if _is_of_ray(process):
                worker.kill(process)
        _wait(worker, _starting(worker, self._joining(worker), env), end)
        self.await_nodes([worker.name], end, before)

    def namespaces(self) -> set[str]:
        """Return the namespaces of all machines, for `processes_in`."""
        return {it for machine in (self.head, *self.workers) for it in machine.namespaces()}

    def _joining(self, worker: Machine) -> list[str]:
        resources = json.dumps({RESOURCE: self.agents[worker.name]})
        return ["--address", self.address, "--num-cpus", "1", "--resources", resources]

    def await_nodes(self, names: Sequence[str], end: float, before: Sequence[str] = ()) -> None:
        """Wait until nodes with these names are alive, and none of the ids `before`; raises
        `TimeoutError` at the end of time."""
        while missing := set(names) - {
            it["name"] for it in self.nodes() if it["alive"] and it["id"] not in before
        }:
            if time.monotonic() > end:
                raise TimeoutError(f"Ray has no {' and '.join(sorted(missing))}")
            time.sleep(0.1)


@contextmanager
def ray_cluster(
    folder: Path,
    *,
    agents: Sequence[int] = (4, 4),
    visible: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
    limit: float = START_SECONDS,
) -> Iterator[Cluster]:
    """Have a cluster for the block: a head, and a worker for each number of agents.

    `visible` are folders that the head sees even if they are below `/tmp`. `env` is added to the
    environment of all machines. Raises `TimeoutError` after `limit` seconds, and `RuntimeError`
    when Ray refuses to start; nothing is left then.
    """
    end = time.monotonic() + limit
    names = [f"worker-{number}" for number in range(1, len(agents) + 1)]
    with ExitStack() as stack:
        head = stack.enter_context(machine("head", 1, folder, [folder, *visible]))
        workers = tuple(
            stack.enter_context(machine(name, number, folder))
            for number, name in enumerate(names, 2)
        )
        connect(head, workers)
        variables = _environment() | dict(env or {})
        for it in (head, *workers):
            it.environment = dict(variables)
        counts = dict(zip(names, agents, strict=True))
        cluster = Cluster(head=head, workers=workers, agents=counts, limit=limit)
        leading = ["--head", "--port", str(_PORT), "--num-cpus", "0", "--include-dashboard=false"]
        _wait(head, _starting(head, leading), end)
        joining = [(it, _starting(it, cluster._joining(it))) for it in workers]
        for it, process in joining:
            _wait(it, process, end)
        cluster.await_nodes(names, end)
        yield cluster


def _environment() -> dict[str, str]:
    return {
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
    }


def _starting(
    machine: Machine, words: Sequence[str], env: Mapping[str, str | None] | None = None
) -> "subprocess.Popen[str]":
    argv = [str(_BIN / "ray"), "start", "--node-name", machine.name, "--disable-usage-stats"]
    argv += ["--node-ip-address", machine.ip, "--object-store-memory", str(_OBJECT_STORE), *words]
    # Into a file: daemons keep what they were started with open.
    script = 'exec "$@" >/tmp/ray-start.log 2>&1'
    return machine.open(["sh", "-c", script, "sh", *argv], env)


def _wait(machine: Machine, process: "subprocess.Popen[str]", end: float) -> None:
    with process:
        try:
            code = process.wait(max(end - time.monotonic(), 0))
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise TimeoutError(f"Ray does not start on {machine.name} in time") from error
    if code:
        log = (machine.tmp / "ray-start.log").read_text()
        raise RuntimeError(f"Ray does not start on {machine.name}: {log[-2000:]}")


def _is_of_ray(process: Process) -> bool:
    marks = ("/site-packages/ray/", f"{_BIN}/ray ")
    text = " ".join(process.command)
    return text.startswith("ray::") or any(it in text for it in marks)


def _kill(machine: Machine, processes: Sequence[Process]) -> None:
    if not processes:
        raise LookupError(f"nothing of that kind runs on {machine.name}: {machine.processes()}")
    for process in processes:
        machine.kill(process)
