"""Fetches files of repositories at commits. Nothing is checked out: git brings objects, and we
write those that are files, so that no link, filter or hook of theirs has an effect."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import anyio
from pathspec import GitIgnoreSpec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from swarm_bench.config.text_file import read_text
from swarm_bench.core.errors import ConfigError, HarnessError, UsageError
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.validation import first_clause
from swarm_bench.datasets.fetched.cache import FetchedRepository
from swarm_bench.datasets.fetched.download import Limits, checked_address
from swarm_bench.datasets.progress import Progress
from swarm_bench.runtime.files import make_folder, remove, store_errors, writable
from swarm_bench.runtime.process import Captured
from swarm_bench.runtime.workspaces.git import try_git
from swarm_bench.runtime.workspaces.objects import LARGEST, Objects, git_output

_SCHEMES = ("https://", "file://")
_PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")
_FOLDER = re.compile(r"(?!dataset\.json$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_IDENTIFIER = re.compile(rb"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+() -]{1,80})")
_LICENCE = re.compile(r"(?:licen[cs]e|copying)(?:\.\w+)?", re.IGNORECASE)
_POINTER = b"version https://git-lfs.github.com/spec/"
_KINDS = {"120000": "a link", "160000": "a submodule"}
_HEAD = 4096
"""Bytes of a file that are searched for its licence."""
_PAUSE = 0.2
"""Seconds between two looks at what has come."""


def _address(repo: str) -> str:
    if not repo.startswith(_SCHEMES):
        raise ValueError("must begin with https:// or file://")
    if repo.startswith("https://"):
        try:
            checked_address(repo)
        except UsageError as error:
            raise ValueError("must not have a login in it") from error
    if not _FOLDER.fullmatch(_name_of(repo)):
        raise ValueError("must end with the name of the repository")
    return repo


def _pattern(pattern: str) -> str:
    parts = pattern.split("/")
    if not pattern.strip() or pattern.startswith("/") or ".." in parts or "\0" in pattern:
        raise ValueError("must be a pattern below the root of the repository")
    return pattern


def _name_of(repo: str) -> str:
    return repo.rstrip("/").rpartition("/")[2].removesuffix(".git")


class Repository(BaseModel):
    """A repository, and which of its files to take."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repo: Annotated[str, AfterValidator(_address)]
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    include: tuple[Annotated[str, AfterValidator(_pattern)], ...] = Field(min_length=1)


class RepositoryList(BaseModel):
    """The list that a person writes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    content: tuple[Repository, ...] = Field(min_length=1)


def read_list(path: Path) -> RepositoryList:
    """Read a list of repositories. Raises `ConfigError`."""
    text = read_text(path, "list of repositories")
    try:
        listed = RepositoryList.model_validate_json(text)
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_clause(error)}; fix it") from error
    names = [_name_of(it.repo) for it in listed.content]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"{path}: two repositories are called {twice}; fetch them one by one")
    return listed


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What a tree lists."""

    mode: str
    hash: str
    path: str


class Taken:
    """The files that were written so far, of all repositories."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.hashes = dict[str, str]()
        self._folder, self._limits, self._size = folder, limits, 0

    def write(self, path: str, content: bytes) -> None:
        """Write a file. Raises `UsageError` when there are too many bytes, and `StoreError`."""
        self._size += len(content)
        if self._size > self._limits.size:
            raise UsageError(
                f"The files have more than {self._limits.size / 2**20:g} MiB; include less"
            )
        target = self._folder / path
        make_folder(target.parent)
        with store_errors(target), writable(target, "xb") as file:
            file.write(content)
        self.hashes[path] = sha256(content).hexdigest()


def fetch_repository(
    wanted: Repository, store: Path, taken: Taken, progress: Progress, limits: Limits
) -> FetchedRepository:
    """Fetch a commit into the folder `store`, which is gone afterwards, and write its files. Raises
    `UsageError`, and `HarnessError` where nobody answers."""
    make_folder(store)
    try:
        with cancelling():
            anyio.run(_fetch, wanted, store, progress, limits)
        entries = list(_entries(wanted, store))
        chosen = _chosen(wanted, entries)
        with Objects(store) as objects:
            omitted, identifiers = _write(wanted, chosen, objects, taken)
            licence = ", ".join(sorted(identifiers)) or _licence_of(entries, objects)
        day = git_output(store, "log", "-1", "--format=%cs", wanted.commit) or b""
        return FetchedRepository(
            repository=wanted.repo,
            commit=wanted.commit,
            committed=date.fromisoformat(day.decode().strip()),
            include=wanted.include,
            licence=licence,
            omitted=omitted,
        )
    finally:
        remove(store)


async def _fetch(wanted: Repository, store: Path, progress: Progress, limits: Limits) -> None:
    """Fetch one commit. Raises `UsageError`, and `HarnessError`."""
    bare = ("init", "--quiet", "--bare", "--template=", ".")
    done: Captured | None = await try_git(*bare, cwd=store)
    if done and done.returncode == 0:
        done = None
        async with anyio.create_task_group() as group:
            group.cancel_scope.deadline = anyio.current_time() + limits.longest
            group.start_soon(_watch, wanted, store, progress, limits, group.cancel_scope)
            done = await try_git(*_arguments(wanted, limits), cwd=store, env=_surroundings())
            group.cancel_scope.cancel()
    if done is None:
        raise UsageError(
            f"{wanted.repo} has more than {limits.store / 2**20:g} MiB at {wanted.commit[:12]}, or "
            f"takes longer than {limits.longest:g} s; fetch another one"
        )
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        fatal = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
        why = max(fatal, key=len, default=": no message").partition(":")[2].strip()
        raise HarnessError(
            f"git cannot fetch {wanted.commit[:12]} of {wanted.repo} ({why}); see that both exist"
        )


def _arguments(wanted: Repository, limits: Limits) -> Iterator[str]:
    settings = (
        "fetch.fsckObjects=true",
        "fetch.unpackLimit=1",
        "submodule.recurse=false",
        "credential.helper=",
        "protocol.version=2",
        f"http.lowSpeedLimit={round(limits.least / limits.seconds)}",
        f"http.lowSpeedTime={max(1, round(limits.seconds))}",
    )
    yield from (word for setting in settings for word in ("-c", setting))
    yield from ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
    yield from ("--no-write-fetch-head", "--", wanted.repo, wanted.commit)


def _surroundings() -> Mapping[str, str]:
    """Allow where it may come from, redirects included, and take the user's proxies."""
    own = {name: os.environ[name] for name in _PROXIES if name in os.environ}
    if "SSL_CERT_FILE" in os.environ:
        own["GIT_SSL_CAINFO"] = os.environ["SSL_CERT_FILE"]
    return {**own, "GIT_ALLOW_PROTOCOL": "https:file"}


async def _watch(
    wanted: Repository,
    store: Path,
    progress: Progress,
    limits: Limits,
    scope: anyio.CancelScope,
) -> None:
    """Look at what has come until it is too much."""
    while (size := await anyio.to_thread.run_sync(_size, store)) <= limits.store:
        progress.reached(f"{wanted.repo}: {size / 1e6:,.1f} MB")
        await anyio.sleep(_PAUSE)
    scope.cancel()


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # git renames what is whole
            total += path.lstat().st_size
    return total


def _entries(wanted: Repository, store: Path) -> Iterator[Entry]:
    """Yield what is in the commit. Raises `UsageError`."""
    listed = git_output(store, "ls-tree", "-r", "-z", wanted.commit)
    if listed is None:
        raise UsageError(f"{wanted.commit} of {wanted.repo} is no commit; give its whole hash")
    for line in filter(None, listed.split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, _, hash = about.decode().split()
        yield Entry(mode=mode, hash=hash, path=name.decode("utf-8", "surrogateescape"))


def _chosen(wanted: Repository, entries: Sequence[Entry]) -> list[Entry]:
    """Choose what a pattern matches, or a folder that it matches. Raises `UsageError` for a pattern
    that matches nothing."""
    chosen = dict[str, Entry]()
    for pattern in wanted.include:
        spec = GitIgnoreSpec.from_lines([f"/{pattern}"])
        matched = {it.path: it for it in entries if spec.match_file(it.path)}
        if not matched:
            raise UsageError(
                f"{wanted.repo} has nothing that fits {pattern!r} at {wanted.commit[:12]}; fix it"
            )
        chosen |= matched
    return list(chosen.values())


def _write(
    wanted: Repository, chosen: Sequence[Entry], objects: Objects, taken: Taken
) -> tuple[Mapping[str, str], set[str]]:
    """Write the files. Returns why others are omitted, and the licences that the files name. Raises
    `UsageError` where none is left."""
    omitted, identifiers = dict[str, str](), set[str]()
    for entry in chosen:
        why, content = _KINDS.get(entry.mode), None
        if why is None and not _is_plain(entry.path):
            why = "a name that is no path"
        elif why is None:
            content = objects.read(entry.hash)
            if content is None:
                why = f"a file of more than {LARGEST // 1_000_000} MB"
            elif content.startswith(_POINTER):
                why = "a pointer of Git LFS, whose content is elsewhere"
        if why is not None or content is None:
            omitted[entry.path.encode("utf-8", "replace").decode()] = why or "unreadable"
            continue
        taken.write(f"{_name_of(wanted.repo)}/{entry.path}", content)
        names = _IDENTIFIER.findall(content[:_HEAD])
        identifiers |= {name.decode().strip() for name in names}
    if len(omitted) == len(chosen):
        whys = ", ".join(sorted(set(omitted.values())))
        raise UsageError(f"{wanted.repo} has no file to take, but {whys}; include others")
    return omitted, identifiers


def _is_plain(path: str) -> bool:
    """Tell whether a name is of UTF-8, and stays in its folder."""
    with suppress(UnicodeEncodeError):
        path.encode()
        return {"", ".", "..", ".git"}.isdisjoint(part.lower() for part in path.split("/"))
    return False


def _licence_of(entries: Sequence[Entry], objects: Objects) -> str | None:
    """Return the first line of the licence of a repository."""
    named = (it for it in entries if _LICENCE.fullmatch(it.path) and it.mode not in _KINDS)
    for entry in named:
        text = (objects.read(entry.hash) or b"")[:_HEAD].decode("utf-8", "replace")
        for line in text.splitlines():
            if printable := "".join(filter(str.isprintable, line)).strip(" #*"):
                return printable[:80]
    return None
