"""Ten programs that want more than an environment may give them, and what must come of them."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import anyio

from swarm_bench.core.roles.execution import PYTHON, Code, Environment, Execution
from swarm_bench.runtime.processes import procfs
from swarm_bench.runtime.untrusted import read
from swarm_bench.testing.contracts import expect

_SECONDS = 2.0
_MEMORY_MB = 160
_AT_ONCE = 2
_SECRET = "/etc/shadow"
_UNCHANGED = "as it was"
_LARGEST = 1 << 20
_GONE_SECONDS = 2.0
"""Seconds that a process may take to die."""
_STAYS = "import os, sys, time\nwhile True: time.sleep(1)"


@dataclass(frozen=True, kw_only=True)
class _Hostile:
    description: str
    text: str
    holds: Callable[[Execution], bool]
    timeout: float = _SECONDS


def _expect_stop(*limits: str) -> Callable[[Execution], bool]:
    return lambda done: done.stopped in limits


def _says(text: str) -> Callable[[Execution], bool]:
    return lambda done: done.returncode == 0 and done.stdout.strip() == text


def _has_secret(done: Execution) -> bool:
    try:
        secret = read(Path(_SECRET), _LARGEST).decode(errors="replace").strip()
    except OSError:
        return False
    return bool(secret) and secret in done.stdout


_EVERYWHERE = (
    _Hostile(
        description="many processes are too many",
        text="import os, time\nfor _ in range(7): os.fork()\ntime.sleep(60)",
        holds=_expect_stop("processes"),
    ),
    _Hostile(
        description="nobody has 3 GB of memory",
        text="every = [bytearray(10**8) for _ in range(30)]",
        holds=lambda done: done.stopped == "memory" or "MemoryError" in done.stderr,
    ),
    _Hostile(
        description="memory of many processes counts together",
        text=(
            "import os, time\n"
            "for _ in range(3): os.fork()\n"
            "own = bytearray(b'x') * (60 * 10**6)\ntime.sleep(60)"
        ),
        holds=_expect_stop("memory"),
    ),
    _Hostile(
        description="output without end is cut",
        text="while True: print('x' * 1000)",
        holds=_expect_stop("output"),
    ),
    _Hostile(
        description="whoever sleeps takes time",
        text="import time\ntime.sleep(600)",
        holds=_expect_stop("time"),
        timeout=0.5,
    ),
    _Hostile(
        description="daemons do not outlive their program",
        text=(
            "import os, sys\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    if os.fork() == 0:\n"
            f"        stays = [sys.executable, '-c', {_STAYS!r}, *sys.argv[1:]]\n"
            "        os.execve(sys.executable, stays, {})\n"
            "    os._exit(0)\n"
            "os.wait()\nprint('gone')"
        ),
        holds=_says("gone"),
    ),
)
_CONFINED = (
    _Hostile(
        description="neither secrets nor the network of the machine can be reached",
        text=(
            "import socket, sys\n"
            "for address in (('127.0.0.1', int(sys.argv[3])), ('192.0.2.1', 80)):\n"
            "    try: socket.create_connection(address, 1).send(b'x')\n"
            "    except OSError: print('refused')\n"
            f"try: print(open({_SECRET!r}).read())\n"
            "except OSError: pass\n"
        ),
        holds=lambda done: done.stdout.split()[:2] == ["refused"] * 2 and not _has_secret(done),
    ),
    _Hostile(
        description="its own folder is not larger than it may be",
        text=(
            "import os\nsize = 0\n"
            "try:\n"
            "    for name in range(3000):\n"
            "        with open(str(name), 'wb') as file: size += file.write(b'x' * 99_000)\n"
            "except OSError: pass\n"
            "print(size < 2 * 10**8)"
        ),
        holds=_says("True"),
        timeout=10,
    ),
    _Hostile(
        description="signals to the first process end nothing",
        text=(
            "import os, signal\n"
            "for number in (signal.SIGKILL, signal.SIGSTOP):\n"
            "    try: os.kill(1, number)\n"
            "    except OSError: pass\n"
            "print('alive')"
        ),
        holds=_says("alive"),
    ),
    _Hostile(
        description="what code may read, it cannot change",
        text=(
            "import os, sys\n"
            "own, other = (os.path.join(sys.argv[2], it) for it in ('file', 'other'))\n"
            "for act in (\n"
            "    lambda: open(own, 'a'), lambda: open(other, 'x'), lambda: os.remove(own),\n"
            "    lambda: os.chmod(own, 0o777), lambda: os.rename(own, other),\n"
            "):\n"
            "    try: act()\n"
            "    except OSError: continue\n"
            "    print('changed')\n"
            "print(open(own).read())"
        ),
        holds=_says(_UNCHANGED),
    ),
)
"""Programs that would do what they want where nothing keeps them from it."""


async def check_hostile(environment: Environment) -> None:
    """Check that ten hostile programs get no more than they may, and that nothing of them is left.
    Raises `AssertionError`."""
    with TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        visible, mark = Path(folder).resolve(), f"hostile-{uuid4().hex}"
        port = str(server.getsockname()[1])
        (visible / "file").write_text(_UNCHANGED)
        limiter = anyio.CapacityLimiter(_AT_ONCE)

        async def check(program: _Hostile) -> None:
            code = Code(
                argv=(PYTHON, "-I", "-S", "-c", program.text, mark, folder, port),
                visible=(visible,),
                timeout=program.timeout,
                memory_mb=_MEMORY_MB,
                output_bytes=100_000,
            )
            async with limiter:
                done = await environment.run(code)
            # what it read is for nobody
            outcome = f"it ended with {done.returncode}, stopped by {done.stopped}"
            expect(program.holds(done), f"{program.description} ({outcome})")

        try:
            async with anyio.create_task_group() as tasks:
                for program in (*_EVERYWHERE, *(_CONFINED if environment.confines else ())):
                    tasks.start_soon(check, program)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        await _expect_gone(mark)
        if environment.confines:
            contents = [(entry.name, read(entry, _LARGEST).decode()) for entry in visible.iterdir()]
            expect(contents == [("file", _UNCHANGED)], "what code may read, it cannot change")


async def _expect_gone(mark: str) -> None:
    with anyio.move_on_after(_GONE_SECONDS):
        while _running(mark):  # noqa: ASYNC110  # nobody tells when it has ended
            await anyio.sleep(0.05)
    expect(not _running(mark), "no process of a program outlives it")


def _running(mark: str) -> list[int]:
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    pids_of_mark = [pid for pid in pids if mark in procfs.arguments(pid)]
    return [pid for pid in pids_of_mark if (stat := procfs.stat(pid)) and not stat.dead]
