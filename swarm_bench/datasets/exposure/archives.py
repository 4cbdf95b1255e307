"""What is packed in a file, with the libraries of Python and never more than is allowed."""

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from typing import Protocol

_MOST_MEMBERS = 1_000
"""Of an archive."""


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
