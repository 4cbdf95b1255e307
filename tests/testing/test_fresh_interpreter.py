"""Another interpreter that dies, prints rubbish, or sends what leads elsewhere."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.benchmarks.swarm.running.trial import SwarmJob
from swarm_bench.core.errors import HarnessError
from swarm_bench.runtime.ownership import sweep
from swarm_bench.testing.fresh_interpreter import FreshInterpreters
from tests.builders.experiments import experiment

pytestmark = pytest.mark.anyio
SWARM = plan(experiment(modes=["baseline"], runs=1))[0].groups[0]
PRINTS = (
    "import sys; sys.stdin.readline(); print('{\"open\": true}', flush=True); "
    "sys.stdin.readline(); print(sys.argv[1], flush=True)"
)


async def delivered(folder: Path, code: str, *arguments: str) -> Sequence[Any]:
    """Run a group by an interpreter that runs the code, and see what is delivered."""
    deliveries = list[Any]()

    async def deliver(delivery: Any) -> None:
        deliveries.append(delivery)

    execute = FreshInterpreters(
        benchmark="swarm",
        context=b"{}",
        work=folder,
        out=folder / "out",
        emit=lambda _: None,
        command=(sys.executable, "-I", "-c", code, *arguments),
    )
    (folder / "out").mkdir()
    with anyio.fail_after(10):
        await execute(SwarmJob(swarm=SWARM, attempts={}), deliver)
    return deliveries


@pytest.mark.parametrize(
    "line",
    [
        "rubbish",
        "[]",
        "{}",
        "[" * 100_000,
        '{"event": "__builtins__", "content": {}}',
        '{"event": "TrialEnded", "content": {"record": {}}}',
        '{"event": "Trouble", "content": {"message": 3}}',
        '{"delivery": {"trial": {}}}',
        '{"delivery": {"trial": {}}, "job": "1", "number": 1}',
        '{"ended": null, "job": "7"}',
        '{"file": "canopy/a", "offset": 0, "content": "?"}',
        '{"file": "canopy/a\\u0000", "offset": 0, "content": ""}',
        '{"file": "", "offset": 0, "content": ""}',
        '{"file": 3, "offset": 0, "content": ""}',
        '{"file": "../a", "offset": 0, "content": ""}',
        '{"file": "/tmp/a", "offset": 0, "content": ""}',
        '{"file": "metrics.jsonl", "offset": 0, "content": ""}',
        '{"file": "canopy/a", "offset": 3, "content": ""}',
        '{"file": "./experiment.json", "offset": 0, "content": ""}',
        '{"file": "baseline/../experiment.json", "offset": 0, "content": ""}',
        '{"file": "baseline/agent-1.json", "offset": 0, "content": ""}',
        '{"file": "baseline/agent-99.stderr.log", "offset": 0, "content": ""}',
        '{"file": "canopy/agent-1.stderr.log", "offset": 0, "content": ""}',
        '{"file": "run-2/baseline/agent-1.stderr.log", "offset": 0, "content": ""}',
        '{"file": "baseline/agent-1.stderr.log", "offset": 1, "content": ""}',
    ],
)
async def test_what_is_no_line_of_ours_ends_the_group_and_writes_nothing(
    tmp_path: Path, line: str
) -> None:
    with pytest.raises(HarnessError):
        await delivered(tmp_path, PRINTS, line)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(3)",
        "import os; os.kill(os.getpid(), 9)",
        "import sys; sys.stdin.readline(); "
        "print('{\"open\": true}\\n{\"fi', end=''); raise SystemExit(3)",
    ],
)
async def test_an_interpreter_that_dies_is_an_error_of_ours(tmp_path: Path, code: str) -> None:
    with pytest.raises(HarnessError, match="ended with exit code"):
        await delivered(tmp_path, code)


async def test_an_interpreter_that_goes_on_is_not_waited_for(tmp_path: Path) -> None:
    code = f"import time; {PRINTS}; time.sleep(60)"
    with pytest.raises(HarnessError, match="is no line"):
        await delivered(tmp_path, code, "rubbish")


LOUD = """
import os
from contextlib import asynccontextmanager
from pydantic import TypeAdapter
from swarm_bench.core.session.base import Group

class Loud:
    jobs = deliveries = TypeAdapter(str)

    def find_group(self, job):
        return Group(id="g", run=1, arm="a", trials=())

    def owns_file(self, job, file):
        return str(file) == "a/file"

    @asynccontextmanager
    async def unpacked(self, context, folder, emit):
        async def execute(job, deliver):
            print("here I am", flush=True)
            os.system("echo and my child")
            (a := folder / "out" / "a").mkdir(parents=True)
            (a / "link").symlink_to(__file__)
            os.mkfifo(a / "pipe")
            for text in ("half", "half and more"):
                (a / "file").write_text(text)
                await deliver(f"{job} {text}")
                if text == "half":
                    assert (a / "file").exists()
            if job == "die":
                os.kill(os.getpid(), 9)
        yield execute
"""


@pytest.fixture
def loud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FreshInterpreters:
    (tmp_path / "loud.py").write_text(LOUD)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return FreshInterpreters(
        benchmark="loud:Loud",
        context=b"{}",
        work=tmp_path,
        out=tmp_path / "out",
        emit=lambda _: None,
    )


async def test_a_file_of_a_trial_that_runs_is_taken(tmp_path: Path) -> None:
    line = '{"file": "baseline/agent-1.stderr.log", "offset": 0, "content": "YQ=="}'
    with pytest.raises(HarnessError):
        await delivered(tmp_path, PRINTS, line)
    assert (tmp_path / "out" / "baseline" / "agent-1.stderr.log").read_text() == "a"


async def test_a_benchmark_may_print_and_its_files_may_grow(
    tmp_path: Path, loud: FreshInterpreters
) -> None:
    deliveries = list[tuple[str, str]]()

    async def deliver(delivery: str) -> None:
        deliveries.append((delivery, (tmp_path / "out" / "a" / "file").read_text()))

    await loud("job", deliver)

    assert deliveries == [("job half", "half"), ("job half and more", "half and more")]
    assert [path.name for path in (tmp_path / "out" / "a").iterdir()] == ["file"]


async def test_what_an_interpreter_leaves_that_dies_is_removed_by_the_next_start(
    tmp_path: Path, loud: FreshInterpreters
) -> None:
    async def deliver(_: str) -> None:
        pass

    with pytest.raises(HarnessError, match="ended with exit code -9"):
        await loud("die", deliver)
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} <= {"loud.py", "__pycache__", "out"}
