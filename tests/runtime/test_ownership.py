import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import psutil

from swarm_bench.runtime.ownership import MARK, OWNER, PREFIX, mark, sweep, this_owner

GONE = f"4194304-1000000000.00@{platform.node()}"
"""Above the highest process number that Linux gives out."""


def folder(root: Path, owner: str) -> Path:
    made = root / f"{PREFIX}{owner}"
    made.mkdir()
    (made / MARK).write_text(json.dumps({"owner": owner}), encoding="utf-8")
    return made


def test_what_a_dead_orchestrator_left_is_removed(tmp_path: Path) -> None:
    dead = folder(tmp_path, GONE)
    stray = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(30)"], env={**os.environ, OWNER: GONE}
    )
    try:
        while psutil.Process(stray.pid).environ().get(OWNER) != GONE:
            time.sleep(0.01)  # until the child has replaced the image it was forked from
        processes, folders = sweep(tmp_path)
        assert (processes >= 1, folders) == (True, 1)
        assert stray.wait(5) == -9
        assert not dead.exists()
    finally:
        stray.kill()


def test_what_is_planted_is_neither_waited_for_nor_followed(tmp_path: Path) -> None:
    victim = folder(tmp_path, GONE).rename(tmp_path / "victim")
    (tmp_path / f"{PREFIX}link").symlink_to(victim)
    (pipe := tmp_path / f"{PREFIX}pipe").mkdir()
    os.mkfifo(pipe / MARK)
    (linked := tmp_path / f"{PREFIX}linked").mkdir()
    (linked / MARK).symlink_to(victim / MARK)
    assert sweep(tmp_path)[1] == 0
    assert (victim / MARK).is_file()
    assert linked.is_dir()


def test_what_lives_or_is_not_ours_stays(tmp_path: Path) -> None:
    (mine := tmp_path / f"{PREFIX}mine").mkdir()
    mark(mine)
    (strange := tmp_path / f"{PREFIX}strange").mkdir()
    (strange / MARK).write_text("{ not json", encoding="utf-8")
    (foreign := tmp_path / "foreign").mkdir()
    (foreign / MARK).write_text(json.dumps({"owner": GONE}), encoding="utf-8")
    (elsewhere := tmp_path / f"{PREFIX}elsewhere").mkdir()
    (elsewhere / MARK).write_text(json.dumps({"owner": "1-2.00@another-machine"}))
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
