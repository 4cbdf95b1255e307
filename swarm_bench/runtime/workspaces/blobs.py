"""Reads each distinct file of many commits once, through few processes of git's."""

import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from swarm_bench.core.errors import HarnessError
from swarm_bench.runtime.workspaces.objects import git_command, git_surroundings


class Blob(NamedTuple):
    """The content of a file, or of several."""

    hash: str
    path: str
    """Path of the first such file below the root."""
    size: int
    """Bytes."""


def find_trees(repository: Path, commits: Iterable[str]) -> dict[str, str]:
    """Return the hashes of the trees of commits, below the folder; a commit that is not there has
    none. Raises `HarnessError`."""
    commits = list(commits)
    form = "--batch-check=%(objecttype) %(objectname)"
    names = (f"{commit}:./" for commit in commits)
    descriptions = _run_git(repository, names, "cat-file", "--buffer", form).decode().splitlines()
    pairs = zip(commits, (line.split(" ") for line in descriptions), strict=True)
    return {commit: hash for commit, (kind, hash) in pairs if kind == "tree"}


def list_blobs(repository: Path, trees: Collection[str]) -> list[Blob]:
    """List what the files and links of these trees hold, each content once. Raises
    `HarnessError`."""
    options = ("rev-list", "--objects", "--no-walk", "--filter=object:type=blob", "--stdin")
    listing = _run_git(repository, trees, *options)
    paths = dict(line.split(b" ", 1) for line in listing.splitlines() if b" " in line)
    form = "--batch-check=%(objecttype) %(objectsize)"
    descriptions = _run_git(repository, map(bytes.decode, paths), "cat-file", "--buffer", form)
    return [
        Blob(hash.decode(), path.decode("utf-8", "surrogateescape"), int(kind.split()[1]))
        for (hash, path), kind in zip(paths.items(), descriptions.splitlines(), strict=True)
        if kind.startswith(b"blob ")
    ]


def read_blobs(repository: Path, blobs: Iterable[Blob]) -> Iterator[tuple[Blob, bytes]]:
    """Yield them with their content. Raises `HarnessError`."""
    blobs = list(blobs)
    with _start_git(
        repository, (blob.hash for blob in blobs), "cat-file", "--batch", "--buffer"
    ) as git:
        printed = git.stdout
        assert printed is not None
        try:
            for blob in blobs:
                yield blob, _content(printed, blob, repository)
        finally:
            git.kill()


def _content(printed: IO[bytes], blob: Blob, repository: Path) -> bytes:
    head = printed.readline()
    content = printed.read(blob.size + 1)
    if head != f"{blob.hash} blob {blob.size}\n".encode() or len(content) != blob.size + 1:
        raise HarnessError(f"git ended while it read {repository}; see that it is whole")
    return content[:-1]


def _run_git(repository: Path, lines: Iterable[str], *arguments: str) -> bytes:
    with _start_git(repository, lines, *arguments) as git:
        printed, _ = git.communicate()
    if git.returncode != 0:
        raise HarnessError(f"git cannot list the files of {repository}; see that it is whole")
    return printed


def _start_git(
    repository: Path, lines: Iterable[str], *arguments: str
) -> "subprocess.Popen[bytes]":
    """Start git on these lines, which lie in a file: who fed a pipe would have to read one, too."""
    with tempfile.TemporaryFile() as feed:
        feed.writelines(f"{line}\n".encode() for line in lines)
        feed.seek(0)
        return subprocess.Popen(
            [*git_command(), *arguments],
            cwd=repository,
            env=git_surroundings(),
            stdin=feed,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # as in `Objects`
        )
