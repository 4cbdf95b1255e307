"""Reads a file from a folder that an agent wrote in: it may have made a link out of it, to give
away what it cannot read itself, or something that is no file, to be waited for without end."""

import os
import stat
from pathlib import Path


def read_inside(folder: Path, inner: str, limit: int) -> bytes | None:
    """Up to `limit` bytes of the file `inner` below `folder`; `None` when there is no such file, or
    a link on the way to it."""
    try:
        whole = folder.resolve(strict=True) / inner
        if whole.resolve() != whole:
            return None
        descriptor = os.open(whole, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, RuntimeError, ValueError):  # links in a ring; a NUL in the name
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(limit)
