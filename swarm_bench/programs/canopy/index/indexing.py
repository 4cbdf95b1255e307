"""Brings the index up to date with what changed on disk.

Several servers may share one index. Whoever has something to write takes an exclusive lock on
`.canopy/index.lock`; the others wait for it, look again, and usually find nothing to do.
The system gives the lock back when its holder dies, and what the holder had committed stays.
"""

import fcntl
import logging
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from swarm_bench.programs.canopy.errors import ToolError
from swarm_bench.programs.canopy.index.discovery import Stamp, discover
from swarm_bench.programs.canopy.index.index_db import IndexedFile, Store
from swarm_bench.programs.canopy.index.loading import Parsed, Touched, read
from swarm_bench.programs.globs import compile_glob

_log = logging.getLogger(__name__)

BATCH_FILES = 200
"""Files per transaction: what a killed server loses at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """The differences between the disk and the index."""

    modified: dict[str, Stamp]
    removed: list[int]
    """Their numbers in the index."""
    indexed_files: dict[str, IndexedFile]
    seconds: float
    """Seconds that looking took."""

    def __bool__(self) -> bool:
        return bool(self.modified or self.removed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Refreshed:
    """The result of one look at the disk."""

    indexed: int = 0
    skipped: int = 0
    """Files that had not changed, or are no text."""
    looking: float = 0.0
    """Seconds for the look alone, without waiting for another server or writing."""


class Index:
    """The index of one repository, opened on first use."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".canopy"
        self._store: Store | None = None
        self._is_locked = False
        self._cached: tuple[int, dict[str, IndexedFile]] | None = None

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
            self._cached = None

    def store(self) -> Store:
        """Return the open store; create it if there is none, and again if it is damaged.

        Raises:
            ToolError: `.canopy` cannot be written, or holds another program's index.
        """
        if self._store is None or not self.is_open():
            self.close()
            prepare_folder(self.folder)
            self._store = self._open_store()
        return self._store

    def is_open(self) -> bool:
        """Tell whether the index is open and its file still exists."""
        return self._store is not None and self._store.is_current()

    def _open_store(self) -> Store:
        file = self.folder / "index.db"
        if file.exists():
            store = _open_usable(file)
            if store is not None:
                return store
        with self._hold_lock():
            store = _open_usable(file) if file.exists() else None
            if store is None:
                _remove(file)
                store = Store(file)
                store.create()
            return store

    def refresh(self, glob: str | None = None) -> Refreshed:
        """Index what is new or edited, forget what is gone; write nothing when nothing changed.

        Raises:
            ToolError: the glob cannot be read, or the index not written.
        """
        if glob is not None:
            compile_glob(glob)
        store = self.store()
        changes = self._changes(store, glob)
        if changes:
            with self._hold_lock():
                store = self.store()
                changes = self._changes(store, glob)
                if changes:
                    return self._write(store, changes)
        return Refreshed(skipped=len(changes.indexed_files), looking=changes.seconds)

    def count_covered(self, glob: str) -> tuple[int, int]:
        """Count the files of the index that fit the glob, and their tokens."""
        pattern = compile_glob(glob)
        fitting = [tokens for path, tokens in self.store().sizes() if pattern.match(path)]
        return len(fitting), sum(fitting)

    def invalidate(self, glob: str | None) -> int:
        """Forget the files that fit the glob, and return how many they were."""
        store = self.store()
        pattern = compile_glob(glob) if glob else None
        with self._hold_lock():
            files = store.indexed_files()
            ids = [file.id for path, file in files.items() if not pattern or pattern.match(path)]
            with store.transaction():
                store.forget(ids)
            self._finish(store)
        return len(ids)

    def _changes(self, store: Store, glob: str | None) -> Changes:
        started = time.monotonic()
        indexed = self._indexed_files(store)
        on_disk = discover(self.root, glob, indexed)
        modified = {
            path: stamp
            for path, stamp in on_disk.items()
            if path not in indexed or indexed[path].stamp != stamp
        }
        removed = [file.id for path, file in indexed.items() if path not in on_disk]
        seconds = time.monotonic() - started
        return Changes(modified=modified, removed=removed, indexed_files=indexed, seconds=seconds)

    def _indexed_files(self, store: Store) -> dict[str, IndexedFile]:
        version = store.version()
        if self._cached is None or self._cached[0] != version:
            self._cached = (version, store.indexed_files())
        return self._cached[1]

    def _write(self, store: Store, changes: Changes) -> Refreshed:
        started = time.monotonic()
        _log.info("indexing %d files in %s", len(changes.modified), self.root)
        indexed = skipped = 0
        if store.is_mostly_dead():
            changes = self._clear(store, changes)
        with store.transaction():
            store.forget(changes.removed)
        results = self._read(changes)
        while batch := list(islice(results, BATCH_FILES)):
            with store.transaction():
                good = _write_batch(store, batch, changes.indexed_files)
            indexed += good
            skipped += len(batch) - good
        self._finish(store)
        _log.info("indexed %d files in %.1f s", indexed, time.monotonic() - started)
        unchanged = len(changes.indexed_files.keys() - changes.modified.keys()) - len(
            changes.removed
        )
        return Refreshed(indexed=indexed, skipped=skipped + unchanged)

    def _clear(self, store: Store, changes: Changes) -> Changes:
        """Clear the index, and return the changes that fill it again."""
        with store.transaction():
            store.clear()
        removed = set(changes.removed)
        remaining = {
            path: file.stamp
            for path, file in changes.indexed_files.items()
            if file.id not in removed
        }
        return replace(changes, modified=remaining | changes.modified, removed=[], indexed_files={})

    def _read(self, changes: Changes) -> Iterator[Parsed | Touched]:
        for path, stamp in sorted(changes.modified.items()):  # the order in which ranks are equal
            previous = changes.indexed_files.get(path)
            result = read(str(self.root), path, stamp, previous.hash if previous else None)
            if result is not None:
                yield result

    def _finish(self, store: Store) -> None:
        with store.transaction():
            store.note("last_indexed", int(time.time()))
        store.checkpoint()
        # Our own writes do not change the number that tells us of the others' writes.
        self._cached = None

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        """Keep all other servers out; nested use does nothing."""
        if self._is_locked:
            yield
            return
        with (self.folder / "index.lock").open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._is_locked = True
            try:
                yield
            finally:
                self._is_locked = False


def prepare_folder(folder: Path) -> None:
    """Make `.canopy`, with a `.gitignore` inside it, so that the checkout stays clean.

    Raises:
        ToolError: it cannot be made, or something in it leads elsewhere.
    """
    ignore = folder / ".gitignore"
    try:
        for path in (folder, *(folder.iterdir() if folder.is_dir() else ())):
            if path.is_symlink():
                raise ToolError(f"{path} is a symbolic link; remove it, nothing is kept elsewhere")
        folder.mkdir(exist_ok=True)
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise ToolError(f"{folder} cannot be written: {error.strerror}; check it") from error


def _open_usable(file: Path) -> Store | None:
    """Open the store; None when the file is damaged or of an older layout."""
    store = Store(file)
    try:
        ready = store.is_ready()
    except (sqlite3.OperationalError, ToolError):
        store.close()
        raise
    except sqlite3.DatabaseError:
        _log.warning("%s is damaged; indexing again", file)
        ready = False
    if not ready:
        store.close()
        return None
    return store


def _remove(file: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def _write_batch(
    store: Store, batch: list[Parsed | Touched], files: Mapping[str, IndexedFile]
) -> int:
    """Write the files of a batch, and return how many of them are texts that were indexed."""
    stale = [
        files[item.path].id for item in batch if isinstance(item, Parsed) and item.path in files
    ]
    store.forget(stale)
    number = store.next_node()
    indexed = 0
    for item in batch:
        if isinstance(item, Touched):
            store.touch(files[item.path].id, item.stamp)
        else:
            number = store.add(item, number)
            indexed += item.nodes is not None
    return indexed
