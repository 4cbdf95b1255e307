"""The private copy: the trees in it, which are what agents get of the user's files, and whether
somebody changed it, or leads git elsewhere."""

import hashlib
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from swarm_bench.runtime.untrusted import open_folder, open_untrusted
from swarm_bench.runtime.workspaces.content import INDEX
from swarm_bench.runtime.workspaces.git import git
from swarm_bench.runtime.workspaces.inventory import take_inventory


def sizes_of(repository: Path) -> dict[str, int] | None:
    """Return the bytes of each file; `None` for a repository behind a link, and for one with
    something else in it than files."""
    try:
        with open_folder(repository):
            files = take_inventory(repository)
    except OSError:
        return None
    regular = all(stat.S_ISREG(entry.kind) for entry in files.values())
    return {name: entry.size for name, entry in files.items()} if regular else None


def pushed_objects(sizes: Mapping[str, int]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if name.startswith("objects/")}


def select_fixed(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return those that no push changes, but for what HEAD says."""
    pushed = ("objects/", "refs/", "packed-refs")
    return {
        name: 0 if name == "HEAD" else size
        for name, size in sizes.items()
        if not name.startswith(pushed)
    }


def digest_of(objects: Path) -> str:
    """Hash the names and bytes of all files of git's that hold objects."""
    digest = hashlib.sha256()  # three times as fast as BLAKE2 where processors have it
    for name in sorted(take_inventory(objects)):
        with open_untrusted(objects / name, sys.maxsize) as file:
            content = hashlib.file_digest(file, "sha256").digest()
        digest.update(f"{name}\0".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()


async def write_tree(repo: Path, target: Path, names: Sequence[bytes]) -> str:
    """Put files of `repo` into the repository `target`. Returns their tree."""
    variables = _own_index(target, repo)
    feed = b"".join(name + b"\0" for name in names)
    await git("update-index", "-z", "--add", "--stdin", cwd=repo, env=variables, feed=feed)
    tree = (await git("write-tree", cwd=repo, env=variables)).decode().strip()
    (target / "snapshot-index").unlink(missing_ok=True)
    return tree


def _own_index(target: Path, files: Path) -> dict[str, str]:
    """Make the environment in which git puts `files` into the repository `target`."""
    return {
        "GIT_DIR": str(target),
        "GIT_WORK_TREE": str(files),
        "GIT_INDEX_FILE": str(target / "snapshot-index"),
    }


async def drop_index(target: Path, tree: str) -> str:
    """Make the tree without canopy's index, if that is committed."""
    return await _drop_entries(target, tree, lambda name, _: INDEX in name.split(b"/"))


async def drop_blobs(target: Path, tree: str, hashes: frozenset[str]) -> str:
    """Make the tree without the files and links whose content has one of these hashes."""
    if not hashes:
        return tree
    return await _drop_entries(target, tree, lambda _, hash: hash in hashes)


async def paths_of(target: Path, tree: str, hashes: frozenset[str]) -> list[bytes]:
    """List the paths of what has one of these hashes."""
    return [name for name, hash in await _list_entries(target, tree) if hash in hashes]


async def _drop_entries(target: Path, tree: str, is_omitted: Callable[[bytes, str], bool]) -> str:
    omitted = [name for name, hash in await _list_entries(target, tree) if is_omitted(name, hash)]
    if not omitted:
        return tree
    variables = _own_index(target, target)
    await git("read-tree", tree, cwd=target, env=variables)
    feed = b"".join(name + b"\0" for name in omitted)
    await git(
        "update-index", "-z", "--force-remove", "--stdin", cwd=target, env=variables, feed=feed
    )
    new_tree = (await git("write-tree", cwd=target, env=variables)).decode().strip()
    (target / "snapshot-index").unlink(missing_ok=True)
    return new_tree


async def _list_entries(target: Path, tree: str) -> list[tuple[bytes, str]]:
    """List the paths in a tree with git's hashes of what is there."""
    listing = await git("ls-tree", "-r", "-z", tree, cwd=target)
    entries = (entry.partition(b"\t") for entry in listing.split(b"\0") if entry)
    return [(name, header.split()[2].decode()) for header, _, name in entries]


async def list_contents(target: Path, tree: str) -> tuple[frozenset[str], int]:
    """List the paths of the files of a tree, and sum up their bytes."""
    listing = await git("ls-tree", "-r", "-z", "--long", tree, cwd=target)
    files, size = set[str](), 0
    for entry in filter(None, listing.split(b"\0")):
        header, _, name = entry.partition(b"\t")
        _, kind, _, length = header.split()
        if kind == b"blob":  # a submodule is only a commit's name here
            files.add(name.decode("utf-8", "replace"))
            size += int(length)
    return frozenset(files), size
