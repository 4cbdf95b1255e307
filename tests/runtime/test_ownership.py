import contextlib
import fcntl
import itertools
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.ownership import (
    MARK,
    OWNER,
    PREFIX,
    discard,
    mark,
    sweep,
    temporary,
    this_owner,
)
from tests.builders.golden import Sentences
from tests.runtime.containers import container

GONE = f"4194304-1000000000.00@{this_owner().partition('@')[2]}"
"""Above the highest process number that Linux gives out."""
HOLDER = """
import subprocess, sys, time
from pathlib import Path
from swarm_bench.runtime.ownership import OWNER, mark, this_owner
mark(Path(sys.argv[1]))
agent = subprocess.Popen(["sleep", "30"], env={OWNER: this_owner()})
print(agent.pid, flush=True)
agent.wait()
"""
SWEEPER = """
import sys
from pathlib import Path
from swarm_bench.runtime.ownership import sweep
print(*sweep(Path(sys.argv[1]))[:2])
"""


@pytest.fixture(autouse=True)
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One of these tests at a time, in whichever worker: a sweep ends what another one left."""
    with (tmp_path_factory.getbasetemp().parent / "sweeps").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def folder(root: Path, owner: str, name: str = "dead") -> Path:
    made = root / f"{PREFIX}{name}"
    made.mkdir()
    (made / MARK).write_text(json.dumps({"owner": owner}), encoding="utf-8")
    return made


@contextlib.contextmanager
def holder(of: Path, *before: str) -> Iterator[int]:
    """A live orchestrator with an agent. Gives the process number of the agent as it sees it."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", HOLDER, of], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        process.kill()
        process.communicate()


def test_what_a_dead_orchestrator_left_is_removed(tmp_path: Path) -> None:
    dead = folder(tmp_path, GONE)
    stray = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(30)"], env={**os.environ, OWNER: GONE}
    )
    try:
        while psutil.Process(stray.pid).environ().get(OWNER) != GONE:
            time.sleep(0.01)  # until the child has replaced the image it was forked from
        swept = sweep(tmp_path)
        assert (swept.processes >= 1, swept.folders, swept.problems) == (True, 1, ())
        assert stray.wait(5) == -9
        assert not dead.exists()
    finally:
        stray.kill()


def test_what_a_killed_orchestrator_left_is_removed_with_its_agents(tmp_path: Path) -> None:
    (dead := tmp_path / f"{PREFIX}dead").mkdir()
    with holder(dead) as agent:
        owner = int(json.loads((dead / MARK).read_text("utf-8"))["owner"].partition("-")[0])
        assert sweep(tmp_path).folders == 0
        assert psutil.pid_exists(agent)
        os.kill(owner, signal.SIGKILL)
        while psutil.Process(owner).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        swept = sweep(tmp_path)
        assert (swept.processes, swept.folders) == (1, 1)


def test_what_is_planted_is_neither_waited_for_nor_followed(tmp_path: Path) -> None:
    victim = folder(tmp_path, GONE).rename(tmp_path / "victim")
    (tmp_path / f"{PREFIX}link").symlink_to(victim)
    (pipe := tmp_path / f"{PREFIX}pipe").mkdir()
    os.mkfifo(pipe / MARK)
    (linked := tmp_path / f"{PREFIX}linked").mkdir()
    (linked / MARK).symlink_to(victim / MARK)
    (endless := tmp_path / f"{PREFIX}endless").mkdir()
    (endless / MARK).symlink_to("/dev/zero")
    (nested := tmp_path / f"{PREFIX}nested").mkdir()
    (nested / MARK).write_bytes(b"[" * 9_999)
    assert sweep(tmp_path)[1:] == (0, ())
    assert (victim / MARK).is_file()
    assert linked.is_dir()


def test_what_lives_or_is_not_ours_stays(tmp_path: Path) -> None:
    (mine := tmp_path / f"{PREFIX}mine").mkdir()
    mark(mine)
    strange = folder(tmp_path, "", "strange")
    (strange / MARK).write_text("{ not json", encoding="utf-8")
    (foreign := tmp_path / "foreign").mkdir()
    (foreign / MARK).write_text(json.dumps({"owner": GONE}), encoding="utf-8")
    elsewhere = folder(tmp_path, "1-2.00@another-machine/boot/pid", "elsewhere")
    sibling = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(30)"],
        env={**os.environ, OWNER: this_owner()},
    )
    try:
        sweep(tmp_path)
        assert all(folder.exists() for folder in (mine, strange, foreign, elsewhere))
        assert sibling.poll() is None
    finally:
        sibling.kill()
        sibling.wait()
        discard(mine)


def test_of_another_container_only_what_is_not_locked_goes(tmp_path: Path) -> None:
    """Its owner has no process number here, and its lock says that it lives."""
    other = f"1-2.00@{platform.node()}/boot/pid:[1]"
    alive, dead = folder(tmp_path, other, "alive"), folder(tmp_path, other, "dead")
    with (alive / MARK).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert sweep(tmp_path).folders == 1
    assert (alive.exists(), dead.exists()) == (True, False)


def test_what_versions_without_locks_left_is_left_alone(tmp_path: Path) -> None:
    """They may still run, and in another container their process numbers mean nothing here."""
    living, dead = (owner.partition("/")[0] for owner in (this_owner(), GONE))
    old = folder(tmp_path, living, "living"), folder(tmp_path, dead, "dead")
    sweep(tmp_path)
    assert all(path.exists() for path in old)


def test_a_number_that_became_that_of_another_process_is_no_owner(tmp_path: Path) -> None:
    """Our own, since another process had it, and before the machine was started again."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    where = this_owner().partition("@")[2]
    folder(tmp_path, f"{os.getpid()}-1.00@{where}", "ended")
    folder(tmp_path, this_owner().replace(boot, "another"), "restarted")
    assert sweep(tmp_path).folders == 2


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    foreign = folder(tmp_path, GONE)
    try:
        for path in (foreign / MARK, foreign):
            os.chown(path, 12345, 12345)
    except PermissionError:
        pytest.skip("NO RIGHT TO GIVE A FOLDER AWAY HERE")
    assert sweep(tmp_path)[1:] == (0, ())
    assert (foreign / MARK).is_file()


def test_a_sweep_in_a_container_spares_who_lives_outside(tmp_path: Path) -> None:
    (work := tmp_path / f"{PREFIX}work").mkdir()
    with holder(work) as agent:
        ran = subprocess.run(
            [*container(), sys.executable, "-c", SWEEPER, tmp_path], capture_output=True, check=True
        )
        assert ran.stdout.split() == [b"0", b"0"]
        assert (work / MARK).is_file()
        assert psutil.pid_exists(agent)


def children_of(owner: str) -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # other tests have left some that have ended
            found += [child] * (child.environ().get(OWNER) == owner)
    return found


def test_a_sweep_outside_spares_who_lives_in_a_container(tmp_path: Path) -> None:
    (work := tmp_path / f"{PREFIX}work").mkdir()
    with holder(work, *container()):
        owner = json.loads((work / MARK).read_text("utf-8"))["owner"]
        while not (inside := children_of(owner)):
            time.sleep(0.01)  # until its environment can be read
        assert sweep(tmp_path).folders == 0
        assert len(inside) == 1
        assert psutil.wait_procs(inside, timeout=0.5)[0] == []
        assert (work / MARK).is_file()
    while sweep(tmp_path).folders == 0:  # until the kernel has let go of the lock
        time.sleep(0.01)


def test_a_folder_of_one_who_lives_is_not_taken_over(tmp_path: Path) -> None:
    (work := tmp_path / f"{PREFIX}work").mkdir()
    with holder(work), pytest.raises(UsageError, match="in use by another swarm-bench"):
        mark(work)
    mark(work)
    assert json.loads((work / MARK).read_text("utf-8"))["owner"] == this_owner()
    discard(work)
    assert not work.exists()


def test_a_sweep_says_what_it_cannot_remove_and_goes_on(tmp_path: Path, golden: Sentences) -> None:
    """A folder in which something is mounted cannot be removed, not even by root."""
    first, second = folder(tmp_path, GONE, "first"), folder(tmp_path, GONE, "second")
    for name in ("a", "b", "c", "mounted", "x", "y", "z"):
        (first / "inner" / name).mkdir(parents=True)
    script = (
        f'mount -t tmpfs none {first}/inner/mounted && exec {sys.executable} -c "$1" {tmp_path}'
    )
    sweeper = SWEEPER.replace("[:2]", "[1:]")
    unshared = [*container(), "--mount", "sh", "-ec", script, "sh", sweeper]
    ran = subprocess.run(unshared, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    golden(ran.stdout)
    assert [path.name for path in (first / "inner").iterdir()] == ["mounted"]
    assert not second.exists()
    assert sweep(tmp_path).folders == 1


def test_a_temporary_folder_goes_and_a_killed_one_is_swept(tmp_path: Path) -> None:
    with temporary(tmp_path) as made:
        (made / "file").touch()
        assert sweep(tmp_path).folders == 0
    assert list(tmp_path.iterdir()) == []
    killed = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from swarm_bench.runtime.ownership import temporary\n"
        "with temporary(Path(sys.argv[1])):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", killed, tmp_path], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    assert sweep(tmp_path).folders == 1


def test_what_a_thread_makes_while_a_folder_is_removed_is_not_forgotten(tmp_path: Path) -> None:
    over = threading.Event()

    def make() -> None:
        for number in itertools.count():
            if over.is_set():
                break
            with contextlib.suppress(OSError):
                (ours / str(number)).mkdir()

    for number in range(20):
        (ours := tmp_path / f"{PREFIX}{number}").mkdir()
        mark(ours)
        with ThreadPoolExecutor() as threads:
            over.clear()
            threads.submit(make)
            problems = discard(ours)
            over.set()
        assert not ours.exists() or (ours / MARK).exists() or problems
