"""The original is only read, and what agents do to a clone does not reach it."""

import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from shlex import quote

import anyio
import pytest

from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.runtime.workspaces.content import SESSION_MARK
from swarm_bench.runtime.workspaces.git import try_git
from swarm_bench.runtime.workspaces.workspace import (
    Snapshot,
    clone,
    remove_files,
    take_commit,
    take_snapshot,
)

pytestmark = pytest.mark.anyio

HOSTILE = """
git config user.name evil; git config core.fsmonitor 'touch pwned'
mkdir -p .git/hooks; echo 'touch pwned' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
git branch -D feature; git tag -d v1; git stash drop; git push origin :feature; git push -f --all
git update-ref -d refs/heads/main; git reflog expire --expire=now --all; git gc --prune=now
rm -rf a.txt; echo 'changed' > b.txt
"""


def sh(script: str, cwd: Path) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["sh", "-c", script], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    return done.stdout


def fingerprint(root: Path) -> str:
    """A hash of every name, mode, time and byte below `root`."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        about = path.lstat()
        digest.update(f"{path.relative_to(root)} {about.st_mode} {about.st_mtime_ns}".encode())
        if path.is_file() and not path.is_symlink():
            digest.update(path.read_bytes())
    return digest.hexdigest()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "my 'own' rëpo"
    (made / "sub").mkdir(parents=True)
    (made / "a.txt").write_text("first\n")
    (made / "sub" / 'ünï "q".py').write_text("x = 1\n")
    (made / "link").symlink_to("a.txt")
    (made / ".gitignore").write_text("ignored.txt\n.canopy/\n")
    sh(
        "git init -q -b main; git config user.name me; git config user.email me@example.org;"
        "git add -A; git commit -qm one; git branch feature; git tag v1;"
        "echo stashed > a.txt; git stash -q; mkdir .canopy; echo x > .canopy/feedback.db;"
        "echo new > new.txt; echo no > ignored.txt; echo second > a.txt",
        made,
    )
    return made


async def snapshot_of(repo: Path, tmp_path: Path, *, dirty: bool = False) -> Snapshot:
    return await take_snapshot(repo, tmp_path / "snapshot.git", dirty=dirty)


async def test_a_checkout_gives_its_commit(repo: Path, tmp_path: Path) -> None:
    snapshot = await snapshot_of(repo, tmp_path)
    assert snapshot.files == {".gitignore", "a.txt", "link", 'sub/ünï "q".py'}
    assert snapshot.repository.kind == "git"
    assert snapshot.repository.commit == sh("git rev-parse HEAD", repo).strip()
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert (work / "a.txt").read_text() == "first\n"
        assert (work / "link").readlink() == Path("a.txt")
        assert sh("git remote; git branch --format='%(refname:short)'; git tag", work) == "main\n"
        assert sh("git rev-list --all --count", work) == "1\n"
        assert not (work / ".git" / "objects" / "info" / "alternates").exists()
        assert all(o.stat().st_nlink == 1 for o in (work / ".git").rglob("*") if o.is_file())
        assert str(repo) not in (work / ".git" / "config").read_text()
    assert not (tmp_path / "work").exists()


async def test_dirty_takes_changes_and_new_files(repo: Path, tmp_path: Path) -> None:
    snapshot = await snapshot_of(repo, tmp_path, dirty=True)
    assert snapshot.repository.dirty
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert (work / "a.txt").read_text() == "second\n"
        assert (work / "new.txt").exists()
        assert not (work / "ignored.txt").exists()
        assert not (work / ".canopy").exists()


async def test_a_plain_folder_gives_all_its_files(tmp_path: Path) -> None:
    (folder := tmp_path / "plain").mkdir()
    (folder / "a.md").write_text("# a\n")
    (folder / ".hidden").write_text("h\n")
    (folder / ".env").write_text("KEY=sk-1\n")
    (folder / "nested").mkdir()
    sh("git init -q; echo 1 > inner.txt", folder / "nested")
    os.mkfifo(folder / "pipe")
    snapshot = await snapshot_of(folder, tmp_path)
    assert snapshot.files == {"a.md", ".hidden", "nested/inner.txt"}
    assert (snapshot.repository.kind, snapshot.repository.commit) == ("folder", None)


@pytest.mark.parametrize("dirty", [False, True])
async def test_an_index_that_is_committed_reaches_no_clone(
    repo: Path, tmp_path: Path, dirty: bool
) -> None:
    commit = "git -c user.name=me -c user.email=me@example.org commit -qm index"
    sh("mkdir -p sub/.canopy; echo i > sub/.canopy/index.db; echo c > .canopy/config.toml", repo)
    sh("mkdir linked; ln -s /srv/index linked/.canopy; git add -f linked", repo)
    sh(f"echo t > sub/.canopy.md; git add -f .canopy sub; {commit}", repo)
    snapshot = await snapshot_of(repo, tmp_path, dirty=dirty)
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert not list(work.rglob(".canopy"))
        assert not (work / "linked").exists()
        assert (work / "sub" / ".canopy.md").exists()
        assert sh("git status --porcelain", work) == ""
    assert not [name for name in snapshot.files if ".canopy/" in name]


async def test_a_folder_of_a_checkout_is_its_part_of_the_commit(repo: Path, tmp_path: Path) -> None:
    snapshot = await snapshot_of(repo / "sub", tmp_path)
    assert (snapshot.repository.kind, snapshot.files) == ("git", frozenset({'ünï "q".py'}))
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert sh("git cat-file -t $(printf 'first\\n' | git hash-object --stdin)", work) == ""


async def test_a_folder_that_the_checkout_ignores_is_plain(repo: Path, tmp_path: Path) -> None:
    (repo / ".canopy" / "inner.py").write_text("y = 2\n")
    snapshot = await snapshot_of(repo / ".canopy", tmp_path)
    assert (snapshot.repository.kind, snapshot.files) == (
        "folder",
        frozenset({"feedback.db", "inner.py"}),
    )


async def test_a_hostile_agent_does_not_reach_the_original(repo: Path, tmp_path: Path) -> None:
    before = fingerprint(repo)
    snapshot = await snapshot_of(repo, tmp_path)
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        sh(HOSTILE, work)
        (work / "sub").chmod(0o500)
    assert fingerprint(repo) == before
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert (work / "a.txt").read_text() == "first\n"
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    "change",
    [
        "git push -f '{snapshot}' HEAD:main",
        "git push '{snapshot}' HEAD:other && git push '{snapshot}' HEAD:refs/tags/hint",
        "git push -f '{snapshot}' HEAD:other && "
        "git --git-dir='{snapshot}' symbolic-ref HEAD refs/heads/other && "
        "git --git-dir='{snapshot}' update-ref -d refs/heads/main",
        "own=$(git --git-dir='{snapshot}' rev-parse main); for number in $(seq 3000); do "
        "echo $own refs/heads/main/$number; done > '{snapshot}/packed-refs'",
    ],
)
async def test_what_an_agent_pushed_reaches_no_later_clone(
    repo: Path, tmp_path: Path, change: str
) -> None:
    snapshot = await take_snapshot(repo, tmp_path / "snapshot", dirty=False)
    push = "echo hint > hint.txt; git add -A; git -c user.name=e -c user.email=e@e commit -qm e; "
    async with clone(snapshot, tmp_path / "clone", keep=None) as path:
        sh(push + change.format(snapshot=snapshot.path), path)
    with pytest.raises(HarnessError, match="was changed since the session began"):
        async with clone(snapshot, tmp_path / "clone", keep=None):
            pass
    async with clone(snapshot, tmp_path / "clone", keep=None) as path:
        assert not (path / "hint.txt").exists()
        assert sh("git log --all --format=%s", path) == "snapshot\n"
        assert "commit" not in sh("git fsck --unreachable --no-progress", path)


FORGE = """
import shutil, subprocess, sys, zlib
from pathlib import Path

store, blob = Path(sys.argv[1]), sys.argv[2]
for pack in list(store.glob("pack/*.pack")):
    away = shutil.move(pack, store / "away")
    subprocess.run(["git", "unpack-objects", "-q"], stdin=open(away), cwd=store.parent, check=True)
    away.unlink()
for index in store.glob("pack/*"):
    index.unlink()
file = store / blob[:2] / blob[2:]
file.chmod(0o644)
file.write_bytes(zlib.compress(b"blob 7\\0forged\\n"))
"""


async def test_objects_that_an_agent_forged_reach_no_later_clone(
    repo: Path, tmp_path: Path
) -> None:
    """Git takes the name of an object for a proof of its content."""
    snapshot = await take_snapshot(repo, tmp_path / "snapshot", dirty=False)
    blob = sh("git rev-parse main:a.txt", snapshot.path).strip()

    def forge(store: Path) -> None:
        subprocess.run([sys.executable, "-c", FORGE, store, blob], check=True)

    async with clone(snapshot, tmp_path / "clone", keep=None) as path:
        forge(path / ".git" / "objects")
        assert sh(f"git cat-file blob {blob}", path) == "forged\n"
    async with clone(snapshot, tmp_path / "clone", keep=None) as path:
        assert (path / "a.txt").read_text() == "first\n"
    forge(snapshot.path / "objects")
    with pytest.raises(HarnessError, match="was changed since the session began"):
        async with clone(snapshot, tmp_path / "clone", keep=None):
            pass


@pytest.mark.parametrize(
    "change",
    [
        "mkfifo objects/pack/pack-x.pack",
        "mkfifo refs/heads/x",
        "truncate -s 1T objects/pack/pack-x.pack",
        "rm -rf ../snapshot.git",
    ],
)
async def test_traps_in_the_private_copy_are_seen_before_git_opens_them(
    repo: Path, tmp_path: Path, change: str
) -> None:
    snapshot = await snapshot_of(repo, tmp_path)
    sh(change, snapshot.path)
    with (
        anyio.fail_after(5),
        pytest.raises(HarnessError, match="was changed since.*makes a new one"),
    ):
        async with clone(snapshot, tmp_path / "work", keep=None):
            pass


@pytest.mark.parametrize(
    "change",
    [
        "rm -r snapshot.git && ln -s {repo}/.git snapshot.git",
        "cd snapshot.git && git push -q {repo} main:x && cd {repo} && git branch -qD x && "
        "echo {repo}/.git > $OLDPWD/commondir",
    ],
)
async def test_a_private_copy_that_leads_to_the_original_changes_nothing_there(
    repo: Path, tmp_path: Path, change: str
) -> None:
    snapshot = await snapshot_of(repo, tmp_path)
    sh(change.format(repo=quote(str(repo))), tmp_path)
    refs, objects = "git for-each-ref", "git count-objects -v"
    before = [sh(command, repo) for command in (refs, objects)]
    with pytest.raises(HarnessError, match="was changed since.*makes a new one"):
        async with clone(snapshot, tmp_path / "work", keep=None):
            pass
    assert [sh(command, repo) for command in (refs, objects)] == before


async def test_a_clone_whose_folder_leads_to_the_original_does_not_take_it_away(
    repo: Path, tmp_path: Path
) -> None:
    snapshot = await snapshot_of(repo, tmp_path)
    before = fingerprint(repo)
    with pytest.raises(HarnessError, match="behind a link"):
        async with clone(snapshot, tmp_path / "clones" / repo.name, keep=None) as work:
            sh(f"mv ../../clones ../../away; ln -s {quote(str(repo.parent))} ../../clones", work)
    with pytest.raises(HarnessError, match="behind a link"):
        async with clone(snapshot, tmp_path / "clones" / repo.name, keep=None):
            pass
    assert fingerprint(repo) == before
    assert not list(tmp_path.glob(".*"))


async def test_git_that_cannot_start_is_not_missing(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="git could not be started in .*gone: .*No such file"):
        await try_git("status", cwd=tmp_path / "gone")


async def test_equal_content_makes_equal_snapshots(repo: Path, tmp_path: Path) -> None:
    one = await take_snapshot(repo, tmp_path / "1.git", dirty=False)
    two = await take_snapshot(repo, tmp_path / "2.git", dirty=False)
    assert one.repository.tree == two.repository.tree
    assert sh("git rev-parse main", one.path) == sh("git rev-parse main", two.path)


async def test_what_lies_where_a_clone_goes_does_not_matter(repo: Path, tmp_path: Path) -> None:
    """A service that knew an earlier clone may make its folder again, also meanwhile."""
    snapshot = await snapshot_of(repo, tmp_path)
    database = tmp_path / "work" / ".canopy" / "feedback.db"

    async def make_it_again() -> None:
        while True:
            with suppress(OSError):
                database.parent.mkdir(parents=True, exist_ok=True)
                database.touch()
            await anyio.sleep(0.002)

    async with anyio.create_task_group() as service:
        service.start_soon(make_it_again)
        await anyio.sleep(0.05)
        async with clone(snapshot, tmp_path / "work", keep=None) as work:
            service.cancel_scope.cancel()
            assert (work / "a.txt").read_text() == "first\n"
            assert sh("git log --format=%s", work) == "snapshot\n"
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert not (work / ".canopy").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"snapshot.git", repo.name}


async def test_a_kept_workspace_is_moved(repo: Path, tmp_path: Path) -> None:
    snapshot = await snapshot_of(repo, tmp_path)
    async with clone(snapshot, tmp_path / "work", keep=tmp_path / "kept" / "one") as work:
        (work / "trace.txt").write_text("t")
    assert (tmp_path / "kept" / "one" / "trace.txt").exists()
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("evil", ["ln -s /etc ../work", "echo x > ../work", ":"])
async def test_a_workspace_that_was_replaced_is_removed_all_the_same(
    repo: Path, tmp_path: Path, evil: str
) -> None:
    snapshot = await snapshot_of(repo, tmp_path)
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        sh(f"rm -rf ../work; {evil}", work)
    assert not (tmp_path / "work").exists()
    assert Path("/etc/passwd").exists()


@pytest.mark.parametrize("dirty", [False, True])
async def test_sessions_are_not_shown_to_agents(repo: Path, tmp_path: Path, dirty: bool) -> None:
    if not dirty:
        sh("rm -rf .git", repo)
    session = repo / "results" / "swarm-1"
    (session / "baseline").mkdir(parents=True)
    (session / SESSION_MARK.decode()).touch()
    (session / "baseline" / "agent-1.md").write_text("the answer")
    snapshot = await snapshot_of(repo, tmp_path, dirty=dirty)
    assert not [name for name in snapshot.files if name.startswith("results")]


async def test_folders_that_ignore_themselves_are_not_taken_along(tmp_path: Path) -> None:
    (cache := tmp_path / "plain" / "cache").mkdir(parents=True)
    (cache / ".gitignore").write_text("# made by a program\n\n*\n")
    (cache / "made.txt").write_text("m")
    (other := tmp_path / "plain" / "other").mkdir()
    (other / ".gitignore").write_text("*.log\n")
    snapshot = await snapshot_of(tmp_path / "plain", tmp_path)
    assert snapshot.files == {"other/.gitignore"}


async def test_a_repository_with_other_hashes(tmp_path: Path) -> None:
    (made := tmp_path / "sha256").mkdir()
    (made / "a.txt").write_text("a")
    sh("git init -q --object-format=sha256; git add -A", made)
    sh("git -c user.name=me -c user.email=me@example.org commit -qm one", made)
    snapshot = await snapshot_of(made, tmp_path)
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert (work / "a.txt").read_text() == "a"


async def test_what_is_no_repository_is_named(tmp_path: Path) -> None:
    (empty := tmp_path / "empty").mkdir()
    (file := tmp_path / "file").write_text("x")
    (unborn := tmp_path / "unborn").mkdir()
    sh("git init -q", unborn)
    sh("git init -q --bare bare", tmp_path)
    (gone := tmp_path / "gone").mkdir()
    sh("git init -q; git -c user.name=a -c user.email=b commit -q --allow-empty -m one", gone)
    sh("rm -r .git/objects/*", gone)
    for number, (path, words) in enumerate(
        [
            (tmp_path / "absent", "does not exist"),
            (file, "is a file"),
            (empty, "holds no files"),
            (unborn, "without a commit"),
            (gone, "git cannot read the repository .*: bad object HEAD; repair it"),
            (tmp_path / "bare", "has a bare git repository"),
        ]
    ):
        with pytest.raises(UsageError, match=words):
            await take_snapshot(path, tmp_path / f"{number}.git", dirty=False)


async def test_a_copy_of_an_earlier_commit_has_nothing_of_later_ones(
    repo: Path, tmp_path: Path
) -> None:
    first = sh("git rev-parse HEAD", repo).strip()
    sh("git checkout -q .; echo later > a.txt; echo new > later.txt; git add -A", repo)
    sh("git commit -qm later; git branch -f feature; git tag v2; git gc -q", repo)
    later = sh("git rev-parse HEAD", repo).strip()
    snapshot = await take_commit(repo, tmp_path / "snapshot.git", first)
    assert (snapshot.repository.commit, snapshot.repository.left_out) == (first, ())
    assert "later.txt" not in snapshot.files
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert (work / "a.txt").read_text() == "first\n"
        files = [file for root in (work, snapshot.path) for file in root.rglob("*")]
        texts = [file.read_bytes() for file in files if file.is_file() and not file.is_symlink()]
        for telling in (first, later, str(repo), "later", "feature", "v2"):
            assert not [text for text in texts if telling.encode() in text], telling
        assert sh("git cat-file --batch-all-objects --batch-check | wc -l", work).strip() == "7"
        assert sh("git status --porcelain; git reflog; git fsck --unreachable", work) == ""
        names = {file.name for file in files}
        assert names.isdisjoint({"logs", "FETCH_HEAD", "ORIG_HEAD", "shallow", "hooks"})


async def test_a_commit_that_no_branch_has_is_copied_too(repo: Path, tmp_path: Path) -> None:
    sh("git checkout -q --detach; git checkout -q .; echo x > a.txt; git commit -qam off", repo)
    off = sh("git rev-parse HEAD; git checkout -q main; git reflog expire --all", repo).split()[0]
    sh("git config uploadpack.allowAnySHA1InWant false", repo)
    snapshot = await take_commit(repo, tmp_path / "snapshot.git", off)
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert (work / "a.txt").read_text() == "x\n"


@pytest.mark.parametrize("dirty", [False, True])
async def test_what_is_withheld_is_in_no_object_of_a_clone(
    repo: Path, tmp_path: Path, dirty: bool
) -> None:
    whole = await snapshot_of(repo, tmp_path, dirty=dirty)
    hash = sh("git hash-object a.txt" if dirty else "git rev-parse HEAD:a.txt", repo).strip()
    snapshot = await remove_files(whole, frozenset({hash}))
    assert whole.files - snapshot.files == {"a.txt"}
    assert snapshot.repository.tree == whole.repository.tree, "it says what the repository was"
    assert snapshot.repository.files == whole.repository.files - 1
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert not (work / "a.txt").exists()
        everything = sh("git cat-file --batch-all-objects --batch-check", work)
        for telling in (hash, whole.repository.tree, whole.commit, whole.repository.commit):
            assert str(telling) not in everything
    commit = str(whole.repository.commit)
    other = await take_commit(repo, tmp_path / "other.git", commit, snapshot.excluded)
    assert ("a.txt" in other.files) == dirty, "it is another content there"
    assert hash not in sh("git cat-file --batch-all-objects --batch-check", other.path)
