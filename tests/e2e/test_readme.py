"""Every command of the README is run, and what it shows of its first run is what the program
prints. That is written anew by
`RENEW=1 .venv/bin/pytest -n 0 -m long tests/e2e/test_readme.py -k fresh`."""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.builders.golden import RENEWED
from tests.builders.searching import searching_mode
from tests.e2e.borrowing import make_environment
from tests.e2e.conftest import Bench
from tests.e2e.pages import ROOT, commands, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

README = ROOT / "README.md"
COLUMNS = 100
_SHOWN = re.compile(r"(<!-- begin demo.*-->\n```text\n)(.*?)(```\n<!-- end demo -->)", re.DOTALL)
_ROW_OF_TIMES = re.compile(
    r"^(Wall time|Agent's own time|Indexing)\b.*(?:\n(?:  +\S.*))*", re.MULTILINE
)
_FIGURE = r"\d(?:[\d.,]*\d)?"
_MASKED = {
    r"swarm-\d{8}-\d{6}": "swarm-ID",
    r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC": "DATE",
    r"(?i)(?<=session: )[0-9a-f]{8}\b": "ID",
    rf"\b{_FIGURE} ?(ms|s|min|h)\b": "TIME",
    rf"[$]{_FIGURE}": "PRICE",
    r"[^\S\n]+": " ",
}
"""What differs from run to run, and nothing else; the widths of columns depend on it."""


def masked(text: str) -> list[str]:
    """Lines without times, prices, ids and dates."""
    text = _ROW_OF_TIMES.sub(lambda row: re.sub(_FIGURE, "N", row[0]), text)
    for pattern, name in _MASKED.items():
        text = re.sub(pattern, name, text)
    return [line.strip() for line in text.splitlines()]


def test_what_is_compared_has_every_figure_that_is_no_time_price_or_id() -> None:
    shown = (
        "It found 39 % of 36 files in 4.5 s for $0.25.\nRecall   0.25  0.39\nWall time 1s  2.5s\n"
    )
    assert masked(shown) == [
        "It found 39 % of 36 files in TIME for PRICE.",
        "Recall 0.25 0.39",
        "Wall time Ns Ns",
    ]


def test_the_readme_is_short_and_has_commands() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= 1000
    assert len(commands(README)) >= 10
    assert all(command.startswith("swarm-bench ") for command in commands(README))


@pytest.mark.long
def test_its_commands_work_in_the_order_they_stand(bench: Bench) -> None:
    for command, done in run(README, bench):
        assert done.code == 0, f"{command}\n{done.err}"


def test_an_agent_to_try_things_out_with_plays_the_script_of_the_docs(bench: Bench) -> None:
    docs = (ROOT / "docs" / "command-agents.md").read_text(encoding="utf-8")
    section = docs.partition("## To try things out")[2].partition("\n## ")[0]
    (script,) = re.findall(r"^```yaml\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)
    (command,) = re.findall(r"^    swarm-bench (.*)", section, flags=re.MULTILINE)
    (bench.folder / "play.yaml").write_text(script)
    mode = searching_mode(bench.folder, "mini", 'text = "src/auth.py:1"')
    task = "tasks:\n  - {id: a, title: A, prompt: 'Where is a token checked?'}\n"
    (bench.folder / "asked.yaml").write_text(task)
    more = ("--repo", str(bench.repo), "--tasks", "asked.yaml", "--runs", "1", "--output", "out")
    done = bench.call(*shlex.split(command), mode, *more)
    assert done.code == 0, done.err
    records = {record["mode"]: record for record in bench.records("out")}
    turns = {mode: record["num_turns"] for mode, record in records.items()}
    assert turns == {"baseline": 3, "mini": 2}
    spent = {mode: record["effective_tokens"] for mode, record in records.items()}
    assert spent == {"baseline": 1820, "mini": 920}


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_fresh_clone_sets_itself_up_and_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """With the packages that are here: CI downloads them, since it begins with a fresh clone."""
    clone = tmp_path / "swarm-bench"
    if subprocess.run(["git", "clone", "-q", ROOT, clone], check=False).returncode != 0:
        pytest.skip("these tests do not run in a git checkout, so there is nothing to clone")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "NO_COLOR": "1",
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
    }
    make_environment(clone / ".venv")
    printed = printed_at_a_terminal(["make", "demo"], clone, environment)
    end = printed.rpartition("swarm-bench demo\n")[2]
    text = README.read_text(encoding="utf-8")
    if RENEWED:
        text = _SHOWN.sub(lambda block: f"{block[1]}{end}{block[3]}", text)
        README.write_text(text, encoding="utf-8")
    (shown,) = _SHOWN.finditer(text)
    assert masked(shown[2]) == masked(end)


def printed_at_a_terminal(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Return what a command prints to a terminal; its progress goes elsewhere. The command has to
    end with 0."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    with (folder.parent / "progress").open("w+b") as progress:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=writer, stderr=progress
        )
        os.close(writer)
        printed = b""
        try:
            while part := os.read(reader, 4096):
                printed += part
        except OSError:  # how the end of a terminal is read
            os.close(reader)
        assert process.wait() == 0, (folder.parent / "progress").read_text()
    return printed.decode().replace("\r\n", "\n")
