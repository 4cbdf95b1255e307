"""What a cluster costs, on three machines made of namespaces (root, and Ray in .venv-cluster):

    .venv-cluster/bin/python -m perf.cluster

prints trials that sleep over two nodes beside the ideal, a block there beside the same block here,
50 MB to both nodes, and many short trials of `run` there beside two executors here, with the memory
of the driver. It judges nothing; both sides of a ratio are measured one after the other.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

SHORT = """
import anyio
from swarm_bench.core.session.cases import Case, CaseEnded, CaseStarted
from swarm_bench.core.status import Cause
from swarm_bench.testing.toy import Toy

class Short(Toy):
    name, groups_at_once = "short", 1

    def arms(self, properties):
        return ("a",)

    def cases(self, properties):
        return tuple(Case(id=str(number), title=str(number)) for number in range({cases}))

    async def run(self, job, deliver):
        limiter = anyio.CapacityLimiter(8)

        async def one(trial):
            async with limiter:
                await deliver(CaseStarted(trial=trial))
                await anyio.sleep(0.1)
                await deliver(CaseEnded(trial=trial, cause=Cause.FINISHED, answer="x"))

        async with anyio.create_task_group() as tasks:
            for trial in job.group.trials:
                tasks.start_soon(one, trial)
"""


def drive(folder: str, options: str) -> None:
    """Run a session in this process, and print when what happened, and the memory that it took."""
    from swarm_bench.app import session
    from swarm_bench.app.benchmarks import run_call
    from swarm_bench.app.running import agents
    from swarm_bench.app.setup.case_experiment import CaseRequest
    from swarm_bench.app.setup.resolving import resolve
    from swarm_bench.config.run_options import RunSettings
    from swarm_bench.core.events import Event, SessionStarted
    from swarm_bench.core.session.designs import COMPARE

    os.chdir(folder)
    events = list[tuple[str, float]]()
    memory = list[int]()

    def emit(event: Event) -> None:
        events.append((f"{type(event).__name__} {getattr(event, 'step', '')}", time.monotonic()))
        if isinstance(event, SessionStarted) or (memory and len(events) % 100 == 0):
            memory.append(int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20)

    typed: dict[str, Any] = json.loads(options)
    if (benchmark := typed.pop("benchmark", None)) is None:
        agents.run(resolve(typed, COMPARE), COMPARE, emit)
    else:
        settings = RunSettings(**{**typed, "output": Path(typed["output"])})
        session.run(
            run_call(CaseRequest(benchmark=benchmark, properties=(), settings=settings)), emit
        )
    print(json.dumps({"events": events, "memory": memory}))


def find(events: list[tuple[str, float]], name: str) -> list[float]:
    return [at for word, at in events if word.startswith(name)]


class Sessions:
    """Runs sessions at the head of a cluster."""

    def __init__(self, cluster: Any, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        self._number = 0

    def run(self, on: str, **options: Any) -> dict[str, Any]:
        self._number += 1
        typed = {"output": f"out-{self._number}", "on": on, **options}
        argv = [sys.executable, __file__, "drive", str(self._folder), json.dumps(typed)]
        root = str(Path(__file__).parents[1])
        variables = {"PYTHONPATH": f"{root}:{self._folder}"}
        done: subprocess.CompletedProcess[str] = self._cluster.run(
            argv, variables, cwd=self._folder, timeout=900
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        return dict(json.loads(done.stdout.splitlines()[-1]))


def agents_that_sleep(folder: Path, seconds: float, tasks: int) -> dict[str, Any]:
    script = f'import time; time.sleep({seconds}); print(\'{{"answer": "x"}}\')'
    agent = {
        "name": "sleeping",
        "command": [sys.executable, "-I", "-S", "-c", script, "{{ prompt }}"],
        "turns": {"limit": "none"},
        "mcp": "none",
        "output": {"source": "stdout", "format": "json", "answer": "$.answer"},
    }
    (folder / "sleeping.yaml").write_text(json.dumps(agent))
    named = [{"id": f"t{n}", "title": f"t{n}", "prompt": f"What is {n}?"} for n in range(tasks)]
    (folder / "tasks.yaml").write_text(json.dumps({"tasks": named}))
    return {
        "repo": str(folder / "repo"), "agent": "sleeping.yaml", "tasks": "./tasks.yaml",
        "modes": ["baseline"], "all_tasks": True,
    }  # fmt: skip


def sleeping(sessions: Sessions, folder: Path) -> None:
    options = agents_that_sleep(folder, 2, 60)
    for at_once in (20, 4):
        size = {"block_size": 60, "concurrency": at_once, "runs": 2}
        took, here = (_time_blocks(sessions.run(on, **options, **size)) for on in ("ray", "local"))
        ideal = 2 * 60 / at_once
        print(
            f"120 x sleep 2, {at_once} at once on each of 2 nodes: {took:.2f} s; {ideal / took:.2f}"
            f" of {ideal:g} s; here, one block after the other: {here:.2f} s; {here / 2 / took:.2f}"
            " of half of that"
        )


def _time_blocks(session: dict[str, Any]) -> float:
    events = session["events"]
    return find(events, "BlockEnded")[-1] - find(events, "BlockStarted")[0]


def overhead(sessions: Sessions, folder: Path) -> None:
    options = agents_that_sleep(folder, 0.2, 1)
    size = {"block_size": 1, "concurrency": 1, "runs": 10}
    blocks = {}
    for on in ("local", "ray"):
        events = sessions.run(on, **options, **size)["events"]
        pairs = zip(find(events, "BlockStarted"), find(events, "BlockEnded"), strict=True)
        blocks[on] = median(end - begin for begin, end in pairs)
    difference = blocks["ray"] - blocks["local"]
    print(
        f"a block: {blocks['local']:.2f} s here, {difference:+.2f} s there (two at the same time)"
    )


def sending(sessions: Sessions, folder: Path) -> None:
    options = agents_that_sleep(folder, 0, 1)
    seconds = []
    for content in (b"", os.urandom(50 << 20)):
        (folder / "repo" / "large.bin").write_bytes(content)
        commit(folder / "repo")
        events = sessions.run("ray", **options, runs=1)["events"]
        sent = find(events, "Preparing sending")[0]
        seconds.append(find(events, "SessionStarted")[0] - sent)
    print(f"50 MB to both nodes: {seconds[1] - seconds[0]:.2f} s more than nothing")


def short(sessions: Sessions, folder: Path, trials: int) -> None:
    (folder / "short_trials.py").write_text(SHORT.replace("{cases}", str(trials)))
    options = {"benchmark": "short_trials:Short", "runs": 1}
    rates, memory = {}, []
    for on in ("local", "ray"):
        done = sessions.run(on, **options)
        ends = find(done["events"], "TrialEnded")
        rates[on] = len(ends) / (ends[-1] - find(done["events"], "SessionStarted")[0])
        memory = done["memory"]
    print(
        f"{trials:,} trials of 0.1 s: {rates['ray']:.0f} a second over two nodes, "
        f"{rates['local']:.0f} here; {rates['ray'] / rates['local'] / 2:.2f} of two executors"
    )
    print(f"memory of the driver: {memory[0]} MB at first, {max(memory)} MB at most")


def commit(repo: Path) -> None:
    repo.mkdir(exist_ok=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        [*identity, "commit", "-q", "-m", "x", "--allow-empty"],
    ):
        subprocess.run(["git", *words], cwd=repo, check=True)


def main(trials: int) -> None:
    from tests.cluster.ray_cluster import ray_cluster

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "repo").mkdir()
        (folder / "repo" / "a.py").write_text("def f():\n    return 1\n")
        commit(folder / "repo")
        (folder / "machines").mkdir()
        with ray_cluster(folder / "machines", agents=(40, 40), visible=[folder]) as cluster:
            sessions = Sessions(cluster, folder)
            sleeping(sessions, folder)
            overhead(sessions, folder)
            sending(sessions, folder)
            short(sessions, folder, trials)
    print(f"(load average {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["drive"]:
        drive(*sys.argv[2:])
    else:
        main(int((sys.argv[1:] or ["10000"])[0]))
