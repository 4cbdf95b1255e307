"""Looks through the files of a repository for answer keys, each distinct one once, also through
what is packed in them: with the libraries of Python, and never more than is allowed."""

import bz2
import io
import lzma
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

from swarm_bench.datasets.exposure.finder import Exposed, Finder
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.blobs import Blob, list_blobs, read_blobs

LARGEST = 16_000_000
"""Bytes of a file that is looked through."""
_QUIET = 1.0
_PAUSE = 5.0
"""Seconds before the first word on how far it is, and between two."""
_LINK = re.compile(rb"(?:/|(?:\.\./)+)([^\0\n]{1,4000})")
"""Target of a link that may lead out of a clone, with its path from the root; the links in a clone
are those of the repository."""
_MOST_BEHIND = 500
"""Files and folders of a folder elsewhere that are looked through."""
_LARGEST_BEHIND = 1_000_000
"""Bytes of one of them."""
Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class KeySearch:
    """What there is in the files."""

    exposed: dict[Blob, list[Exposed]] = field(default_factory=dict)
    """Files that give answers away."""
    unread: list[Blob] = field(default_factory=list)
    """Files that are too large to be looked through."""


def look_through(
    finder: Finder, repositories: Iterable[tuple[Path, Collection[str]]], tell: Tell
) -> KeySearch:
    """Look through trees of repositories. Raises `HarnessError`."""
    keys, listing, seen_hashes = KeySearch(), list[tuple[Path, list[Blob]]](), set[str]()
    for repository, trees in repositories:
        blobs = [blob for blob in list_blobs(repository, trees) if blob.hash not in seen_hashes]
        seen_hashes.update(blob.hash for blob in blobs)
        keys.unread.extend(blob for blob in blobs if blob.size > LARGEST)
        listing.append((repository, [blob for blob in blobs if blob.size <= LARGEST]))
    for blob, content in _contents(listing, tell):
        if exposed := _search_content(blob.path, content, finder) or _behind(content, finder):
            keys.exposed[blob] = exposed
    return keys


def _contents(
    listing: Collection[tuple[Path, list[Blob]]], tell: Tell
) -> Iterator[tuple[Blob, bytes]]:
    number, total = 0, sum(len(blobs) for _, blobs in listing)
    due = time.monotonic() + _QUIET
    for repository, blobs in listing:
        for item in read_blobs(repository, blobs):
            yield item
            number += 1
            if time.monotonic() > due:
                tell(f"looking for answer keys in the repository: {number:,} of {total:,} files")
                due = time.monotonic() + _PAUSE


def _behind(content: bytes, finder: Finder) -> list[Exposed]:
    """Look through the file, or the first files in the folder, that a link leads to."""
    target = find_link(content)
    with suppress(OSError, ValueError):  # which lead nowhere
        if target and target.is_dir():
            files = islice(target.rglob("*"), _MOST_BEHIND)
            exposed = (_search_file(file, _LARGEST_BEHIND, finder) for file in files)
            return next(filter(None, exposed), [])
        if target:
            return _search_file(target, LARGEST, finder)
    return []


def _search_file(file: Path, limit: int, finder: Finder) -> list[Exposed]:
    with suppress(OSError, ValueError):
        if file.lstat().st_size:  # not of a system
            return _search_content("", read(file, limit), finder)
    return []


def _search_content(path: str, content: bytes, finder: Finder) -> list[Exposed]:
    exposed = (finder.find_exposed(path, part) for part in unpack(content, LARGEST))
    return next(filter(None, exposed), [])


def find_link(content: bytes) -> Path | None:
    """Return where a link leads out of a clone as out of the original; `None` for what is none."""
    link = _LINK.fullmatch(content)
    return Path("/" + link[1].decode("utf-8", "surrogateescape")) if link else None


_MOST_MEMBERS = 1_000
"""Most members of an archive."""


class _Decompressor(Protocol):
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def unpack(content: bytes, max_bytes: int) -> Iterator[bytes]:
    """Yield the members of a zip file, such as a workbook, or what a compressed file holds; any
    other file as it is. `most` bytes are unpacked, and what is damaged ends there."""
    if content.startswith(b"PK\x03\x04"):
        yield from _members(content, max_bytes)
    elif decompressor := _decompressor(content):
        try:
            yield decompressor.decompress(content, max_bytes)
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            yield content
    else:
        yield content


def _decompressor(content: bytes) -> _Decompressor | None:
    if content.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(zlib.MAX_WBITS | 16)
    if content.startswith(b"BZh"):
        return bz2.BZ2Decompressor()
    if content.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMADecompressor()
    return None


def _members(content: bytes, max_bytes: int) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist()[:_MOST_MEMBERS]:
                with archive.open(member) as file:
                    text = file.read(max_bytes)
                max_bytes -= len(text)
                yield text
                if max_bytes <= 0:
                    return
    # A password, an unknown method and a bad checksum all mean that nobody reads it here.
    except (
        OSError,
        EOFError,
        ValueError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
    ):
        yield content
