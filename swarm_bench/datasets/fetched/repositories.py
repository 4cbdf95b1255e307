"""Fetching of files of repositories at commits. Nothing is checked out: git brings objects, and we
write those that are files, so that no link, filter or hook of a repository has an effect."""

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

from swarm_bench.config.text_file import decode_text, read_text
from swarm_bench.core.errors import ConfigError, HarnessError, UsageError
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.validation import first_clause
from swarm_bench.datasets.fetched.cache import FetchedRepository, is_plain
from swarm_bench.datasets.fetched.download import Limits, checked_address
from swarm_bench.datasets.progress import Progress
from swarm_bench.runtime.files import make_folder, remove, store_errors, writable
from swarm_bench.runtime.process import Captured
from swarm_bench.runtime.workspaces.git import try_git
from swarm_bench.runtime.workspaces.objects import LARGEST, Objects, git_output, list_entries

_SCHEMES = ("https://", "file://")
_FOLDER = re.compile(r"(?!dataset\.json$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _address(repo: str) -> str:
    if not repo.startswith(_SCHEMES):
        raise ValueError("must begin with https:// or file://")
    if repo.startswith("https://"):
        try:
            checked_address(repo)
        except UsageError as error:
            raise ValueError("must be an address without a login") from error
    if not _FOLDER.fullmatch(name_of(repo)):
        raise ValueError("must end with the name of the repository")
    return repo


def _pattern(pattern: str) -> str:
    parts = pattern.split("/")
    if not pattern.strip() or pattern.startswith("/") or ".." in parts or "\0" in pattern:
        raise ValueError("must be a pattern below the root of the repository")
    try:
        spec_of(pattern)
    except (ValueError, re.error) as error:
        raise ValueError(f"cannot be read as a pattern ({error})") from error
    return pattern


def spec_of(pattern: str) -> GitIgnoreSpec:
    """Return what matches as a pattern does: files, and folders with all that lies in them."""
    return GitIgnoreSpec.from_lines([f"/{pattern}"])


def name_of(repo: str) -> str:
    """Return the name of a repository, which its folder has."""
    return repo.rstrip("/").rpartition("/")[2].removesuffix(".git")


def _whole_hash(commit: str) -> str:
    if not re.fullmatch("[0-9a-f]{40}", commit):
        raise ValueError(
            f"{commit!r} is not the whole hash of a commit, 40 digits as `git rev-parse` prints it"
        )
    return commit


class Repository(BaseModel):
    """A repository, and which of its files to take."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repo: Annotated[str, AfterValidator(_address)]
    commit: Annotated[str, AfterValidator(_whole_hash)]
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
        repository_list = RepositoryList.model_validate_json(text)
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_clause(error)}; fix it") from error
    names = [name_of(entry.repo) for entry in repository_list.content]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"{path}: two repositories are called {twice}; fetch them one by one")
    return repository_list


_PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")
_IDENTIFIER = re.compile(rb"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+() -]{0,79}[A-Za-z0-9+)])")
_LICENCE = re.compile(r"(?:licen[cs]e|copying)(?:\.\w+)?", re.IGNORECASE)
_POINTER = b"version https://git-lfs.github.com/spec/"
_KINDS = {"120000": "a link", "160000": "a submodule"}
_HEAD = 4096
"""Bytes of a file that are searched for its licence."""
_PAUSE = 0.2
"""Seconds between two looks at what has come."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What a tree lists."""

    mode: str
    hash: str
    path: str


class FileSelection:
    """The files that were written so far, of all repositories."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.hashes = dict[str, str]()
        self._folder, self._limits, self._size = folder, limits, 0

    def write(self, path: str, content: bytes) -> None:
        """Write a file. Raises `UsageError` when there are too many, and `StoreError`."""
        if len(self.hashes) == self._limits.files:
            raise _too_many(self._limits)
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
    source: Repository, store: Path, selection: FileSelection, progress: Progress, limits: Limits
) -> FetchedRepository:
    """Fetch a commit into the folder `store`, which is gone afterwards, and write its files. Raises
    `UsageError`, and `HarnessError` where no server answers."""
    make_folder(store)
    try:
        with cancelling():
            anyio.run(_fetch, source, store, progress, limits)
        day = _day_of(source, store)
        selected, licences = _select_files(source, store, limits)
        with Objects(store) as objects:
            omitted, identifiers = _write(source, selected, objects, selection)
            licence = ", ".join(sorted(identifiers)) or _licence_of(licences, objects)
        return FetchedRepository(
            repository=source.repo,
            commit=source.commit,
            committed=day,
            include=source.include,
            licence=licence,
            omitted=omitted,
        )
    finally:
        remove(store)


def _day_of(source: Repository, store: Path) -> date:
    """Return when the commit was made. Raises `UsageError`."""
    day = git_output(store, "log", "-1", "--format=%cs", f"{source.commit}^{{commit}}")
    if day is None:
        raise UsageError(f"{source.commit} of {source.repo} is no commit; give its whole hash")
    try:
        return date.fromisoformat(day.decode().strip())
    except ValueError as error:  # a year of five digits
        raise UsageError(
            f"The date of {source.commit[:12]} of {source.repo} cannot be read; give another commit"
        ) from error


async def _fetch(source: Repository, store: Path, progress: Progress, limits: Limits) -> None:
    """Fetch one commit. Raises `UsageError`, and `HarnessError`."""
    init_command = ("init", "--quiet", "--bare", "--template=", ".")
    done: Captured | None = await try_git(*init_command, cwd=store)
    if done and done.returncode == 0:
        done = None
        async with anyio.create_task_group() as group:
            group.cancel_scope.deadline = anyio.current_time() + limits.longest
            group.start_soon(_watch, source, store, progress, limits, group.cancel_scope)
            done = await try_git(*_arguments(source, limits), cwd=store, env=_build_environment())
            group.cancel_scope.cancel()
    if done is None:
        raise UsageError(
            f"{source.repo} has more than {limits.store / 2**20:g} MiB at {source.commit[:12]}, or "
            f"takes longer than {limits.longest:g} s; fetch another one"
        )
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        fatal = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
        reason = max(fatal, key=len, default=": no message").partition(":")[2].strip()
        raise HarnessError(
            f"git cannot fetch {source.commit[:12]} of {source.repo} ({reason}); "
            "see that both exist"
        )


def _arguments(source: Repository, limits: Limits) -> Iterator[str]:
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
    yield from ("--no-write-fetch-head", "--", source.repo, source.commit)


def _build_environment() -> Mapping[str, str]:
    """Allow where it may come from, redirects included, and take the user's proxies."""
    proxies = {name: os.environ[name] for name in _PROXIES if name in os.environ}
    if "SSL_CERT_FILE" in os.environ:
        proxies["GIT_SSL_CAINFO"] = os.environ["SSL_CERT_FILE"]
    return {**proxies, "GIT_ALLOW_PROTOCOL": "https:file"}


async def _watch(
    source: Repository,
    store: Path,
    progress: Progress,
    limits: Limits,
    scope: anyio.CancelScope,
) -> None:
    """Look at what has come until it is too much."""
    while (size := await anyio.to_thread.run_sync(_size, store)) <= limits.store:
        progress.reached(f"{source.repo}: {size / 1e6:,.1f} MB")
        await anyio.sleep(_PAUSE)
    scope.cancel()


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # git renames what is whole
            total += path.lstat().st_size
    return total


def _select_files(source: Repository, store: Path, limits: Limits) -> tuple[list[Entry], ...]:
    """Return what a pattern matches, or a folder that it matches, and the licences. Raises
    `UsageError`, also for a pattern that matches nothing."""
    specs = {pattern: spec_of(pattern) for pattern in source.include}
    matched, selected, licences = set[str](), list[Entry](), list[Entry]()
    try:
        for entry in map(_entry, list_entries(store, source.commit, max_bytes=limits.max_listed)):
            fitting = [name for name, spec in specs.items() if spec.match_file(entry.path)]
            matched.update(fitting)
            if fitting:
                selected.append(entry)
            if len(selected) > limits.files:
                raise _too_many(limits)
            if _LICENCE.fullmatch(entry.path) and entry.mode not in _KINDS:
                licences.append(entry)
    except HarnessError as error:
        raise UsageError(f"{source.repo}: {error}") from error
    for pattern in specs:
        if pattern not in matched:
            raise UsageError(
                f"{source.repo} has nothing that fits {pattern!r} at {source.commit[:12]}; fix it"
            )
    return selected, licences


def _too_many(limits: Limits) -> UsageError:
    return UsageError(f"There are more than {limits.files:,} files; include less")


def _entry(line: bytes) -> Entry:
    header, _, name = line.partition(b"\t")
    mode, _, hash = header.decode().split()
    return Entry(mode=mode, hash=hash, path=name.decode("utf-8", "surrogateescape"))


def _write(
    source: Repository, selected: Sequence[Entry], objects: Objects, selection: FileSelection
) -> tuple[Mapping[str, str], set[str]]:
    """Write the files. Returns why others are omitted, and the licences that the files name. Raises
    `UsageError` where none is left."""
    omitted, identifiers = dict[str, str](), set[str]()
    for entry in selected:
        reason, content = _KINDS.get(entry.mode), None
        if reason is None and not is_plain(entry.path):
            reason = "a name that is no path"
        elif reason is None:
            content = objects.read(entry.hash)
            if content is None:
                reason = f"a file of more than {LARGEST // 1_000_000} MB"
            elif content.startswith(_POINTER):
                reason = "a pointer of Git LFS, whose content is elsewhere"
            elif not _is_text(content):
                reason = "a file that is no UTF-8"
        if reason is not None or content is None:
            omitted[entry.path.encode("utf-8", "replace").decode()] = reason or "unreadable"
            continue
        selection.write(f"{name_of(source.repo)}/{entry.path}", content)
        names = _IDENTIFIER.findall(content[:_HEAD])
        identifiers |= {name.decode().strip() for name in names}
    if len(omitted) == len(selected):
        whys = ", ".join(sorted(set(omitted.values())))
        raise UsageError(f"{source.repo} has no file to take, but {whys}; include others")
    return omitted, identifiers


def _is_text(content: bytes) -> bool:
    """Tell whether it can be a row."""
    try:
        decode_text(content)
    except UnicodeDecodeError:
        return False
    return True


def _licence_of(licences: Sequence[Entry], objects: Objects) -> str | None:
    """Return the first line of the licence of a repository."""
    for entry in licences:
        text = (objects.read(entry.hash) or b"")[:_HEAD].decode("utf-8", "replace")
        for line in text.splitlines():
            if printable := "".join(filter(str.isprintable, line)).strip(" #*"):
                return printable[:80]
    return None
