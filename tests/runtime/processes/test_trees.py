"""Nothing escapes from a tree that ends: each way out with real processes, found afterwards by a
word on their command lines that is in no environment."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import psutil
import pytest

from swarm_bench.runtime.process import Command, run
from swarm_bench.runtime.processes.trees import FAMILY, end_strays
from swarm_bench.runtime.sink import Output
from tests.runtime.containers import container

pytestmark = pytest.mark.anyio

SETSID = "subprocess.Popen(sleeper, start_new_session=True)"
EMPTIED = "subprocess.Popen(sleeper, start_new_session=True, env={})"
DOUBLE_FORK = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvpe(sleeper[0], sleeper, {})
    os._exit(0)
os.wait()
"""
CHAIN = """
if os.fork() == 0:
    while os.getppid() != 1 and time.monotonic() < {end}:
        {leave}
        if os.fork() > 0:
            os._exit(0)
    os._exit(0)
"""
NOHUP = """
subprocess.run(["sh", "-c", 'nohup "$@" >/dev/null 2>&1 &', "sh", *sleeper])
"""
FORKS = CHAIN.format(end="end", leave="pass")
FORKS_AWAY = CHAIN.format(end="end", leave="os.setsid()")


@dataclass(frozen=True)
class Agent:
    """A program that lets something escape."""

    folder: Path
    word: str

    async def run(self, escape: str, *, stays: float = 0) -> None:
        """To its end, or for as many seconds as it `stays`."""
        code = (
            "import os, subprocess, sys, time\n"
            "end = time.monotonic() + 20\n"
            f"sleeper = [sys.executable, '-I', '-c', 'import time; time.sleep(20)', {self.word!r}]"
            f"\n{escape}\ntime.sleep({20 if stays else 0})"
        )
        command = Command(
            argv=(sys.executable, "-I", "-c", code, self.word),
            cwd=self.folder,
            env=dict(os.environ),
            tag=self.word,
        )
        out, err = self.folder / f"{self.word}.out", self.folder / f"{self.word}.err"
        output = Output(stdout=out, stderr=err, limit=10**6)
        await run(command, output=output, timeout=stays or 15, grace=2)
        assert err.read_bytes() == b""

    def escaped(self) -> list[int]:
        found = []
        for process in psutil.process_iter():
            try:
                if self.word in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.pid)
            except psutil.Error:
                pass
        return found


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    agent = Agent(tmp_path, uuid.uuid4().hex)
    yield agent
    for pid in agent.escaped():
        psutil.Process(pid).kill()


@pytest.mark.parametrize(
    "escape", [SETSID, EMPTIED, DOUBLE_FORK, FORKS, FORKS_AWAY, NOHUP],
    ids=["setsid", "emptied", "double fork", "chain", "chain of sessions", "nohup"],
)  # fmt: skip
async def test_nothing_escapes_from_an_agent_that_ends(agent: Agent, escape: str) -> None:
    await agent.run(escape)
    assert agent.escaped() == []


async def test_nothing_escapes_from_an_agent_that_is_stopped(agent: Agent) -> None:
    await agent.run("\n".join((SETSID, EMPTIED, DOUBLE_FORK, NOHUP)), stays=1)
    assert agent.escaped() == []


LEAVING = "import os, time; print(flush=True); os.read(0, 1); os.setsid(); time.sleep(20)"


async def test_what_leaves_while_another_dies_is_found_by_a_later_look(agent: Agent) -> None:
    held, write = os.pipe()
    python = [sys.executable, "-I", "-S", "-c"]
    with FAMILY.hold_tree(agent.word) as tree:
        stays = subprocess.Popen(  # noqa: ASYNC220
            [*python, "import time; time.sleep(20)", agent.word],
            stdout=write,
            start_new_session=True,
        )
        os.close(write)
        leaves = subprocess.Popen(  # noqa: ASYNC220
            [*python, LEAVING, agent.word], stdin=held, stdout=subprocess.PIPE
        )
        os.close(held)
        assert leaves.stdout is not None
        with leaves.stdout:
            leaves.stdout.readline()
        await end_strays(tree, 10)
    assert agent.escaped() == []
    stays.wait()
    leaves.wait()


async def test_an_escape_costs_another_agent_nothing(tmp_path: Path) -> None:
    """What one lets escape is not known from what the other does; it ends with both."""
    honest, hostile = (Agent(tmp_path, uuid.uuid4().hex) for _ in range(2))

    async def let_go() -> None:
        for _ in range(200):
            if len(honest.escaped()) == 3:
                break
            await anyio.sleep(0.02)
        (tmp_path / "go").touch()

    async with anyio.create_task_group() as group:
        group.start_soon(partial(honest.run, f"{SETSID}\n{DOUBLE_FORK}", stays=5))
        group.start_soon(let_go)
        await hostile.run(f"{EMPTIED}\nwhile not os.path.exists('go'): time.sleep(0.01)")
        assert len(honest.escaped()) == 3
    assert [*honest.escaped(), *hostile.escaped()] == []


WITHOUT_SUBREAPER = """
import anyio, psutil, subprocess
from swarm_bench.runtime.processes import trees
trees._adopts_orphans = lambda: False  # as where the kernel has no such thing

async def main():
    with trees.FAMILY.hold_tree("mine") as tree:
        subprocess.run(["setsid", "-f", "sleep", "20"], env={})
        subprocess.run(["setsid", "-f", "sleep", "30"], env={"SWARM_BENCH_TRIAL": "mine"})
        await trees.end_strays(tree, 5)

anyio.run(main)
for process in psutil.process_iter():
    if process.name() == "sleep" and process.status() != "zombie":
        print(*process.cmdline())
"""


async def test_without_a_subreaper_what_has_no_tag_may_be_anybodys() -> None:
    """In a container, where the test would find nothing else to kill."""
    shell = [*container(), "sh", "-c", '"$@"; exit $?', "sh"]  # takes the orphans
    ran = subprocess.run(  # noqa: ASYNC221
        [*shell, sys.executable, "-c", WITHOUT_SUBREAPER],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "sleep 20\n"


async def test_one_look_at_all_processes_serves_all_who_wait_for_one() -> None:
    """A measurement with room: looks of their own would take a hundred times the time of one."""

    async def seconds(count: int) -> float:
        with ExitStack() as stack:
            trees = [stack.enter_context(FAMILY.hold_tree(f"gone-{one}")) for one in range(count)]
            began = time.process_time()
            async with anyio.create_task_group() as group:
                for tree in trees:
                    group.start_soon(end_strays, tree, 10)
            return time.process_time() - began

    alone = await seconds(1)
    assert await seconds(100) < 10 * alone + 0.05


async def test_orphans_that_ended_are_put_away_and_no_exit_code_of_others_is_taken(
    agent: Agent,
) -> None:
    """A process that a library of ours waits for is in a session of its own, too."""
    of_other_tests = psutil.Process().children()
    with FAMILY.hold_tree("of a library"):
        others = subprocess.Popen(  # noqa: ASYNC220
            ["sh", "-c", "exit 7"], start_new_session=True
        )
        await agent.run("subprocess.run(['sh', '-c', 'setsid -f true'])")
        assert others.wait() == 7
    await agent.run("subprocess.run(['sh', '-c', 'setsid -f true'])")
    await agent.run("")
    mine = set(psutil.Process().children()) - {*of_other_tests}
    assert not any(child.status() == psutil.STATUS_ZOMBIE for child in mine)
