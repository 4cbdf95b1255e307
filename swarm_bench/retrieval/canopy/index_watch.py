"""How long a standalone canopy indexes: nobody says so, but its index file grows meanwhile."""

from pathlib import Path

import anyio

INDEX = Path(".canopy") / "index.db"
POLL_SECONDS = 0.1


class IndexWatch:
    """Looks at a workspace's index file until it is cancelled."""

    def __init__(self, workspace: Path) -> None:
        index = workspace / INDEX
        self._files = (index, index.with_name(index.name + "-wal"))
        self._largest = 0
        self._first: float | None = None
        self._last: float | None = None

    async def watch(self) -> None:
        """Note when the index first appears, and when it last grows.

        Its greatest size counts and not its time stamp: closing a database writes it once more.
        """
        while True:
            size = sum(map(_read_size, self._files))
            if size > self._largest:
                now = anyio.current_time()
                self._largest = size
                self._first = now if self._first is None else self._first
                self._last = now
            await anyio.sleep(POLL_SECONDS)

    @property
    def seconds(self) -> float | None:
        """From the first to the last growth, to about a tenth; `None` without an index."""
        if self._first is None or self._last is None:
            return None
        return self._last - self._first


def _read_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
