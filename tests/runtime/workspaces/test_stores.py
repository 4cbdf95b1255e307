"""No copy of a folder has history of version control, whatever its files are called."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.runtime.workspaces.stores import Stores, holds_history, is_store
from swarm_bench.runtime.workspaces.workspace import clone, take_snapshot
from tests.builders.golden import Sentences
from tests.builders.repositories import commit, git, start

pytestmark = pytest.mark.anyio

LATER = "the line of a later commit"


def history(folder: Path) -> Path:
    """A checkout of the first of its commits."""
    made = start(folder)
    first = commit(made, "one", {"a.py": "x = 1\n"})
    commit(made, "two", {"a.py": f"x = '{LATER}'\n"})
    git(made, "checkout", "-q", first)
    return made


def renamed(plain: Path, made: Path) -> None:
    (made / ".git").rename(plain / "backup")


def nested(plain: Path, made: Path) -> None:
    made.rename(plain / "nested")


def bare(plain: Path, made: Path) -> None:
    git(made, "clone", "-q", "--bare", str(made), str(plain / "lib" / "shop"))


def mirrored_and_packed(plain: Path, made: Path) -> None:
    git(made, "clone", "-q", "--mirror", str(made), str(plain / "m"))
    git(plain / "m", "repack", "-adq")
    git(plain / "m", "multi-pack-index", "write")


def without_head(plain: Path, made: Path) -> None:
    (made / ".git").rename(plain / "b")
    (plain / "b" / "HEAD").unlink()


def objects_only(plain: Path, made: Path) -> None:
    shutil.copytree(made / ".git" / "objects", plain / "cache")


def packs_only(plain: Path, made: Path) -> None:
    git(made, "repack", "-adq")
    shutil.copytree(made / ".git" / "objects" / "pack", plain / "blobs")


def lone_pack(plain: Path, made: Path) -> None:
    git(made, "repack", "-adq")
    (pack,) = (made / ".git" / "objects" / "pack").glob("*.pack")
    shutil.copy(pack, plain / "data.bin")


def bundle(plain: Path, made: Path) -> None:
    git(made, "bundle", "create", "-q", str(plain / "all.dat"), "main")


def gitfile(plain: Path, made: Path) -> None:
    (plain / "where.txt").write_text(f"gitdir: {made / '.git'}\n")


def link(plain: Path, made: Path) -> None:
    (plain / "link").symlink_to(made / ".git")


def link_into(plain: Path, made: Path) -> None:
    (plain / "link").symlink_to(made / ".git" / "objects")


def links_in_a_folder(plain: Path, made: Path) -> None:
    """As git-new-workdir makes them."""
    (plain / "shared").mkdir()
    shutil.copy(made / ".git" / "HEAD", plain / "shared")
    for name in ("objects", "refs", "packed-refs", "config"):
        (plain / "shared" / name).symlink_to(made / ".git" / name)


def worktree(plain: Path, made: Path) -> None:
    git(made, "worktree", "add", "-q", "-b", "w", str(plain / "w"))
    (plain / "w" / ".git").rename(plain / "w" / "dotgit")
    shutil.copytree(made / ".git" / "worktrees" / "w", plain / "admin")


def submodules(plain: Path, made: Path) -> None:
    over = start(plain / "over")
    add = ("submodule", "--quiet", "add", str(made), "part")
    git(over, "-c", "protocol.file.allow=always", *add)
    (over / ".git").rename(over / "old")


def jujutsu(plain: Path, made: Path) -> None:
    store = plain / ".jj" / "repo" / "store"
    store.mkdir(parents=True)
    (plain / ".jj" / "working_copy").mkdir()
    (plain / ".jj" / ".gitignore").write_text("/*\n")
    (made / ".git").rename(store / "git")


def in_upper_case(plain: Path, made: Path) -> None:
    (made / ".git").rename(plain / ".GIT")


MAKERS = (
    *(renamed, nested, bare, mirrored_and_packed, without_head, objects_only, packs_only),
    *(lone_pack, bundle, gitfile, link, link_into, links_in_a_folder, worktree, submodules),
    *(jujutsu, in_upper_case),
)


def readable(work: Path, hash: str) -> list[str]:
    """Where somebody in a folder gets at an object through git."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1"}
    places = [str(path) for path in work.rglob("*")]
    tries: dict[str, tuple[str, ...]] = {
        "alternates": ("git", "cat-file", "-e", hash),
        "all": ("git", "log", "--all", "-p"),
        **{place: ("git", f"--git-dir={place}", "cat-file", "-e", hash) for place in places},
        **{f"bundle {place}": ("git", "bundle", "verify", place) for place in places},
    }
    lent = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(places)}
    found = []
    for name, argv in tries.items():
        surroundings = env | (lent if name == "alternates" else {})
        done = subprocess.run(argv, cwd=work, env=surroundings, capture_output=True, check=False)
        if (done.returncode == 0 and name != "all") or LATER.encode() in done.stdout:
            found.append(name)
    return found


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("dirty", [False, True])
async def test_nobody_in_a_copy_gets_at_later_commits(
    tmp_path: Path, make: Callable[[Path, Path], None], dirty: bool
) -> None:
    """Of a plain folder, and of a checkout that is copied with what is not committed."""
    made, plain = history(tmp_path / "made"), tmp_path / "plain"
    later = git(made, "rev-parse", "main")
    plain.mkdir()
    (plain / "b.py").write_text("y = 1\n")
    if dirty:
        commit(start(plain), "mine", {})
    make(plain, made)
    snapshot = await take_snapshot(plain, tmp_path / "snapshot.git", dirty=dirty)
    assert "b.py" in snapshot.files
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert readable(work, later) == []
        assert not [path for path in work.rglob("*") if path.is_symlink()]


async def test_the_tries_would_succeed(tmp_path: Path) -> None:
    made = history(tmp_path / "made")
    later = git(made, "rev-parse", "main")
    shutil.copytree(made / ".git", made / "kept")
    places = readable(made, later)
    assert {str(made / "kept"), "alternates", "all"} <= set(places)


@pytest.mark.parametrize("make", [renamed, nested, bundle, gitfile, link, jujutsu])
async def test_places_of_history_are_named(
    tmp_path: Path, make: Callable[[Path, Path], None], golden: Sentences
) -> None:
    made, plain = history(tmp_path / "made"), tmp_path / "plain"
    plain.mkdir()
    make(plain, made)
    (plain / "b.py").write_text("y = 1\n")
    include = ("*", "**/*")
    snapshot = await take_snapshot(plain, tmp_path / "snap.git", dirty=False, include=include)
    golden(*snapshot.repository.left_out)


async def test_what_is_committed_stays(tmp_path: Path) -> None:
    """Test data of a program that reads repositories is part of its commit."""
    made = start(tmp_path / "made")
    store = {f"data/repo.git/{name}": "x" for name in ("HEAD", "objects/a", "refs/b")}
    commit(made, "data", {**store, "data/x": "gitdir: ../y\n"})
    for dirty in (False, True):
        target = tmp_path / f"{dirty}.git"
        snapshot = await take_snapshot(made, target, dirty=dirty)
        assert snapshot.files == {*store, "data/x"}
        assert snapshot.repository.left_out == ()


STORES = (
    *("x/.hg: requires", ".sl: requires store", "b: requires store 00changelog.i", ".svn: wc.db"),
    *("kept: wc.db pristine", "srv: format db locks hooks conf", ".jj: repo working_copy"),
    *("y: store op_store op_heads", ".bzr: branch-format", "_darcs: patches", ".pijul: pristine"),
    *("CVS: Root Repository Entries", "cvs: CVSROOT mod", "z: HEAD objects refs config"),
)
ORDINARY = (
    *("src: store.py requires.txt", "cmd: info pack push", "shop: store requires.py db format"),
    "site: inventories patches roles playbooks",
    *("a: objects refs", "git: head.py objects.py refs.py", "cvs: entries root", "ab: cd ef"),
    *("packs: pack-1.pack pack-a.idx", "x: patches series", "svn: format db"),
)


@pytest.mark.parametrize("listing", STORES)
def test_signs_of_stores(listing: str) -> None:
    path, _, names = listing.partition(": ")
    assert is_store(Path(path), names.split())


@pytest.mark.parametrize("listing", ORDINARY)
def test_ordinary_folders(listing: str) -> None:
    path, _, names = listing.partition(": ")
    assert not is_store(Path(path), names.split())


@pytest.mark.parametrize(
    ("beginning", "holds"),
    [
        (b"SQLite format 3\0" + bytes(52) + b"\x0f\x05\x51\x11", True),
        (b"SQLite format 3\0" + bytes(56), False),
        (b"head\t1.7;\naccess;\nsymbols;\n", True),
        (b"head = 1\n", False),
        (b"# v2 git bundle\n", True),
        (b"gitdir: ../.git/modules/x\n", True),
        (b"gitdir = x\n", False),
        (b"SVN-fs-dump-format-version: 2\n", True),
        (b"PACKAGE", False),
        (b"", False),
    ],
)
def test_files_with_history(beginning: bytes, holds: bool) -> None:
    assert holds_history(beginning) is holds


def test_a_link_within_a_folder_is_no_link_to_a_store(tmp_path: Path) -> None:
    """Though the folder is a worktree that lies in its bare repository."""
    root = tmp_path / "all.git" / "main"
    root.mkdir(parents=True)
    for name in ("HEAD", "objects", "refs"):
        (tmp_path / "all.git" / name).touch()
    (root / "a.py").touch()
    (root / "link").symlink_to("a.py")
    (root / "out").symlink_to("../objects")
    stores = Stores(root)
    assert not stores.is_behind(root / "link")
    assert stores.is_behind(root / "out")
