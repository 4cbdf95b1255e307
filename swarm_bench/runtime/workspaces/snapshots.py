"""The copy of the repository that a workspace is cloned from."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.runtime.files import remove
from swarm_bench.runtime.workspaces.workspace import Snapshot, take_commit


@asynccontextmanager
async def snapshot_at(own: Snapshot, commit: str | None, work: Path) -> AsyncIterator[Snapshot]:
    """Copy the repository at a commit into the work folder for the block; the session's `own` copy
    serves where it is that one. Raises `HarnessError`."""
    if commit is None or commit == own.repository.clean_commit:
        yield own
        return
    target = work / "commit.git"
    try:
        await anyio.to_thread.run_sync(remove, target)
        try:
            snapshot = await take_commit(Path(own.repository.path), target, commit, own.withheld)
        except UsageError as error:
            raise HarnessError(str(error)) from error
        yield snapshot
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove, target)
