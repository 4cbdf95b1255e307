"""The command at a terminal: the brief in the place of the summary, and three lines on Ctrl-C."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

import pytest
import yaml

from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench, processes_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SCRIPTED = ("--agent", "swarm_bench.agents.scripted:Scripted", "--model", "script.yaml")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A command at a terminal of 80 columns."""

    def __init__(self, bench: Bench, *arguments: str) -> None:
        self._reader, writer = pty.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        self.process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=bench.folder,
            env={**bench.environment(), "TERM": "xterm-256color"},
            stdin=writer,
            stdout=writer,
            stderr=writer,
        )
        os.close(writer)
        self.printed = b""
        self._following = threading.Thread(target=self._follow)
        self._following.start()

    def _follow(self) -> None:
        try:
            while part := os.read(self._reader, 4096):
                self.printed += part
        except OSError:  # how the end of a terminal is read
            return

    def lines(self) -> list[str]:
        """Wait for the end; what is drawn over is in it too."""
        self.process.wait(timeout=100)
        self._following.join(timeout=10)
        os.close(self._reader)
        return ESCAPE.sub("", self.printed.decode()).replace("\r", "").splitlines()


def script(bench: Bench, *steps: object) -> None:
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": list(steps)}]))


def test_a_person_sees_the_brief_and_a_pipe_gets_the_summary(bench: Bench) -> None:
    script(bench, {"answer": {"text": "a.py:1", "turns": 2}})
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED, "--agents", "2",
        "--runs", "1", "--output", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out == (bench.folder / "out" / "summary.md").read_text()
    terminal = Terminal(bench, "report", "out")
    lines = terminal.lines()
    assert terminal.process.returncode == 0
    assert lines[0] == "Swarm Benchmark Summary"
    assert lines[-1] == "Results: out"
    assert "details" not in " ".join(lines)
    assert len(lines) < 25
    assert b"\x1b[1m" in terminal.printed


def wait_for_processes(bench: Bench, number: int) -> None:
    experiment = bench.folder / "out" / "experiment.json"
    for _ in range(600):
        if experiment.exists() and len(processes_of(bench.experiment("out")["session"])) >= number:
            return
        time.sleep(0.05)
    raise AssertionError(f"there were never {number} agents")


def test_who_interrupts_reads_three_lines(bench: Bench, golden: Sentences) -> None:
    script(bench, {"sleep": 60}, {"answer": {"text": "a.py:1", "turns": 2}})
    terminal = Terminal(
        bench, "compare", "--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED,
        "--agents", "2", "--runs", "1", "--output", "out", "--quiet",
    )  # fmt: skip
    wait_for_processes(bench, 2)
    terminal.process.send_signal(signal.SIGINT)
    lines = terminal.lines()
    assert terminal.process.returncode == 130
    golden("\n".join(lines))
    assert (bench.folder / "out" / "summary.md").is_file()
