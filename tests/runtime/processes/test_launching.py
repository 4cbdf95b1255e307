"""Programs end with us, and get the limits that we were given."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from swarm_bench.core.errors import ProcessLost
from swarm_bench.runtime.process import Command, capture, run
from swarm_bench.runtime.processes import launching
from swarm_bench.runtime.sink import Output

ORCHESTRATOR = """
import anyio, os, sys, threading
from pathlib import Path
from swarm_bench.runtime.process import Command, background

async def main():
    worker = threading.Thread(target=lambda: None)
    command = Command(argv=("sleep", "25"), cwd=Path("."), env=dict(os.environ), tag="orphaned")
    async with background(command, log=Path(sys.argv[1]), secrets=()) as process:
        worker.start()
        worker.join()
        await anyio.to_thread.run_sync(lambda: None)
        print(process.pid, flush=True)
        await anyio.sleep(25)

anyio.run(main)
"""


def test_what_we_start_ends_with_us_and_not_with_a_worker_thread(tmp_path: Path) -> None:
    ours = subprocess.Popen(
        [sys.executable, "-c", ORCHESTRATOR, str(tmp_path / "log")], stdout=subprocess.PIPE
    )
    assert ours.stdout is not None
    with ours:
        agent = psutil.Process(int(ours.stdout.readline()))
        threading.Event().wait(0.3)
        assert agent.is_running()
        ours.send_signal(signal.SIGKILL)
    assert psutil.wait_procs([agent], timeout=5)[1] == []


LEAVING = """
import os, subprocess, sys, time
sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(25)", sys.argv[1]]
subprocess.Popen(sleep, start_new_session=True)
subprocess.Popen(sleep)
subprocess.Popen(sleep, env={})
print("ready", flush=True)
time.sleep(25)
"""
GUARDED = """
import anyio, os, sys
from pathlib import Path
from swarm_bench.runtime.ownership import OWNER, this_owner
from swarm_bench.runtime.process import Command, background
from swarm_bench.runtime.processes.guard import run_guard

async def main():
    argv = (sys.executable, "-I", "-S", "-c", sys.argv[2], sys.argv[1])
    command = Command(argv=argv, cwd=Path("."), env=dict(os.environ), tag="guarded")
    async with background(command, log=Path(sys.argv[1]), secrets=()):
        while not Path(sys.argv[1]).read_text():
            await anyio.sleep(0.02)
        print("ready", flush=True)
        await anyio.sleep(0.1 if sys.argv[3:] else 25)

with run_guard(f"{OWNER}={this_owner()}"):
    anyio.run(main)
"""


def _with(word: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if word in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@pytest.mark.parametrize("killed", [True, False])
def test_what_agents_started_ends_with_us_too(tmp_path: Path, killed: bool) -> None:
    """One of them took a session of its own."""
    log = str(tmp_path / "log")
    words = [sys.executable, "-c", GUARDED, log, LEAVING, *([] if killed else ["in order"])]
    ours = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert ours.stdout is not None
    with ours:
        ours.stdout.readline()
        (guard,) = [child for child in psutil.Process(ours.pid).children() if _is_guard(child)]
        if killed:
            assert len(_with(log)) == 5
            _wait_until_deaf(guard)
            guard.send_signal(signal.SIGINT)  # to which it is deaf
            ours.send_signal(signal.SIGKILL)
    assert psutil.wait_procs([guard, *_with(log)], timeout=5)[1] == []


def _wait_until_deaf(guard: psutil.Process) -> None:
    """Wait for the guard's own start, which takes its time on a busy machine."""
    status = Path(f"/proc/{guard.pid}/status")
    for _ in range(500):
        ignored = int(status.read_text().partition("SigIgn:")[2].split()[0], 16)
        if ignored & 1 << (signal.SIGINT - 1):
            return
        time.sleep(0.01)
    raise AssertionError("the guard hears Ctrl-C")


def _is_guard(process: psutil.Process) -> bool:
    return any(word.endswith("guard.py") for word in process.cmdline())


@pytest.mark.anyio
async def test_a_program_whose_interpreter_is_missing_did_not_start(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    output = Output(stdout=tmp_path / "out", stderr=tmp_path / "err", limit=1000)
    command = Command(argv=("./agent",), cwd=tmp_path, env=dict(os.environ), tag="no-interpreter")
    with pytest.raises(ProcessLost, match=r"agent could not be started: No such file"):
        await run(command, output=output, timeout=5)


@pytest.mark.anyio
async def test_we_take_all_descriptors_and_a_child_gets_what_we_were_given(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    launching.first_limit.cache_clear()
    try:
        launching.raise_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
        command = Command(
            argv=("sh", "-c", "sleep 0.2; ulimit -Sn; ulimit -Hn"),
            cwd=tmp_path,
            env=dict(os.environ),
            tag="limits",
        )
        assert (await capture(command)).stdout.split() == [b"512", str(hard).encode()]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        launching.first_limit.cache_clear()


WAITING = """
import anyio, threading
from swarm_bench.runtime.processes.launching import wait_without_threads

async def main():
    async with await anyio.open_process(["sleep", "0.1"]):
        print(threading.active_count())

wait_without_threads()
anyio.run(main)
"""


def test_no_thread_waits_for_a_process() -> None:
    """In a process of its own, of which it is a property."""
    ran = subprocess.run(
        [sys.executable, "-c", WAITING], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "1\n"


def test_no_launcher_no_change(tmp_path: Path) -> None:
    missing = ("no-such-program", "x")
    assert launching.mortal(missing, {"PATH": "/nowhere"}, tmp_path) == missing
    assert launching.mortal(("sh",), {"PATH": "/bin:/usr/bin"}, tmp_path)[-1] == "sh"


def test_a_launcher_is_told_from_its_program() -> None:
    words = launching.mortal(("sh", "-c", "x"), dict(os.environ), Path.cwd())
    assert launching.is_launching(words)
    assert not launching.is_launching(("sh", "-c", "x"))
