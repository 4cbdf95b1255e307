"""Copies of the user's repository: one private snapshot per session, one clone per swarm.

The original is only ever read. A clone has its own objects, one branch, one commit and no remote,
so nothing that an agent does with git can reach the original, or even learn where it lies.
"""

import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio

from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.session.experiment import Repository
from swarm_bench.runtime.files import remove, store_errors
from swarm_bench.runtime.untrusted import open_folder
from swarm_bench.runtime.workspaces.checkout import commit_of, refuse_missing_objects
from swarm_bench.runtime.workspaces.content import (
    list_uncommitted,
    refuse_patterns,
    select_changed,
    select_folder,
)
from swarm_bench.runtime.workspaces.git import git, try_git
from swarm_bench.runtime.workspaces.omissions import Omissions
from swarm_bench.runtime.workspaces.private_copy import (
    digest_of,
    drop_blobs,
    drop_index,
    list_contents,
    pushed_objects,
    select_fixed,
    sizes_of,
    write_tree,
)

SNAPSHOT = "snapshot.git"
"""Name of the session's own, in its work folder."""
BRANCH = "main"
LONGEST_CLONING = 1800.0
"""Seconds. An agent that still runs can put a pipe in git's way after we looked."""
PLACEMENTS = 10
"""Tries to move a clone to its path before that is an error."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A bare repository with one commit, and what was taken into it."""

    path: Path
    repository: Repository
    files: frozenset[str]
    """Paths relative to the root, with `/`."""
    commit: str | None = None
    """Its own, which has no history; `None` for one that nothing is cloned from."""
    objects: str | None = None
    """The hash of its object files: git believes a file that says it is another's content."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each of its files."""
    excluded: frozenset[str] = frozenset()
    """Git's hashes of the files that neither it nor a copy of another commit has."""


async def take_snapshot(
    repo: Path,
    target: Path,
    *,
    dirty: bool,
    include: Sequence[str] = (),
    is_named: bool = False,
    tasks: Path | None = None,
) -> Snapshot:
    """Copy the content of `repo` into a new bare repository at `target`.

    A git checkout gives its HEAD, and its uncommitted changes too if `dirty`; a plain folder gives
    all its files but those in folders that ignore themselves. Files that hold keys and very large
    ones are not taken but with a commit, or if they match one of the patterns to `include`. A very
    large plain folder is only taken if the user named it. Canopy's index is omitted, and so are
    sessions that are not committed: they hold answers. The file of the `tasks` is no change of a
    checkout. Raises `UsageError` when there is nothing.
    """
    repo, target = repo.resolve(), target.absolute()
    commit = await commit_of(repo)
    await _init(target, await _object_format(repo))
    if commit is not None and not dirty:
        refuse_patterns(include, repo)
        await anyio.to_thread.run_sync(refuse_missing_objects, repo, ["HEAD"])
        tree, omissions = (
            await _fetch(repo, target, "HEAD"),
            await list_uncommitted(repo, target, tasks),
        )
    else:
        select = partial(select_folder, repo, include, is_named=is_named)
        selection = await (
            select_changed(repo, include) if commit else anyio.to_thread.run_sync(select)
        )
        tree, omissions = await write_tree(repo, target, selection.names), selection.omissions
    repository = await _describe(
        repo, target, tree, commit=commit, dirty=bool(dirty and commit), omissions=omissions
    )
    return await _commit_files(target, repository, frozenset())


async def take_commit(
    repo: Path, target: Path, commit: str, excluded: frozenset[str] = frozenset()
) -> Snapshot:
    """Copy any commit of a checkout into a new bare repository at `target`, without the files of
    the hashes `excluded`, and nothing else. Raises `UsageError` when it holds no files, and
    `HarnessError` when it is not there."""
    repo, target = repo.resolve(), target.absolute()
    await _init(target, await _object_format(repo))
    tree = await _fetch(repo, target, commit)
    repository = await _describe(
        repo, target, tree, commit=commit, dirty=False, omissions=Omissions()
    )
    return await _commit_files(target, repository, excluded)


async def remove_files(snapshot: Snapshot, excluded: frozenset[str]) -> Snapshot:
    """Take the files of these hashes out of a snapshot, also out of its objects. Raises
    `UsageError` when nothing is left."""
    return await _commit_files(snapshot.path, snapshot.repository, excluded)


async def _describe(
    repo: Path, target: Path, tree: str, *, commit: str | None, dirty: bool, omissions: Omissions
) -> Repository:
    """Describe what was copied as a tree into the repository `target`; the files are counted when
    they are committed."""
    tree = await drop_index(target, tree)
    return Repository(
        path=str(repo),
        kind="folder" if commit is None else "git",
        commit=commit,
        dirty=dirty,
        tree=tree,
        files=0,
        bytes=0,
        left_out=omissions.sentences,
        omitted=omissions.names,
    )


async def _commit_files(target: Path, repository: Repository, excluded: frozenset[str]) -> Snapshot:
    """Commit a tree that was copied into the repository `target`."""
    tree = await drop_blobs(target, repository.tree, excluded)
    files, size = await list_contents(target, tree)
    if not files:
        exception = " but files with answer keys" if tree != repository.tree else ""
        raise UsageError(
            f"{repository.path} holds no files{exception}; there is nothing for agents to work on"
        )
    snapshot = Snapshot(
        path=target,
        repository=repository.model_copy(update={"files": len(files), "bytes": size}),
        files=files,
        commit=await _commit_tree(target, tree),
        excluded=excluded,
    )
    return await anyio.to_thread.run_sync(_add_objects, snapshot)


@asynccontextmanager
async def clone(snapshot: Snapshot, path: Path, *, keep: Path | None) -> AsyncIterator[Path]:
    """Make a workspace at `path` for the block, instead of whatever lies there. Afterwards it is
    removed, or moved to `keep`.

    Raises `HarnessError`, also when somebody pushed into the snapshot since it was taken: it has
    been put back then, so that the next clone is as it should be.
    """
    fresh = path.parent / f".{os.urandom(8).hex()}"
    try:
        with store_errors(path), open_folder(path.parent, make=True):
            pass  # no link is on the way
        try:
            with anyio.fail_after(LONGEST_CLONING):
                await _check_unchanged(snapshot)
                await _clone(snapshot, fresh)
        except TimeoutError as error:
            raise _build_change_error(snapshot) from error
        await _check_content(snapshot, fresh)
        await anyio.to_thread.run_sync(_put, fresh, path)
        yield path
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_end, fresh, path, keep)


def _end(fresh: Path, path: Path, keep: Path | None) -> None:
    """Remove a clone, which never reached its path if it is still `fresh`, or keep it."""
    remove(fresh)
    if keep is None or not path.is_dir() or path.is_symlink():
        remove(path)
        return
    with store_errors(keep):
        remove(keep)
        keep.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, keep)


async def _clone(snapshot: Snapshot, fresh: Path) -> None:
    # Copied object files are as private as fetched ones, without packing all again.
    await git(
        "clone", "--quiet", "--no-hardlinks", "--single-branch", "--branch", BRANCH,
        "--no-tags", "--template=", snapshot.path, fresh, cwd=snapshot.path,
    )  # fmt: skip
    await git("remote", "remove", "origin", cwd=fresh)
    await anyio.to_thread.run_sync(remove, fresh / ".git" / "logs")  # they say where it came from


async def _check_unchanged(snapshot: Snapshot) -> None:
    """Restore a snapshot into which an agent pushed: later clones would show what it did."""
    expected, target = f"{snapshot.commit} refs/heads/{BRANCH}", snapshot.path
    sizes = await anyio.to_thread.run_sync(sizes_of, target)
    # Git would wait for a pipe, and other files could lead it to another repository.
    if sizes is None or select_fixed(sizes) != select_fixed(snapshot.sizes):
        raise _build_change_error(snapshot)
    listing = await git("for-each-ref", "--format=%(objectname) %(refname)", cwd=target)
    if listing.decode("utf-8", "replace").split("\n")[:-1] == [expected]:
        if pushed_objects(sizes) != pushed_objects(snapshot.sizes):
            raise _build_change_error(snapshot)
        return
    for path in (target / "packed-refs", target / "refs"):
        await anyio.to_thread.run_sync(remove, path)
    (target / "refs").mkdir()  # without it git sees no repository
    await git("update-ref", f"refs/heads/{BRANCH}", str(snapshot.commit), cwd=target)
    await _pack(target)
    raise HarnessError(
        f"The private copy of the repository in {target} was changed since the session began, "
        "probably by an agent, and was put back; run this swarm again with --continue"
    )


async def _check_content(snapshot: Snapshot, fresh: Path) -> None:
    head = (await git("rev-parse", "HEAD", cwd=fresh)).decode().strip()
    objects = await anyio.to_thread.run_sync(digest_of, fresh / ".git" / "objects")
    if (head, objects) != (snapshot.commit, snapshot.objects):
        raise _build_change_error(snapshot)


def _build_change_error(snapshot: Snapshot) -> HarnessError:
    return HarnessError(
        f"The private copy of the repository in {snapshot.path} was changed since the session "
        "began, probably by an agent; continue with --continue, which makes a new one"
    )


def _add_objects(snapshot: Snapshot) -> Snapshot:
    digest, sizes = digest_of(snapshot.path / "objects"), sizes_of(snapshot.path)
    return replace(snapshot, objects=digest, sizes=sizes or {})


def _put(fresh: Path, path: Path) -> None:
    """Move a folder to where a service that had an earlier clone may make one at any time."""
    with store_errors(path):
        for _ in range(PLACEMENTS - 1):
            remove(path)
            with suppress(OSError):
                fresh.rename(path)
                return
        remove(path)
        fresh.rename(path)


_FIXED_DATE = {
    # Equal content must give an equal commit, so that every session shows agents the same.
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
}


async def _init(target: Path, object_format: str) -> None:
    """Make an empty bare repository."""
    target.mkdir(parents=True)
    await git(
        "init", "--quiet", "--bare", f"--initial-branch={BRANCH}", "--template=",
        f"--object-format={object_format}", cwd=target,
    )  # fmt: skip


async def _object_format(repo: Path) -> str:
    answer = await try_git("rev-parse", "--show-object-format", cwd=repo)  # silent outside of git
    return answer.stdout.decode().strip() or "sha1"


async def _commit_tree(target: Path, tree: str) -> str:
    printed = await git("commit-tree", tree, "-m", "snapshot", cwd=target, env=_FIXED_DATE)
    await git("update-ref", f"refs/heads/{BRANCH}", commit := printed.decode().strip(), cwd=target)
    await _pack(target)
    return commit


async def _pack(target: Path) -> None:
    """Leave one file that is quick to copy, and nothing in it but our commit."""
    await git("repack", "-a", "-d", "-q", cwd=target)
    await git("prune", "--expire=now", cwd=target)


async def _fetch(repo: Path, target: Path, commit: str) -> str:
    """Fetch the commit alone: later commits, other branches and stashes stay behind."""
    tree = (await git("rev-parse", f"{commit}:./", cwd=repo)).decode().strip()
    top = (await git("rev-parse", "--show-toplevel", cwd=repo)).removesuffix(b"\n")
    await git(
        "fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head",
        Path(os.fsdecode(top)).as_uri(), commit, cwd=target,
    )  # fmt: skip
    return tree
