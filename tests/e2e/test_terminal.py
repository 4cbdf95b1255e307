"""The command at a terminal: the brief in the place of the summary, and three lines on Ctrl-C."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping

import pytest
import yaml

from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench, processes_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SCRIPTED = ("--agent", "swarm_bench.agents.scripted:Scripted", "--model", "script.yaml")
ERASED = re.compile(r"[^\n]*\x1b\[K")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def _control() -> None:
    """Make the terminal that of a session of its own, so that Ctrl-C interrupts."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A command at a terminal."""

    def __init__(
        self,
        bench: Bench,
        *arguments: str,
        columns: int = 80,
        rows: int = 40,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._rows = rows
        self._reader, writer = pty.openpty()
        self.resize(columns)
        self.process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=bench.folder,
            env={**bench.environment(), "TERM": "xterm-256color", **(environment or {})},
            stdin=writer,
            stdout=writer,
            stderr=writer,
            preexec_fn=_control,
        )
        os.close(writer)
        self.printed = b""
        self._following = threading.Thread(target=self._follow)
        self._following.start()

    def press(self, keys: bytes) -> None:
        os.write(self._reader, keys)

    def resize(self, columns: int) -> None:
        size = struct.pack("HHHH", self._rows, columns, 0, 0)
        fcntl.ioctl(self._reader, termios.TIOCSWINSZ, size)

    def _follow(self) -> None:
        try:
            while part := os.read(self._reader, 4096):
                self.printed += part
        except OSError:  # how the end of a terminal is read
            return

    def text(self) -> str:
        """Wait for the end; what is drawn over is in it too."""
        self.process.wait(timeout=100)
        self._following.join(timeout=10)
        os.close(self._reader)
        return self.printed.decode().replace("\r", "")

    def lines(self) -> list[str]:
        """Wait for the end; without a line that said what the call is at, and was erased."""
        return ESCAPE.sub("", ERASED.sub("", self.text())).splitlines()


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


@pytest.mark.parametrize("command", ["modes", "benchmarks"])
def test_a_listing_breaks_no_word(bench: Bench, command: str) -> None:
    piped = bench.call(command).out
    lines = Terminal(bench, command, columns=60).lines()
    assert max(map(len, lines)) <= 60
    assert " ".join(lines).split() == piped.split()


def test_a_page_and_a_plan_break_no_word_and_a_plan_ends_with_what_decides(bench: Bench) -> None:
    script(bench, {"answer": {"text": "a.py:1", "turns": 2}})
    repo = ("--repo", str(bench.repo))
    checked = Terminal(bench, "tasks", "check", "exploration", *repo, columns=60).lines()
    assert max(map(len, checked)) <= 60
    assert not any(line.startswith("#") for line in checked)
    words = ("compare", *repo, "--modes", "baseline", *SCRIPTED, "--runs", "40", "--plan")
    terminal = Terminal(bench, *words, columns=100, rows=30)
    plan = terminal.lines()
    assert terminal.process.returncode == 0
    assert max(map(len, plan)) <= 100
    assert len(bench.call(*words).out.splitlines()) > 60
    assert plan[-1].startswith("Time: ")
    assert any(line.startswith("Trials: ") for line in plan[-24:])
    assert "gets more of them" in " ".join(plan)


def wait_for_processes(bench: Bench, number: int) -> None:
    experiment = bench.folder / "out" / "experiment.json"
    for _ in range(600):
        if experiment.exists() and len(processes_of(bench.experiment("out")["session"])) >= number:
            return
        time.sleep(0.05)
    raise AssertionError(f"there were never {number} agents")


OWN_SCREEN, OLD_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
CTRL_C = b"\x03"
CURSOR = b"\x1b[?25h"


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def frames(printed: bytes) -> list[list[str]]:
    """What was drawn on the view's own screen, each time as a whole."""
    drawn = printed.split(OWN_SCREEN)[1].split(OLD_SCREEN)[0].decode().replace("\r", "")
    return [ESCAPE.sub("", frame).splitlines() for frame in drawn.split("\x1b[H")[1:]]


def test_the_live_view_has_a_screen_of_its_own_and_fits_after_a_resize(bench: Bench) -> None:
    script(bench, {"sleep": 60}, {"answer": {"text": "a.py:1", "turns": 2}})
    terminal = Terminal(
        bench, "compare", "--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED,
        "--agents", "2", "--runs", "1", "--output", "out",
    )  # fmt: skip
    wait_for_processes(bench, 2)
    wait_for(lambda: b"0 of 2" in terminal.printed)
    before = len(terminal.printed)
    terminal.resize(40)
    wait_for(lambda: terminal.printed[before:].count(b"0 of 2") > 4)
    terminal.process.send_signal(signal.SIGINT)
    lines = terminal.lines()
    assert terminal.process.returncode == 130
    wide, narrow = frames(terminal.printed)[:3], frames(terminal.printed)[-3:]
    assert max(len(line) for frame in wide for line in frame) > 40
    assert max(len(line) for frame in narrow for line in frame) <= 40
    assert terminal.printed.count(OWN_SCREEN) == terminal.printed.count(OLD_SCREEN) == 1
    after = terminal.printed.split(OLD_SCREEN)[1]
    assert b"of 2 trials have ended" in after
    assert lines[-1].startswith("Continue with: ")


@pytest.mark.parametrize(("columns", "rows"), [(100, 30), (60, 20)])
def test_who_presses_ctrl_c_twice_reads_how_to_continue(
    bench: Bench, columns: int, rows: int, golden: Sentences
) -> None:
    steps = [{"ignore_term": True}, {"print": "deaf"}, {"sleep": 60}]
    script(bench, *steps, {"answer": {"text": "a.py:1", "turns": 2}})
    terminal = Terminal(
        bench, "compare", "--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED,
        "--agents", "1", "--runs", "1", "--output", "out", columns=columns, rows=rows,
    )  # fmt: skip
    wait_for_processes(bench, 1)
    logs = bench.folder / "out"
    wait_for(lambda: any(b"deaf" in log.read_bytes() for log in logs.rglob("*.jsonl")))
    terminal.press(CTRL_C)
    wait_for(lambda: b"interrupted: " in terminal.printed)
    terminal.press(CTRL_C)
    lines = terminal.lines()
    assert terminal.process.returncode == 130
    assert terminal.printed.count(OWN_SCREEN) == terminal.printed.count(OLD_SCREEN) == 1
    after = terminal.printed.split(OLD_SCREEN)[1].decode().splitlines()
    golden("\n".join(filter(None, after)))
    command = lines[-1].partition("swarm-bench ")[2].split()
    assert (command[0], bench.folder / command[-1]) == ("compare", bench.folder / "out")
    script(bench, {"answer": {"text": "a.py:1", "turns": 2}})
    assert bench.call(*command).code == 0


AT_ONCE = """
import os
from swarm_bench.cli.output.live import open_live_view
from swarm_bench.core.events import EndingAtOnce
with open_live_view() as emit:
    emit(EndingAtOnce())
    os.write(2, b"last words")
    os._exit(130)
"""


BEFOREHAND = """
import time
from swarm_bench.cli.output.live import open_live_view
from swarm_bench.core.events import Foresight, WarningRaised
with open_live_view() as emit:
    emit(Foresight(message="chances"))
    emit(WarningRaised(message="a server died"))
    time.sleep(1)
"""


def test_what_a_session_could_show_is_not_said_beside_what_it_showed() -> None:
    drawn, after = screens(BEFOREHAND)
    assert b"chances" in drawn
    assert b"a server died" in drawn
    assert b"a server died" in after
    assert b"chances" not in after


def test_who_ends_a_session_at_once_gets_the_terminal_back() -> None:
    drawn, after = screens(AT_ONCE, 130)
    assert CURSOR in drawn + after
    assert after.endswith(b"last words")


def screens(program: str, code: int = 0) -> tuple[bytes, bytes]:
    """Return what a program drew on a screen of its own, and what it printed then."""
    reader, writer = pty.openpty()
    terminal = {**os.environ, "TERM": "xterm-256color"}
    with subprocess.Popen([sys.executable, "-c", program], stderr=writer, env=terminal) as process:
        os.close(writer)
        printed = b""
        try:
            while part := os.read(reader, 4096):
                printed += part
        except OSError:  # how the end of a terminal is read
            pass
    os.close(reader)
    assert process.returncode == code
    drawn, after = printed.split(OWN_SCREEN)[1].split(OLD_SCREEN)
    return drawn, after


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


@pytest.mark.parametrize("words", [("doctor", "--modes", "baseline"), ("compare", "--help")])
@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_can_be_turned_off(
    bench: Bench, words: tuple[str, ...], environment: dict[str, str], coloured: bool
) -> None:
    printed = Terminal(bench, *words, environment=environment).text()
    assert bool(re.search(r"\x1b\[[\d;]+m", printed)) is coloured


@pytest.mark.parametrize("columns", [100, 40])
def test_doctor_ends_with_whether_it_is_ready_and_breaks_no_word(
    bench: Bench, columns: int
) -> None:
    words = ("doctor", "--repo", str(bench.repo), "--modes", "baseline", "canopy")
    piped = bench.call(*words)
    *checks, empty, last = piped.out.splitlines()
    assert (piped.code, empty) == (0, "")
    warnings = sum(line.startswith("warning ") for line in checks)
    assert last == f"Ready: 0 problems, {warnings} warning{'' if warnings == 1 else 's'}"
    assert not piped.err  # how far it is is for a terminal
    terminal = Terminal(bench, *words, columns=columns)
    # Without what was erased.
    shown = ESCAPE.sub("", ERASED.sub("", terminal.text()))
    assert last in shown.splitlines()
    longest = max(map(len, " ".join(checks).split()))
    assert all(len(line) < max(columns, 9 + longest + 1) for line in shown.splitlines())
    kept = [line for line in shown.split() if not re.search(r"\d", line)]
    assert kept == [word for word in piped.out.split() if not re.search(r"\d", word)]


def test_the_live_view_has_a_line_for_each_node(bench: Bench) -> None:
    terminal = Terminal(
        bench, "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agent", "scout",
        "--agents", "1", "--runs", "4", "--output", "out",
        "--on", "swarm_bench.testing.worker_nodes:TwoNodes", rows=24,
    )  # fmt: skip
    terminal.text()
    assert terminal.process.returncode == 0
    drawn = [[line.rstrip() for line in frame] for frame in frames(terminal.printed)]
    both = [
        frame for frame in drawn
        if any(line.startswith("node-1  ") for line in frame)
        and any(line.startswith("node-2  ") for line in frame)
    ]  # fmt: skip
    assert both
    assert all(len(frame) <= 24 for frame in drawn)
    assert any("; run " in line for frame in both for line in frame if line.startswith("node-"))
    assert "4 of 4" in both[-1][0]
