"""Reads many objects of a repository through one process of git's."""

import os
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import IO, NamedTuple, Self

from swarm_bench.core.errors import HarnessError
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.workspaces.git import ENVIRONMENT, SAFE

LARGEST = 4_000_000
"""Bytes of an object; a larger one is hardly source code, and is not read."""
MOST_KEPT = 32_000_000
"""Bytes of contents that are kept, since many answers are about the same files."""

MOST_LISTED = 128 * 1024 * 1024
"""Bytes of a list of files: trees that stand in trees again and again fill any memory."""
_PIECE = 1024 * 1024

_VALUES = {b"set": True, b"true": True, b"unset": False, b"false": False}
"""Values of an attribute, as git writes them."""


class Objects(AbstractContextManager["Objects"]):
    """The objects of one repository, while the block lasts. Threads may share it."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._turn = Lock()
        self._kept: dict[str, bytes | None] = {}
        self._room = MOST_KEPT

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [*git_command(), "cat-file", "--batch-command"],
            cwd=self._repository,
            env=git_surroundings(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # No tree of its own, which would be suspected of having started what agents hide. In
            # our session it is left alone, and in another group Ctrl-C does not reach it.
            process_group=0,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def blob(self, hash: str) -> bytes | None:
        """Return the content of an object by its whole hash, as `read` does; the last ones are
        kept. Raises `HarnessError`."""
        cache = self._kept  # another thread may begin a new one
        if hash not in cache:
            content = self.read(hash)
            self._room -= len(content or b"")
            if self._room < 0:
                self._kept, self._room = {}, MOST_KEPT
            cache[hash] = content
        return cache[hash]

    def read(self, name: str) -> bytes | None:
        """Return the content of an object, by its hash or as `revision:path`; `None` for one that
        is not there, is no file, or is too large. Raises `HarnessError`."""
        if "\n" in name or not name:
            return None
        with self._turn:
            size = self._read_size(name)
            return None if size is None else self._content(name, size)

    def tree(self, revision: str) -> "CommitTree":
        """Return the files of a commit, or of a tree. Raises `HarnessError`."""
        lines = list_entries(self._repository, revision, "--long")
        return CommitTree(objects=self, blobs=dict(filter(None, map(_parse_file, lines))))

    def find_files(self, revision: str, terms: Collection[str]) -> frozenset[str]:
        """Return the paths of the text files of a commit in which one of the terms stands as a
        whole word."""
        patterns = (part for term in sorted(terms) for part in ("-e", term))
        options = ("-I", "-l", "-z", "-w", "-F", "--no-textconv")
        listing = git_output(self._repository, "grep", *options, *patterns, revision, "--") or b""
        names = listing.decode("utf-8", "surrogateescape").split("\0")
        return frozenset(name.removeprefix(f"{revision}:") for name in names if name)

    def _read_size(self, name: str) -> int | None:
        fields = self._ask(f"info {name}").split(" ")
        if len(fields) != 3 or fields[1] != "blob" or int(fields[2]) > LARGEST:
            return None
        return int(fields[2])

    def _content(self, name: str, size: int) -> bytes:
        self._ask(f"contents {name}")
        content = self._stdout.read(size + 1)
        if len(content) != size + 1:
            raise self._build_error()
        return content[:-1]

    def _ask(self, command: str) -> str:
        try:
            self._stdin.write(command.encode("utf-8", "surrogateescape") + b"\n")
            self._stdin.flush()
        except OSError as error:
            raise self._build_error() from error
        line = self._stdout.readline()
        if not line:
            raise self._build_error()
        return line.removesuffix(b"\n").decode("utf-8", "replace")

    def _build_error(self) -> HarnessError:
        return HarnessError(f"git ended while it read {self._repository}; see that it is whole")

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


class Blob(NamedTuple):
    """A file as a tree lists it."""

    hash: str
    size: int
    """Bytes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CommitTree:
    """The files of a repository at one commit, as `Tree` in core/ports.py says."""

    objects: Objects
    blobs: dict[str, Blob]
    """Blobs by path."""

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(self.blobs)

    @cached_property
    def sizes(self) -> dict[str, int]:
        return {path: blob.size for path, blob in self.blobs.items()}

    def read(self, path: str) -> bytes | None:
        blob = self.blobs.get(path)
        return None if blob is None else self.objects.blob(blob.hash)


def read_attributes(
    repository: Path, commit: str, paths: Iterable[str], names: Iterable[str]
) -> Mapping[str, Mapping[str, bool]]:
    """Return for each path those of the attributes that are set, or unset, by name. Raises
    `HarnessError`."""
    feed = b"".join(f"{path}\0".encode("utf-8", "surrogateescape") for path in paths)
    with temporary() as folder:
        index = {"GIT_INDEX_FILE": str(folder / "index")}  # git looks at no commit itself
        _run(repository, index, b"", "read-tree", commit)
        arguments = ("check-attr", "--cached", "--stdin", "-z", *names)
        fields = _run(repository, index, feed, *arguments).split(b"\0")
    declared: dict[str, dict[str, bool]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        if value in _VALUES:
            of_path = declared.setdefault(path.decode("utf-8", "surrogateescape"), {})
            of_path[name.decode()] = _VALUES[value]
    return declared


def _run(repository: Path, index: Mapping[str, str], feed: bytes, *arguments: str) -> bytes:
    done = subprocess.run(
        [*git_command(), *arguments],
        cwd=repository,
        env={**git_surroundings(), **index},
        input=feed,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise HarnessError(f"git cannot read the attributes of {repository}; see that it is whole")
    return done.stdout


def list_entries(
    repository: Path, revision: str, *options: str, max_bytes: int = MOST_LISTED
) -> Iterator[bytes]:
    """Yield the entries of a commit, or of a tree, with all that is in its folders. Raises
    `HarnessError`, also for more than `max_bytes`."""
    with subprocess.Popen(
        [*git_command(), "ls-tree", "-r", "-z", *options, revision],
        cwd=repository,
        env=git_surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout
        remaining, size = b"", 0
        while piece := process.stdout.read(_PIECE):
            size += len(piece)
            if size > max_bytes:
                process.kill()
                raise HarnessError(
                    f"{revision} lists more than {max_bytes / 2**20:g} MiB of names; "
                    "name another commit"
                )
            *entries, remaining = (remaining + piece).split(b"\0")
            yield from entries
    if process.returncode != 0:
        raise HarnessError(f"git cannot list the files of {revision} in {repository}")


def git_output(repository: Path, *arguments: str) -> bytes | None:
    """Run git in a repository of strangers, and return what it prints; `None` when it fails."""
    done = git_done(repository, *arguments)
    return done.stdout if done.returncode == 0 else None


def git_done(repository: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in a repository of strangers."""
    return subprocess.run(
        [*git_command(), *arguments],
        cwd=repository,
        env=git_surroundings(),
        capture_output=True,
        check=False,
    )


def git_command() -> list[str]:
    return ["git", *(word for setting in SAFE for word in ("-c", setting))]


def git_surroundings() -> dict[str, str]:
    return {**small_environment(os.environ), **ENVIRONMENT}


def _parse_file(entry: bytes) -> tuple[str, Blob] | None:
    """Read an entry of `git ls-tree --long`; `None` for links and submodules."""
    header, _, name = entry.partition(b"\t")
    if not header.startswith((b"100644 ", b"100755 ")):
        return None
    _, _, hash, size = header.split()
    return name.decode("utf-8", "surrogateescape"), Blob(hash.decode(), int(size))
