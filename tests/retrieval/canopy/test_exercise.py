"""A service is asked once for all that a session will ask of it."""

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from swarm_bench.core.errors import ServiceFailed
from swarm_bench.retrieval.canopy.exercise import exercise
from swarm_bench.retrieval.canopy.service import Service, start_service
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.process import Command

EMBEDDED = Path(sys.executable).parent / "swarm-bench-canopy-service"


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    command = Command(
        argv=(str(EMBEDDED),),
        cwd=tmp_path,
        env=small_environment(os.environ),
        tag=f"exercise-{tmp_path.name}",
    )
    async with start_service(command, log=tmp_path / "service.log", secrets=()) as one:
        yield one


@pytest.mark.anyio
async def test_a_service_that_works_says_how_long_each_step_takes(
    service: Service, tmp_path: Path
) -> None:
    took = await exercise(service, tmp_path)
    assert took.index > 0
    assert 0 < took.query < 5
    assert 0 < took.expand < 5


class Stuck:
    """A service whose counters stand still, and that finds what it is told to."""

    def __init__(self, found: list[dict[str, str]], content: str) -> None:
        self._answers = {
            "/repos/add": {"repo_id": "r"},
            "/reindex": {},
            "/query": {"handles": found},
            "/expand": {"contents": [{"content": content}]},
            "/metrics": {"performance": {"queries": 3, "expands": 1}},
            "/repos": [{"repo_id": "r", "status": "ready"}],
        }

    async def answer(self, request: Request) -> JSONResponse:
        return JSONResponse(self._answers[request.url.path])

    def app(self) -> Starlette:
        routes = [Route(path, self.answer, methods=["GET", "POST"]) for path in self._answers]
        return Starlette(routes=routes)


@asynccontextmanager
async def served(app: Starlette) -> AsyncIterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # who asks before the server is up waits
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.should_exit = True


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("found", "content", "sentence"),
    [
        ([], "", "found nothing in 10 files"),
        ([{"id": "0" * 24}], "other words", "something other than its text"),
        ([{"id": "0" * 24}], "lighthouse", "queries and expands did not move"),
    ],
)
async def test_one_that_does_not_is_named(
    tmp_path: Path, found: list[dict[str, str]], content: str, sentence: str
) -> None:
    async with served(Stuck(found, content).app()) as url:
        with pytest.raises(ServiceFailed, match=sentence):
            await exercise(Service(url=url), tmp_path)
