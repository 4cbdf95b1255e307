"""Nodes whose workers are looked at, and sessions of `run` that they run."""

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from swarm_bench.app import session as life
from swarm_bench.app.benchmarks import run_call
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.events import BlockStarted, Emit, Event
from swarm_bench.core.roles.executor import (
    Host,
    Needs,
    OpenedExecutor,
    OpenPacked,
    PackedSession,
)
from swarm_bench.executors.link import Link, Streams
from swarm_bench.testing.worker_nodes import WorkerNodes, open_worker

MEASURED = {"session", "node", "started_at", "ended_at", "wall_seconds", "sha256"}
"""Keys of records that differ between any two sessions."""
COMMAND = (sys.executable, "-I", "-m", "swarm_bench.executors.worker")


class Workers(WorkerNodes):
    """Nodes that share nothing with this process but the code: each has a folder of its own, and
    only these `variables`."""

    def __init__(
        self, folder: Path, variables: Mapping[str, str] | None = None, nodes: int = 2
    ) -> None:
        super().__init__(nodes)
        self.folder = folder
        self.variables = variables or {}
        self.needs = Needs()
        self.opened = list[PackedSession]()
        self.sent = list[bytes]()
        """What was written to the workers."""
        self.used = set[str]()
        """Names of the nodes that had a block."""

    @asynccontextmanager
    async def connect(self, needs: Needs, emit: Emit) -> AsyncIterator[OpenPacked]:
        self.needs = needs
        yield self.open_session

    @asynccontextmanager
    async def open_session(self, session: PackedSession) -> AsyncIterator[OpenedExecutor[Any, Any]]:
        self.opened.append(session)
        async with super().open_session(session) as executor:

            @asynccontextmanager
            async def reserve_host() -> AsyncIterator[Host[Any, Any]]:
                async with executor.reserve_host() as host:
                    self.used.add(str(host.node))
                    yield host

            yield replace(executor, reserve_host=reserve_host)

    @asynccontextmanager
    async def open_link(self, name: str, session: PackedSession) -> AsyncIterator[Link]:
        work = self.folder / name
        work.mkdir(parents=True, exist_ok=True)
        link = _RecordedLink(session.portable, name=name, out=session.out, emit=session.emit)
        link.sent = self.sent
        env = {"PATH": os.environ["PATH"], "HOME": str(work), **self.variables}
        async with open_worker(link, session.benchmark, session.context, work, COMMAND, env):
            yield link


class _RecordedLink(Link):
    sent: list[bytes]

    @asynccontextmanager
    async def connect(self, streams: Streams, order: dict[str, Any]) -> AsyncIterator[None]:
        async def send(content: bytes) -> None:
            self.sent.append(content)
            await streams.send(content)

        async with super().connect(streams._replace(send=send), order):
            yield


def request(benchmark: str, output: Path, *, properties: Sequence[str] = (), **options: Any) -> Any:
    settings = RunSettings(output=output, **options)
    return CaseRequest(benchmark=benchmark, properties=properties, settings=settings)


def run(asked: CaseRequest, workers: Workers | None = None) -> list[Event]:
    events = list[Event]()
    life.run(run_call(asked, workers), events.append)
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
    assert workers.used == {"node-1", "node-2"}
    assert len([event for event in events if isinstance(event, BlockStarted)]) > 1
    records = read(folder / "away")
    assert records == read(folder / "local")
    return workers, records
