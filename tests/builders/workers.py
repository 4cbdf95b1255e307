"""An executor over workers that stay: one process for each place, each in a folder of its own; and
sessions of `run` that they run."""

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process

from swarm_bench.app import session as life
from swarm_bench.app.benchmarks import run_call
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.events import BlockStarted, Event
from swarm_bench.core.roles.executor import Host, OpenedExecutor, PackedSession
from swarm_bench.executors.link import Link, Streams

MEASURED = {"session", "node", "started_at", "ended_at", "wall_seconds", "sha256"}
"""Keys of records that differ between any two sessions."""
COMMAND = (sys.executable, "-I", "-m", "swarm_bench.executors.worker")


@dataclass
class Workers:
    """Opens a session in processes that share nothing with this one but the code."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that a worker has besides."""
    places: int = 2
    opened: list[PackedSession] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    """What was written to the workers."""
    used: set[str] = field(default_factory=set)
    """Names of the places that had a block."""

    @asynccontextmanager
    async def open(self, session: PackedSession) -> AsyncIterator[OpenedExecutor[Any, Any]]:
        self.opened.append(session)
        async with AsyncExitStack() as stack:
            links = [
                await stack.enter_async_context(self._start(session, f"n{number}"))
                for number in range(1, self.places + 1)
            ]

            @asynccontextmanager
            async def reserve_host() -> AsyncIterator[Host[Any, Any]]:
                link = links.pop()
                self.used.add(link.name)
                try:
                    yield Host(link, link.name)
                finally:
                    links.append(link)

            yield OpenedExecutor(reserve_host=reserve_host, blocks_at_once=self.places)

    @asynccontextmanager
    async def _start(self, session: PackedSession, name: str) -> AsyncIterator[Link]:
        work = self.folder / name
        work.mkdir(parents=True, exist_ok=True)
        (work / "context.json").write_bytes(session.context)
        order = {
            "benchmark": session.benchmark,
            "work": str(work),
            "context": str(work / "context.json"),
        }
        link = Link(session.portable, name=name, out=session.out, emit=session.emit)
        variables = {"PATH": os.environ["PATH"], "HOME": str(work), **self.variables}
        async with await anyio.open_process(
            COMMAND, stderr=None, cwd=work, env=variables
        ) as process:
            try:
                async with link.connect(self._connect(process), order):
                    yield link
            finally:
                with anyio.CancelScope(shield=True):
                    assert process.stdin
                    await process.stdin.aclose()
                    with anyio.move_on_after(20):
                        await process.wait()

    def _connect(self, process: Process) -> Streams:
        assert process.stdin
        assert process.stdout
        stdin = process.stdin

        async def send(content: bytes) -> None:
            self.sent.append(content)
            await stdin.send(content)

        return Streams(receive=aiter(process.stdout), send=send)


def request(benchmark: str, output: Path, *, properties: Sequence[str] = (), **options: Any) -> Any:
    settings = RunSettings(output=output, **options)
    return CaseRequest(benchmark=benchmark, properties=properties, settings=settings)


def run(asked: CaseRequest, workers: Workers | None = None) -> list[Event]:
    events = list[Event]()
    life.run(run_call(asked, workers.open if workers else None), events.append)
    return events


def read(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    same = [{k: v for k, v in line.items() if k not in MEASURED} for line in lines]
    return sorted(same, key=lambda line: str(line["trial"]))


def compare(folder: Path, benchmark: str, **options: Any) -> tuple[Workers, list[dict[str, Any]]]:
    """Run the same session here and by two workers at the same time."""
    workers = Workers(folder / "workers")
    run(request(benchmark, folder / "local", **options))
    events = run(request(benchmark, folder / "away", **options), workers)
    assert workers.used == {"n1", "n2"}
    assert len([event for event in events if isinstance(event, BlockStarted)]) > 1
    records = read(folder / "away")
    assert records == read(folder / "local")
    return workers, records
