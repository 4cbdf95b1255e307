"""What the files of the private copy tell: whether somebody changed it, or leads git elsewhere."""

import hashlib
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from swarm_bench.runtime.untrusted import open_folder, open_untrusted
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
