"""Who waits at a terminal sees what a call is at, and a pipe gets none of it."""

import os
import pty
import subprocess
import sys

from swarm_bench.cli.output.waiting import PATIENCE

SCRIPT = f"""
import time
from swarm_bench.cli.output.waiting import show_step
with show_step("reading \\x1b[31mred") as line:
    time.sleep({PATIENCE} + 0.6)
    line.say("half of it")
    time.sleep({PATIENCE} + 0.6)
with show_step("nothing takes long"):
    pass
"""
ERASED = "\r\x1b[K"


def _on_terminal(**environment: str) -> str:
    """Return what the script prints on a terminal."""
    env = {**os.environ, **environment}
    reader, writer = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=writer, env=env) as process:
        os.close(writer)
        printed = b""
        try:
            while part := os.read(reader, 4096):
                printed += part
        except OSError:  # how the end of a terminal is read
            pass
    os.close(reader)
    assert process.returncode == 0
    return printed.decode()


def test_a_pipe_gets_the_sentences_alone() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"half of it\n")


def test_a_terminal_shows_it_and_nothing_stays() -> None:
    text = _on_terminal(TERM="xterm")
    assert "reading  [31mred (1 s)" in text
    assert "half of it (1 s)" in text
    assert "nothing takes long" not in text
    stays = [line.rpartition(ERASED)[2] for line in text.split("\r\n")]
    assert stays == ["half of it", ""]


def test_a_terminal_that_cannot_erase_gets_the_sentences_alone() -> None:
    assert _on_terminal(TERM="dumb") == "half of it\r\n"
