"""What an earlier start left is in nobody's way."""

import subprocess
import sys
from pathlib import Path

import pytest

from swarm_bench.app.setup.folders import open_work_folder
from swarm_bench.core.errors import UsageError
from tests.builders.golden import Sentences

KILLED = """
import os, sys
from pathlib import Path
from swarm_bench.app.setup.folders import open_work_folder
with open_work_folder(Path(sys.argv[1]), "killed", print) as work:
    os.chdir(work)
    for _ in range(3000):
        os.mkdir("nested")
        os.chdir("nested")
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_start_left_is_gone_however_deep(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
    assert killed.returncode == -9
    warnings = list[str]()
    with open_work_folder(tmp_path, "next", warnings.append) as work:
        assert [folder.name for folder in tmp_path.iterdir()] == [work.name]
    assert list(tmp_path.iterdir()) == []
    assert warnings == []


def test_what_two_starts_would_share_belongs_to_the_first(
    tmp_path: Path, golden: Sentences
) -> None:
    second = "with open_work_folder(Path(sys.argv[1]), 'one', print): pass"
    source = KILLED.partition("with")[0] + second
    with open_work_folder(tmp_path, "one", print):
        ran = subprocess.run(
            [sys.executable, "-c", source, tmp_path], capture_output=True, text=True, check=False
        )
    assert UsageError.__name__ in ran.stderr
    golden(ran.stderr.splitlines()[-1])


def test_names_have_no_digits_and_stay_different(tmp_path: Path) -> None:
    """A server that ranks by the words of absolute paths does not rank by the session."""
    with (
        open_work_folder(tmp_path, "e0d93c0d", print) as one,
        open_work_folder(tmp_path, "e0d93c0e", print) as other,
    ):
        assert one != other
        assert not any(letter.isdecimal() for letter in one.name + other.name)


def test_a_folder_behind_a_link_can_be_the_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    with open_work_folder(tmp_path / "linked", "one", print) as work:
        assert work.parent == tmp_path / "real"


def test_a_root_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    with (
        pytest.raises(UsageError, match="is not a folder; create it"),
        open_work_folder(absent, "x", print),
    ):
        pass
    assert not absent.exists()


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o755)
    (tmp_path / "swarm-bench-one").symlink_to(tmp_path / "real")
    with (
        pytest.raises(UsageError, match="belongs to somebody else"),
        open_work_folder(tmp_path, "one", print),
    ):
        pass
    assert list((tmp_path / "real").iterdir()) == []


INTERRUPTED = """
import os, signal, sys, threading
from pathlib import Path
from swarm_bench.app.setup.folders import open_work_folder

def interrupt():
    while (work / "0").exists():  # it is not removed yet
        pass
    os.kill(os.getpid(), signal.SIGINT)

try:
    with open_work_folder(Path(sys.argv[1]), "interrupted", print) as work:
        for number in range(3000):
            (work / str(number)).mkdir()
        (thread := threading.Thread(target=interrupt)).start()
    thread.join()
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_an_interruption_while_the_folder_is_removed_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, tmp_path], check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (130, [])
