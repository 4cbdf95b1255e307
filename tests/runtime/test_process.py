"""What the process rule promises, on real processes. The child's child sleeps for 30 s."""

import os
import signal
import sys
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import pytest

from swarm_bench.core.errors import ProcessLost, StoreError
from swarm_bench.core.outcome import StopReason
from swarm_bench.runtime.process import Command, ProcessResult, background, capture, run
from swarm_bench.runtime.sink import Output
from tests.processes import tagged

pytestmark = pytest.mark.anyio
SLEEPER = "import time; time.sleep(30)"


def agent(*, stays: bool, own_session: bool) -> tuple[str, ...]:
    session = "start_new_session=True" if own_session else ""
    return (
        sys.executable,
        "-c",
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}], {session})\n"
        "print('hello', flush=True)\n" + ("time.sleep(30)" if stays else ""),
    )


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        if holds():
            return
        await anyio.sleep(0.02)
    raise AssertionError("it did not come to hold")


class Bench:
    """Runs commands in a folder and remembers what they printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tag = uuid.uuid4().hex
        self.lines: list[bytes] = []
        self.stop_signal = signal.SIGTERM
        self.stop_at: bytes | None = None
        """A line after which the tree is to be stopped, as for a turn limit."""

    async def run(
        self, argv: tuple[str, ...], *, timeout: float, grace: float = 0.5, limit: int = 10**9
    ) -> ProcessResult:
        command = Command(
            argv=argv,
            cwd=self.folder,
            env=dict(os.environ),
            tag=self.tag,
            stop_signal=self.stop_signal,
        )
        output = Output(
            stdout=self.folder / f"{self.tag}.out",
            stderr=self.folder / f"{self.tag}.err",
            limit=limit,
            on_line=self.on_line,
        )
        return await run(command, output=output, timeout=timeout, grace=grace)

    def on_line(self, line: bytes) -> StopReason | None:
        self.lines.append(line)
        return "turn-limit" if line == self.stop_at else None

    @property
    def out(self) -> bytes:
        return (self.folder / f"{self.tag}.out").read_bytes()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("own_session", [False, True])
@pytest.mark.parametrize("stays", [False, True])
async def test_nothing_survives(bench: Bench, stays: bool, own_session: bool) -> None:
    started = time.monotonic()
    result = await bench.run(agent(stays=stays, own_session=own_session), timeout=4)
    assert bench.out == b"hello\n"
    assert result.stopped == ("timeout" if stays else None)
    assert tagged(bench.tag) == []
    if not stays:  # it must not be waited for to the time limit
        assert time.monotonic() - started < 4


@pytest.mark.parametrize("own_session", [False, True])
async def test_nothing_survives_a_cancellation(bench: Bench, own_session: bool) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(partial(bench.run, agent(stays=True, own_session=own_session), timeout=60))
        await until(lambda: bench.lines == [b"hello"])
        group.cancel_scope.cancel()
    assert tagged(bench.tag) == []


async def test_nothing_survives_whoever_watches_the_lines_and_fails(bench: Bench) -> None:
    def fail(line: bytes) -> StopReason | None:
        raise StoreError(line.decode())

    bench.on_line = fail  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="hello"):
        await bench.run(agent(stays=True, own_session=True), timeout=15)
    assert tagged(bench.tag) == []


async def test_last_words_are_kept(bench: Bench) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *a: (print('last', flush=True), sys.exit(7)))\n"
        "print('up', flush=True)\ntime.sleep(30)"
    )
    result = await bench.run(python(code), timeout=3)
    assert (bench.out, result.returncode, result.stopped) == (b"up\nlast\n", 7, "timeout")


async def test_a_deaf_and_noisy_child_is_stopped(bench: Bench) -> None:
    code = (
        "import signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "while True: sys.stdout.write('x' * 65536); time.sleep(0.001)"
    )
    result = await bench.run(python(code), timeout=3)
    assert (result.returncode, result.stopped) == (-9, "timeout")


async def test_big_output_is_whole(bench: Bench) -> None:
    result = await bench.run(python("print('x' * 20_000_000)"), timeout=15)
    assert (len(bench.out), result.returncode, result.stopped) == (20_000_001, 0, None)


async def test_twenty_at_once_leave_nothing(tmp_path: Path) -> None:
    benches = [Bench(tmp_path) for _ in range(20)]
    async with anyio.create_task_group() as group:
        for bench in benches:
            group.start_soon(partial(bench.run, agent(stays=True, own_session=True), timeout=3))
    assert not any(tagged(bench.tag) for bench in benches)


async def test_output_beyond_the_limit_ends_the_run(bench: Bench) -> None:
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    result = await bench.run(python(code), timeout=15, limit=100_000)
    assert (result.stopped, len(bench.out)) == ("output-limit", 100_000)


async def test_lines_are_handed_over_whole(bench: Bench) -> None:
    code = (
        "import sys, time\nsys.stdout.write('a'); sys.stdout.flush(); time.sleep(.2)\n"
        "sys.stdout.write('b\\nc\\nrest'); sys.stdout.flush()"
    )
    await bench.run(python(code), timeout=10)
    assert bench.lines == [b"ab", b"c"]
    assert bench.out == b"ab\nc\nrest"


async def test_a_line_that_is_too_long_is_stored_and_not_handed_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarm_bench.runtime.sink.LONGEST_LINE", 1000)
    await bench.run(python("print('a' * 5000); print('b')"), timeout=10)
    assert bench.lines == [b"b"]
    assert len(bench.out) == 5003


async def test_a_captured_command_leaves_no_child_behind(tmp_path: Path) -> None:
    tag = uuid.uuid4().hex
    command = Command(
        argv=agent(stays=False, own_session=True), cwd=tmp_path, env=dict(os.environ), tag=tag
    )
    started = time.monotonic()
    done = await capture(command, b"x" * 1_000_000, grace=0.5)  # which nobody reads
    assert (done.returncode, done.stdout) == (0, b"hello\n")
    assert tagged(tag) == []
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("argv", [("no-such-program-here",), ("nul\0byte",)])
async def test_a_program_that_cannot_start_is_named(bench: Bench, argv: tuple[str, ...]) -> None:
    with pytest.raises(ProcessLost, match="could not be started"):
        await bench.run(argv, timeout=1)


async def test_a_background_process_ends_with_its_block(tmp_path: Path) -> None:
    tag = uuid.uuid4().hex
    command = Command(
        argv=agent(stays=True, own_session=True), cwd=tmp_path, env=dict(os.environ), tag=tag
    )
    log = tmp_path / "log"
    async with background(command, log=log, secrets=(), grace=0.5):
        await until(lambda: b"hello" in log.read_bytes())
        assert len(tagged(tag)) == 2
    assert tagged(tag) == []


async def test_a_log_holds_no_secret_and_the_last_words(tmp_path: Path) -> None:
    talks = python(
        "import os, signal, sys, time\n"
        "def end(number, frame):\n"
        "    os.write(2, b'ends with key-of-mine')\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "os.write(1, b'begins with key-')\n"
        "time.sleep(0.1)\n"
        "os.write(2, b'of-mine\\n')\n"
        "time.sleep(30)\n"
    )
    command = Command(argv=talks, cwd=tmp_path, env=dict(os.environ), tag=uuid.uuid4().hex)
    log = tmp_path / "log"
    with anyio.CancelScope() as interrupted:
        async with background(command, log=log, secrets=("key-of-mine",)):
            await until(lambda: b"\n" in log.read_bytes())
            interrupted.cancel()
    assert log.read_bytes() == b"begins with (not stored)\nends with (not stored)"


LAST_WORDS = python(
    "import signal, sys, time\n"
    "def end(number, frame):\n"
    "    print('ended by', signal.Signals(number).name, flush=True)\n"
    "    sys.exit(0)\n"
    "signal.signal(signal.SIGINT, end)\n"
    "signal.signal(signal.SIGTERM, end)\n"
    "print('ready', flush=True)\n"
    "time.sleep(30)\n"
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_program_is_asked_to_end_in_the_way_it_honours(
    bench: Bench, number: signal.Signals
) -> None:
    bench.stop_signal = number
    result = await bench.run(LAST_WORDS, timeout=1)
    assert result == ProcessResult(returncode=0, stopped="timeout")
    assert bench.lines == [b"ready", f"ended by {number.name}".encode()]


async def test_whoever_watches_the_lines_can_stop_the_tree(bench: Bench) -> None:
    bench.stop_at = b"ready"
    result = await bench.run(LAST_WORDS, timeout=20)
    assert result == ProcessResult(returncode=0, stopped="turn-limit")
    assert bench.lines == [b"ready", b"ended by SIGTERM"]
