"""The piece of a file that canopy finds and hands out: its type, its id, its size."""

import hashlib
from dataclasses import dataclass
from enum import IntEnum

from swarm_bench.programs.canopy.defaults import BYTES_PER_TOKEN, PREVIEW_BYTES


class NodeType(IntEnum):
    """A kind of node. The numbers are part of the handle ids and of feedback.db."""

    SECTION = 0
    CODE_BLOCK = 1
    PARAGRAPH = 2
    FUNCTION = 3
    CLASS = 4
    STRUCT = 5
    METHOD = 6
    CHUNK = 7

    @property
    def label(self) -> str:
        return self.name.lower()


SYMBOLS = (NodeType.FUNCTION, NodeType.CLASS, NodeType.STRUCT, NodeType.METHOD)
"""The types whose names a symbol search looks at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A span of one file. Offsets are bytes, the end is exclusive; lines count from 1."""

    type: NodeType
    start: int
    end: int
    first_line: int
    last_line: int
    name: str | None = None
    parent: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Handle:
    """A node as the index knows it, without its text."""

    hex: str
    path: str
    """Relative to the repository, with forward slashes."""
    node: Node
    preview: str
    source: str = "local"
    commit_sha: str | None = None
    generation: int | None = None

    @property
    def id(self) -> str:
        return f"h{self.hex}"

    @property
    def tokens(self) -> int:
        return token_count(self.node.end - self.node.start)


def handle_hex(path: str, type_: int, start: int, end: int) -> str:
    """Derive the 24 hex digits of a handle; the same piece of a file always has the same ones."""
    text = f"{path}:{int(type_)}:{start}-{end}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:12].hex()


def normal_hex(handle_id: str) -> str | None:
    """Return the hex digits of either form of an id; None when it is neither."""
    digits = handle_id.removeprefix("h").lower()
    if len(digits) == 24 and all(digit in "0123456789abcdef" for digit in digits):
        return digits
    return None


def token_count(size: int) -> int:
    return size // BYTES_PER_TOKEN


def preview(source: bytes, start: int, end: int, limit: int = PREVIEW_BYTES) -> str:
    """Shorten a span to its beginning, on one line; `...` says that there is more."""
    text = source[start : min(end, start + limit)].decode("utf-8", "ignore")
    return " ".join(text.split()) + ("..." if end - start > limit else "")
