"""What agents and strangers leave, opened and removed."""

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from swarm_bench.core.errors import Refused
from swarm_bench.runtime import untrusted

DEEP = """
import os, sys
os.chdir(sys.argv[1])
for _ in range(int(sys.argv[2])):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
    open("file", "w").close()
os.chmod(".", 0)
"""


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def nested(folder: Path, levels: int) -> None:
    """Folders in folders, with a path that no call takes as a whole."""
    subprocess.run([sys.executable, "-S", "-c", DEEP, folder, str(levels)], check=True)


def test_a_deep_tree_with_a_long_path_is_removed(tmp_path: Path) -> None:
    (tree := tmp_path / "tree").mkdir()
    nested(tree, 5000)
    before = descriptors()
    untrusted.remove_tree(tree)
    assert not tree.exists()
    assert descriptors() == before


@pytest.mark.parametrize("name", ["shop", "shop/file"])
def test_what_lies_behind_a_link_on_the_way_stays(tmp_path: Path, name: str) -> None:
    (users := tmp_path / "projects" / "shop").mkdir(parents=True)
    (users / "file").write_text("the user's", encoding="utf-8")
    (tmp_path / "work").symlink_to(tmp_path / "projects")
    with pytest.raises(Refused, match="behind a link"):
        untrusted.remove_tree(tmp_path / "work" / name)
    assert (users / "file").read_text(encoding="utf-8") == "the user's"


def test_a_wide_tree_with_every_kind_of_entry_is_removed(tmp_path: Path) -> None:
    (kept := tmp_path / "kept").mkdir()
    (kept / "file").write_text("the user's", encoding="utf-8")
    (tree := tmp_path / "tree").mkdir()
    for number in range(2000):
        (tree / str(number)).mkdir()
        (tree / str(number) / "file").touch()
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff\xfe")).mkdir()
    os.mkfifo(tree / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tree / "socket"))
    (tree / "folder").symlink_to(kept)
    (tree / "1" / "file").unlink()
    (tree / "1" / "file").symlink_to(kept / "file")
    os.link(kept / "file", tree / "2" / "hard")
    (kept / "file").chmod(0o400)
    (tree / "3").chmod(0)
    untrusted.remove_tree(tree)
    assert not tree.exists()
    assert (kept / "file").read_text("utf-8") == "the user's"
    assert (kept / "file").stat().st_mode & 0o777 == 0o400


LOCKED = """
import os, sys
from pathlib import Path
from swarm_bench.runtime import untrusted
top = Path(sys.argv[1])
for name in ("a/b/c", "a/d", "e"):
    (top / name).mkdir(parents=True)
    (top / name / "file").touch()
for name in ("a/b/c", "a/b", "a/d", "a", "e", ""):
    (top / name).chmod(0)
try:
    os.listdir(top)
    print("no permissions needed")
except PermissionError:
    print("locked")
untrusted.remove_tree(top)
"""


def test_folders_without_permissions_are_removed(tmp_path: Path) -> None:
    (tree := tmp_path / "tree").mkdir()
    # The owner of files needs no permissions here when it is root with all its capabilities.
    weak = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    ran = subprocess.run(
        [*weak, sys.executable, "-c", LOCKED, tree], capture_output=True, text=True, check=False
    )
    assert (ran.stderr, ran.stdout) == ("", "locked\n")
    assert not tree.exists()


def test_entries_that_appear_meanwhile_are_removed_or_said(tmp_path: Path) -> None:
    (tree := tmp_path / "tree").mkdir()
    writing = (
        "import itertools, os, sys, time\n"
        "for n in itertools.count():\n"
        "    time.sleep(0.001)\n"
        "    try: os.makedirs(f'{sys.argv[1]}/{n % 7}/{n}')\n"
        "    except OSError: pass\n"
    )
    writer = subprocess.Popen([sys.executable, "-S", "-c", writing, tree])
    try:
        while not (tree / "6").exists():
            time.sleep(0.01)
        with suppress(OSError):
            untrusted.remove_tree(tree)
    finally:
        writer.kill()
        writer.wait()
    untrusted.remove_tree(tree)
    assert not tree.exists()


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "socket", "folder", "device"])
def test_only_a_file_is_opened(tmp_path: Path, kind: str) -> None:
    path = planted(tmp_path, kind)
    with pytest.raises(Refused, match=r"; remove it$"):
        untrusted.read(path)
    with pytest.raises(Refused):
        os.close(untrusted.opener(str(path), os.O_WRONLY | os.O_CREAT))
    with pytest.raises(Refused):
        untrusted.tail(path, 10)
    assert untrusted.read_inside(tmp_path, path.name, 10) is None
    assert not (tmp_path / "nowhere").exists()


def planted(folder: Path, kind: str) -> Path:
    path = folder / "planted"
    match kind:
        case "link":
            (folder / "file").write_text("x", encoding="utf-8")
            path.symlink_to(folder / "file")
        case "dangling":
            path.symlink_to(folder / "nowhere")
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(str(path))
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
    return path


def test_a_file_has_a_cap(tmp_path: Path) -> None:
    with (file := tmp_path / "file").open("wb") as sparse:
        sparse.truncate(2**40)
    with pytest.raises(Refused, match="larger than 256 MiB"):
        untrusted.read(file)
    assert untrusted.tail(file, 3) == b"\0\0\0"
    assert untrusted.read_inside(tmp_path, "file", 3) == b"\0\0\0"


def test_the_cap_holds_for_a_file_that_is_larger_than_it_says() -> None:
    with pytest.raises(Refused, match="grows beyond"):
        untrusted.read(Path("/proc/self/status"), 10)


def test_a_file_of_somebody_else_is_refused_unless_the_folder_is_theirs(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("x", encoding="utf-8")
    try:
        os.chown(file, 12345, 12345)
    except PermissionError:
        pytest.skip("NO RIGHT TO GIVE A FILE AWAY HERE")
    with pytest.raises(Refused, match="somebody else"):
        untrusted.read(file)
    os.chown(tmp_path, 12345, 12345)
    assert untrusted.read(file) == b"x"


def test_nothing_is_written_behind_a_link(tmp_path: Path) -> None:
    (away := tmp_path / "away").mkdir()
    (tmp_path / "linked").symlink_to(away)
    with pytest.raises(Refused, match="behind a link"):
        os.close(untrusted.opener(str(tmp_path / "linked" / "file"), os.O_WRONLY | os.O_CREAT))
    with pytest.raises(Refused), untrusted.open_folder(tmp_path / "linked" / "new", make=True):
        pass
    assert list(away.iterdir()) == []
    assert untrusted.read_inside(tmp_path, "linked/../linked/file", 10) is None
    assert untrusted.read_inside(tmp_path, "/etc/hostname", 10) is None
    assert untrusted.read_inside(away, str(tmp_path / "file"), 10) is None


def test_a_home_that_became_a_link_is_not_read(tmp_path: Path) -> None:
    (user := tmp_path / "user").mkdir()
    (user / "secret").write_text("s", encoding="utf-8")
    (tmp_path / "home").symlink_to(user)
    assert untrusted.read_inside(user, "secret", 10) == b"s"
    assert untrusted.read_inside(tmp_path / "home", "secret", 10) is None
    (tmp_path / "home" / "inner").mkdir()
    (user / "inner" / "secret").touch()
    assert untrusted.read_inside(tmp_path / "home" / "inner", "secret", 10) is None
