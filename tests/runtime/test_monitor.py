"""What runs in a tree is seen by its arguments, each once."""

import subprocess
import sys
from collections.abc import Iterator
from os import environ

import anyio
import pytest

from swarm_bench.runtime.monitor import LONGEST_ARGUMENT, TreeMonitor
from swarm_bench.runtime.ownership import TAG
from swarm_bench.runtime.processes.trees import FAMILY

pytestmark = pytest.mark.anyio
CODE = "import time; time.sleep(30)"


@pytest.fixture
def sleeping() -> Iterator[None]:
    long = "x" * 2 * LONGEST_ARGUMENT
    # A shell is seen first, and then the program that it turns into.
    inner = ["sh", "-c", f"sleep 0.1; exec {sys.executable} -I -c '{CODE}'"]
    with FAMILY.hold_tree("monitored/one"), FAMILY.hold_tree("monitored/two"):
        started = [
            subprocess.Popen(words, env={**environ, TAG: tag})
            for tag, words in (
                ("monitored/one", inner),
                ("monitored/two", [sys.executable, "-I", "-c", CODE, long]),
            )
        ]
        yield
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.usefixtures("sleeping")
async def test_the_programs_of_a_tree_are_seen() -> None:
    monitor = TreeMonitor()
    wanted = (sys.executable, "-I", "-c", CODE)
    with anyio.move_on_after(1.5):
        await monitor.watch()
    assert wanted in monitor.commands("monitored/one")
    (two,) = monitor.commands("monitored/two")
    assert two[:4] == wanted
    assert len(two[4]) == LONGEST_ARGUMENT
    assert monitor.commands("monitored/three") == ()
