"""What a trial on another machine takes of the driver's processor and of its disk, and what a call
and a piece of Ray do where that is installed: the constants of `perf/many_machines.py`.

    python perf/driver.py
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

CALLS, SWARM, RUNS = 60, 10, 4


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk(folder)
        swarms(folder)
        asyncio.run(cases(folder))
    try:
        import ray
    except ImportError:
        print("Ray is not installed here")
        return
    ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    asyncio.run(calls(ray))


def disk(folder: Path) -> None:
    from swarm_bench.runtime.files import append_line, write_whole

    times = dict[str, list[float]]()
    for number in range(100):
        for word, write, path in (
            ("a record of 5 kB", append_line, folder / "lines"),
            ("a file of 5 kB", write_whole, folder / "files" / str(number)),
        ):
            began = time.perf_counter()
            write(path, b"x" * 5_000)
            times.setdefault(word, []).append(time.perf_counter() - began)
    for word, seconds in times.items():
        print(f"disk: {median(seconds) * 1e3:.1f} ms for {word}")


def swarms(folder: Path) -> None:
    """Run a swarm on each of two nodes, agents that print 300 KB and do nothing in between."""
    from swarm_bench.app.running import agents
    from swarm_bench.app.setup.resolving import resolve
    from swarm_bench.core.events import Event, TrialActive, TrialEnded, TrialStarted
    from swarm_bench.core.session.designs import COMPARE

    (folder / "repo").mkdir()
    (folder / "repo" / "a.py").write_text("def f():\n    return 1\n")
    call = {"tool": "Read", "input": {"file_path": "a.py"}, "result": "x" * 4_500}
    answer = {"text": "See `a.py:1`.", "turns": 1, "cost": 0.01, "usage": {"input": 1}}
    steps = [{"init": {"tools": ["Read"]}}, *[{"call": call}] * CALLS, {"answer": answer}]
    (folder / "script.json").write_text(json.dumps([{"steps": steps}]))
    tasks = [{"id": str(n), "title": str(n), "prompt": f"Task {n}"} for n in range(SWARM)]
    (folder / "tasks.json").write_text(json.dumps({"tasks": tasks}))
    times = dict[type[Event], list[float]]()

    def emit(event: Event) -> None:
        times.setdefault(type(event), []).append(time.process_time())

    options = {
        "repo": folder / "repo",
        "modes": ["baseline"],
        "tasks": str(folder / "tasks.json"),
        "runs": RUNS,
        "agent": "swarm_bench.agents.scripted:Scripted",
        "model": str(folder / "script.json"),
        "output": folder / "out",
        "on": "swarm_bench.testing.worker_nodes:TwoNodes",
        "concurrency": SWARM,
        "agents": SWARM,
    }
    agents.run(resolve(options, COMPARE, None), COMPARE, emit)
    trials, events = len(times[TrialEnded]), len(times[TrialActive])
    each = (times[TrialEnded][-1] - times[TrialStarted][0]) / trials
    size = sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file())
    print(f"swarms: {each * 1e3:.1f} ms for a trial with {events / trials:.0f} events")
    print(f"swarms: {size / trials:,.0f} bytes of a trial")


async def cases(folder: Path, trials: int = 2_000) -> None:
    """Have trials of `run` stored that a worker says have ended."""
    from pydantic import TypeAdapter

    from swarm_bench.benchmarks.cases.folder import CaseFolder
    from swarm_bench.core.session.base import Group, Trial
    from swarm_bench.core.session.cases import (
        Case,
        CaseDelivery,
        CaseEnded,
        CaseExperiment,
        CaseRecord,
    )
    from swarm_bench.core.status import Cause
    from swarm_bench.engine.group_store import CaseStore

    stored = CaseFolder(folder / "session", CaseExperiment, CaseRecord)
    stored.make()
    experiment = CaseExperiment.model_construct(session="s")
    store = CaseStore(
        experiment=experiment, folder=stored, to_continue="", emit=lambda _: None, properties={}
    )
    plan = tuple(
        Trial(id=f"{n:012x}", run=1, arm="a", case=Case(id=str(n), title="t"), number=n)
        for n in range(1, trials + 1)
    )
    keep = store.make_group_store(Group(id="g", run=1, arm="a", trials=plan), "node").keep
    kind: TypeAdapter[CaseDelivery] = TypeAdapter(CaseDelivery)
    lines = [
        kind.dump_json(
            CaseEnded(trial=trial, cause=Cause.FINISHED, answer="x" * 500,
                      started_at=datetime.now(UTC), ended_at=datetime.now(UTC))
        )
        for trial in plan
    ]  # fmt: skip
    wall, busy = time.perf_counter(), time.process_time()
    for line in lines:
        await keep(kind.validate_json(line))
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    size = stored.records.path.stat().st_size / trials
    print(
        f"run: {busy / trials * 1e3:.2f} ms of the driver for a trial, {size:,.0f} bytes of record"
    )
    print(f"run: {wall / trials * 1e3:.2f} ms where one is stored after the other")


class Source:
    """An actor that says little, or much."""

    async def send(self, content: bytes) -> None:
        """Take it."""

    async def receive(self, number: int, size: int) -> Any:
        for _ in range(number):
            yield bytes(size)


async def calls(ray: Any) -> None:
    """Print what Ray takes of the driver's processor."""
    actor = ray.remote(Source).options(num_cpus=0, max_concurrency=16).remote()
    options = {"num_returns": "streaming", "_generator_backpressure_num_objects": 64}

    async def send() -> None:
        for _ in range(500):
            await actor.send.remote(b"{}")

    async def receive(size: int) -> None:
        async for piece in actor.receive.options(**options).remote(500, size):
            await piece

    works: tuple[tuple[str, Callable[[], Awaitable[None]]], ...] = (
        ("a call", send),
        ("a piece of 200 bytes", lambda: receive(200)),
        ("a piece of 64 KB", lambda: receive(1 << 16)),
    )
    for word, work in works:
        times = list[float]()
        for _ in range(4):
            began = time.process_time()
            await work()
            times.append((time.process_time() - began) / 500 * 1e3)
        print(f"Ray: {median(times[1:]):.2f} ms of the driver for {word}")


if __name__ == "__main__":
    main()
