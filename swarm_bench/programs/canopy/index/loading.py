"""Reads and parses one file."""

import errno
import hashlib
import os
from dataclasses import dataclass

from swarm_bench.programs.canopy.defaults import MAX_FILE_BYTES
from swarm_bench.programs.canopy.index.discovery import Stamp
from swarm_bench.programs.canopy.index.parsing import is_text, parse
from swarm_bench.programs.canopy.nodes import Node


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """A file as it goes into the index; `nodes` is None when it is no text we can use."""

    path: str
    stamp: Stamp
    hash: bytes
    source: bytes
    nodes: list[Node] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    """A file with a new time and the old content."""

    path: str
    stamp: Stamp


def read(root: str, path: str, stamp: Stamp, indexed_hash: bytes | None) -> Parsed | Touched | None:
    """Read and parse a file; None when it is gone. `indexed_hash` is that of its content in the
    index."""
    try:
        source = load(root, path)
    except FileNotFoundError:
        return None
    except OSError:
        source = None
    if source is None:
        # Remembered as unusable, or it would look new every time.
        return Parsed(path=path, stamp=stamp, hash=b"", source=b"", nodes=None)
    digest = content_hash(source)
    if digest == indexed_hash:
        return Touched(path=path, stamp=stamp)
    nodes = parse(path, source) if is_text(source) else None
    return Parsed(path=path, stamp=stamp, hash=digest, source=source, nodes=nodes)


def load(root: str, path: str) -> bytes | None:
    """Read a file of the repository; None when it is too large.

    Raises:
        OSError: it cannot be read, or leads out through a symbolic link.
    """
    full_path = f"{root}/{path}"
    if os.path.realpath(full_path) != full_path:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), full_path)
    descriptor = os.open(full_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        source = file.read(MAX_FILE_BYTES + 1)
    return source if len(source) <= MAX_FILE_BYTES else None


def content_hash(source: bytes) -> bytes:
    return hashlib.blake2b(source, digest_size=16).digest()
