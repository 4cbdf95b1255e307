"""Cache of the data sets that were fetched: a folder for each, with its manifest. What is fetched
lies beside them under another name until it is whole."""

import errno
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.validation import first_clause
from swarm_bench.runtime.environment import home_folder
from swarm_bench.runtime.files import lock, make_folder, remove, writable, write_whole
from swarm_bench.runtime.untrusted import read

FILES = "files"
"""The folder of what was fetched."""
_MANIFEST, _LOCK = "manifest.json", ".lock"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NO_PART = re.compile(r"[\x00-\x1f\x7f\\]")
"""Characters that break a list of paths, or are between folders elsewhere."""
_LARGEST = 64 * 1024 * 1024
_OLD = 3600.0
"""Seconds after which a folder without a lock belongs to a process that was killed."""


class FetchedRepository(BaseModel):
    """A repository of which files were fetched."""

    model_config = ConfigDict(frozen=True)

    repository: str
    commit: str
    committed: date
    include: tuple[str, ...]
    licence: str | None
    """Licence that its files name, or the first line of its licence; `None` where there is
    neither."""
    omitted: Mapping[str, str]
    """Files that were included and have no content to take, and why."""


class Manifest(BaseModel):
    """What was fetched, from where, and when."""

    model_config = ConfigDict(frozen=True)

    fetched: date
    url: str | None = None
    """URL without what may be secret in it."""
    repositories: tuple[FetchedRepository, ...] = ()
    sha256: str
    """Hash of the file, or of the hashes of all files."""
    files: Mapping[str, str]
    """The hash of each file, by its path."""

    @model_validator(mode="after")
    def _has_files(self) -> Self:
        if not self.files or (len(self.files) > 1 and not self.repositories):
            raise ValueError("names no file of rows, and no files of repositories")
        if not all(map(is_plain, self.files)):
            raise ValueError("names a file outside of its folder")
        return self

    @property
    def licence(self) -> str | None:
        """Name the licences of all repositories."""
        licences = dict.fromkeys(
            repository.licence for repository in self.repositories if repository.licence
        )
        return ", ".join(licences) or None

    @property
    def source(self) -> str:
        """Name where it is from."""
        return self.url or ", ".join(
            f"{repository.repository} {repository.commit}" for repository in self.repositories
        )


def is_plain(path: str) -> bool:
    """Tell whether a name is of UTF-8, and stays in its folder."""
    with suppress(UnicodeEncodeError):
        path.encode()
        parts = [part.lower() for part in path.split("/")]
        return {"", ".", "..", ".git"}.isdisjoint(parts) and not _NO_PART.search(path)
    return False


def hash_of_files(files: Mapping[str, str]) -> str:
    """Hash the hashes of files, as `sha256sum` prints them."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(files.items()))
    return sha256(lines.encode()).hexdigest()


def cache_folder() -> Path:
    """Return the folder of all. Raises `UsageError` for a user without a home."""
    configured, home = Path(os.environ.get("XDG_CACHE_HOME", "")), home_folder()
    if not configured.is_absolute():
        if home is None:
            raise UsageError(
                "Without a home folder nothing can be fetched; set HOME or XDG_CACHE_HOME"
            )
        configured = home / ".cache"
    return configured.resolve() / "swarm-bench" / "datasets"


def checked_name(name: str) -> str:
    """Return the name of a data set. Raises `UsageError` for one that is no name of a folder."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a data set: it must have letters, digits, '.', '_' "
            "and '-', and not begin with a sign; give --name NAME"
        )
    return name


def fetched_names() -> list[str]:
    """List those that are there whole."""
    with suppress(UsageError, OSError):
        return sorted(path.parent.name for path in cache_folder().glob(f"[!.]*/{_MANIFEST}"))
    return []


def read_manifest(name: str) -> Manifest | None:
    """Read the manifest of a data set; `None` for one that is not there. Raises `UsageError`."""
    if not _NAME.fullmatch(name):
        return None
    path = cache_folder() / name / _MANIFEST
    try:
        return Manifest.model_validate_json(read(path, _LARGEST))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        raise ConfigError(
            f"{path} is damaged ({first_clause(error)}); remove {path.parent}, and fetch it again"
        ) from error


@contextmanager
def open_stage(name: str) -> Iterator[Path]:
    """Make a folder to fetch into, which is gone after the block unless it was published. Raises
    `StoreError`."""
    top = cache_folder()
    make_folder(top)
    _sweep(top)
    part = top / f".{name}.{os.urandom(8).hex()}.part"
    make_folder(part / FILES)
    try:
        with writable(part / _LOCK, "xb") as file:
            lock(file.fileno())
            yield part
    finally:
        remove(part)


def _sweep(top: Path) -> None:
    """Remove what was fetched by processes that were killed; one that is still fetching holds a
    lock."""
    for part in top.glob(".*.part"):
        with suppress(OSError):
            if not (part / _LOCK).exists():
                if time.time() - part.lstat().st_mtime > _OLD:
                    remove(part)
                continue
            with writable(part / _LOCK, "a+b") as file:
                if lock(file.fileno()):
                    remove(part)


def publish(part: Path, name: str, manifest: Manifest) -> None:
    """Move what is whole to its name. Raises `UsageError` where another one has it, and
    `StoreError`."""
    write_whole(part / _MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    folder = part.parent / name
    try:
        part.rename(folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        check_same(name, read_manifest(name), manifest)  # another one fetched it meanwhile
        return
    remove(folder / _LOCK)


def check_same(name: str, stored: Manifest | None, manifest: Manifest) -> None:
    """Raise `UsageError` where something else has the name."""
    if stored is None or stored.sha256 != manifest.sha256:
        raise other_of(name)


def other_of(name: str) -> UsageError:
    """Make the error on a name that is taken."""
    return UsageError(
        f"There is another data set called {name} in {cache_folder() / name}; give --name NAME, or "
        "remove that folder"
    )
