"""The copy of the repository that a workspace is cloned from."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.runtime.files import remove
from swarm_bench.runtime.workspaces.workspace import Snapshot, take_commit


@asynccontextmanager
async def open_snapshot(
    session_copy: Snapshot, commit: str | None, work: Path
) -> AsyncIterator[Snapshot]:
    """Copy the repository at a commit into the work folder for the block; the copy of the session
    serves where it is that one. Raises `HarnessError`."""
    if commit is None or commit == session_copy.repository.clean_commit:
        yield session_copy
        return
    target = work / "commit.git"
    try:
        await anyio.to_thread.run_sync(remove, target)
        try:
            snapshot = await take_commit(
                Path(session_copy.repository.path), target, commit, session_copy.excluded
            )
        except UsageError as error:
            raise HarnessError(str(error)) from error
        yield snapshot
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove, target)
