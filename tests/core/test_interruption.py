"""A signal ends the command with 130 and without a traceback, whenever it comes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BEFORE = """
import os, signal, sys
from swarm_bench.core import interruption
interruption.listen()
def interrupt(number=signal.SIGTERM):
    os.kill(os.getpid(), number)
"""
SWALLOWED = """
class Archive:
    def __del__(self):
        interrupt()
Archive()
assert interruption._signals
print("went on", flush=True)
"""
IN_A_LOOP = """
import anyio
async def work():
    try:
        await anyio.sleep(20)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.1)
        print("put away", flush=True)
async def importing():
    interrupt()
    for _ in range(1000): pass
    print("imported", flush=True)
    await anyio.sleep(20)
async def main():
    async with anyio.create_task_group() as group:
        group.start_soon(work)
        await anyio.sleep(0.1)
        group.start_soon(importing)
try:
    with interruption.cancelling():
        anyio.run(main)
except KeyboardInterrupt:
    sys.exit(130)
"""
TWICE_IN_A_LOOP = """
import anyio, asyncio
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a script's background
async def main():
    await anyio.to_thread.run_sync(int)  # by a thread that waits for more
    asyncio.get_running_loop().call_soon(interrupt)
    try:
        await anyio.sleep(20)
    finally:
        interrupt()
try:
    with interruption.cancelling():
        anyio.run(main)
except KeyboardInterrupt:
    interruption.leave(1)
"""
WHILE_A_CLASS_IS_MADE = """
from functools import cached_property
class Slow(cached_property):
    def __set_name__(self, owner, name):
        interrupt()
class Owner:
    member = Slow(len)
"""
ENDING = """
import atexit
atexit.register(interrupt)
interruption.leave(0)
"""


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (SWALLOWED, "went on\n"),
        (IN_A_LOOP, "imported\nput away\n"),
        (TWICE_IN_A_LOOP, ""),
        (WHILE_A_CLASS_IS_MADE, ""),
        (ENDING, ""),
    ],
    ids=["swallowed", "in a loop", "twice in a loop", "while a class is made", "ending"],
)
def test_a_signal_is_remembered(code: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEFORE + code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (130, printed), done.stderr
    assert "Group" not in done.stderr
    assert "Traceback" not in done.stderr


CALL = """
import sys
from swarm_bench.cli import main

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "swarm_bench.cli.commands":  # the first module that a call imports
            print("ready", flush=True)

sys.meta_path.insert(0, Finder())
main.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_moment_of_a_call_gives_130(tmp_path: Path, number: int) -> None:
    """While modules are imported, while it works, and while it ends."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    codes = set()
    for delay in (0.0, 0.05, 0.1, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-c", CALL, "modes"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
        assert b"Traceback" not in err
        codes.add(process.returncode)
    assert 130 in codes <= {130, 0}  # it may have ended before


FIRST = """
import sys, time

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "swarm_bench.core":  # the first folder that the entry module needs
            print("ready", flush=True)
            while True:  # a signal just before a long sleep is noticed only after it
                time.sleep(0.01)

sys.meta_path.insert(0, Finder())
from swarm_bench.cli.main import main
main()
"""


def test_an_interruption_of_our_first_import_is_silent() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", FIRST], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, b"")
