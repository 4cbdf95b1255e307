"""The copy of the repository that a workspace is cloned from."""

import tarfile
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import anyio

from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.runtime.files import remove
from swarm_bench.runtime.workspaces.workspace import Snapshot, take_commit


@dataclass(frozen=True, kw_only=True)
class PackedSnapshot:
    """A snapshot as plain data."""

    snapshot: Snapshot
    """Snapshot without its path."""
    archive: bytes
    """Its repository, as a tar file."""

    def unpack(self, target: Path) -> Snapshot:
        """Write the repository to `target`."""
        with tarfile.open(fileobj=BytesIO(self.archive)) as archive:
            archive.extractall(target, filter="data")
        return replace(self.snapshot, path=target)


def pack_snapshot(snapshot: Snapshot) -> PackedSnapshot:
    """Read a snapshot with its repository."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(snapshot.path, arcname=".")
    return PackedSnapshot(snapshot=replace(snapshot, path=Path()), archive=buffer.getvalue())


def estimate_disk_mb(snapshot: Snapshot, commits: Iterable[str | None], at_once: int = 1) -> int:
    """Return what a session takes on a machine that it is sent to: the snapshot, packed and
    unpacked, a copy of each other commit, which is about as large, and the clones of `at_once`."""
    copies = 2 + len({*filter(None, commits)}) + at_once
    size = sum(file.stat().st_size for file in snapshot.path.rglob("*") if file.is_file())
    return copies * size >> 20


async def pack_commits(
    session_copy: Snapshot,
    commits: Iterable[str | None],
    work: Path,
    available: Mapping[str, PackedSnapshot] = MappingProxyType({}),
) -> dict[str, PackedSnapshot]:
    """Copy the repository at each of the commits, but for that of the session's copy, from those
    that are `available` if it is there. Raises `HarnessError`."""
    packed = {}
    for commit in dict.fromkeys(commits):
        if commit is not None and commit != session_copy.repository.clean_commit:
            async with open_snapshot(session_copy, commit, work, available) as snapshot:
                packed[commit] = pack_snapshot(snapshot)
    return packed


@asynccontextmanager
async def open_snapshot(
    session_copy: Snapshot,
    commit: str | None,
    work: Path,
    packed: Mapping[str, PackedSnapshot] = MappingProxyType({}),
) -> AsyncIterator[Snapshot]:
    """Copy the repository at a commit into the work folder for the block, from `packed` if it is
    there; the copy of the session serves where it is that one. Raises `HarnessError`."""
    if commit is None or commit == session_copy.repository.clean_commit:
        yield session_copy
        return
    target = work / "commit.git"
    try:
        await anyio.to_thread.run_sync(remove, target)
        if commit in packed:
            yield await anyio.to_thread.run_sync(packed[commit].unpack, target)
        else:
            yield await _take_commit(session_copy, commit, target)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove, target)


async def _take_commit(session_copy: Snapshot, commit: str, target: Path) -> Snapshot:
    repository = Path(session_copy.repository.path)
    try:
        return await take_commit(repository, target, commit, session_copy.excluded)
    except UsageError as error:
        raise HarnessError(str(error)) from error
