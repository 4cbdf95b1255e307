"""What is hidden from programs that have all rights of the user otherwise."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from swarm_bench.environments.folders import PACKAGE, SHIPPED
from swarm_bench.environments.local import Hiding, find_shipped
from swarm_bench.runtime.process import Command, ProcessResult, run
from swarm_bench.runtime.sink import Output

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap: NOT TESTED"),
]
LAST_WORDS = """
import signal, sys, time
def end(number, frame):
    print("asked to end", flush=True)
    sys.exit(5)
signal.signal(signal.{0}, end)
print("ready", flush=True)
time.sleep(60)
"""


async def ran(
    hiding: Hiding, folder: Path, *argv: str, timeout: float = 30, by: str = "SIGTERM"
) -> tuple[ProcessResult, str]:
    command = Command(
        argv=hiding.wrap(argv),
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        tag=f"hiding-{folder.name}",
        stop_signal=signal.Signals[by],
    )
    output = Output(stdout=folder / "stdout", stderr=folder / "stderr", limit=10_000)
    result = await run(command, output=output, timeout=timeout)
    return result, (folder / "stdout").read_text()


async def test_files_and_folders_are_not_there(tmp_path: Path) -> None:
    rows, folder = tmp_path / "rows.jsonl", tmp_path / "answers"
    folder.mkdir()
    rows.write_text("secret")
    (folder / "key").write_text("secret")
    hiding = Hiding([rows, folder, folder / "key", tmp_path / "absent"])
    assert hiding.paths == [folder, rows]
    assert hiding.works
    words = ("sh", "-c", f"cat {rows} {folder}/*; echo mine > {tmp_path}/mine; exit 7")
    result, printed = await ran(hiding, tmp_path, *words)
    assert (result.returncode, printed) == (7, "")
    assert (tmp_path / "mine").read_text() == "mine\n"
    assert (folder / "key").read_text() == rows.read_text() == "secret"


async def test_no_other_process_and_no_rights_of_root_show_them(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "key").write_text("secret")
    words = ("sh", "-c", f"cat /proc/[0-9]*/root{folder}/key; umount {folder}; cat {folder}/key")
    result, printed = await ran(Hiding([folder]), tmp_path, *words)
    assert (result.returncode, printed) == (1, "")


async def test_of_a_hidden_folder_one_in_it_can_be_shown(tmp_path: Path) -> None:
    own, other = tmp_path / "trials" / "1", tmp_path / "trials" / "2"
    for folder in (own, other):
        folder.mkdir(parents=True)
        (folder / "text").write_text(folder.name)
    hiding = Hiding([tmp_path / "trials"])
    argv = hiding.wrap(("sh", "-c", "cat ../*/text; echo new > text"), own)
    done = await anyio.run_process(argv, cwd=own)
    assert done.stdout == b"1"
    assert (own / "text").read_text() == "new\n"


def test_the_clone_that_it_was_installed_from_is_among_them(tmp_path: Path) -> None:
    clone, noted = tmp_path / "a clone", tmp_path / "site" / "swarm_bench-1.dist-info"
    for folder in (clone / PACKAGE.name / SHIPPED, clone / ".git", noted):
        folder.mkdir(parents=True)
    (noted / "METADATA").write_text("Name: swarm-bench\nVersion: 1\n")
    (noted / "direct_url.json").write_text(json.dumps({"url": clone.as_uri(), "dir_info": {}}))
    code = (
        "from swarm_bench.environments.local import find_shipped; print(*find_shipped(), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(noted.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    hidden = {str(clone / PACKAGE.name / SHIPPED), str(clone / ".git")}
    assert hidden <= {*done.stdout.splitlines()}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
async def test_a_program_has_its_last_words(name: str, tmp_path: Path) -> None:
    words = (sys.executable, "-I", "-c", LAST_WORDS.format(name))
    result, printed = await ran(Hiding([]), tmp_path, *words, timeout=3, by=name)
    assert (result.stopped, result.returncode) == ("timeout", 5)
    assert printed == "ready\nasked to end\n"


async def test_the_shipped_answers_are_among_them(tmp_path: Path) -> None:
    assert PACKAGE / SHIPPED in Hiding(find_shipped()).paths
    words = ("ls", str(PACKAGE / SHIPPED))
    result, printed = await ran(Hiding(find_shipped()), tmp_path, *words)
    assert (result.returncode, printed) == (0, "")
