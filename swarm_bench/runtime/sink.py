"""Where the output of a process goes: to its files, without secrets, up to a limit, and in lines to
whoever watches."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from urllib.parse import quote, quote_plus

import anyio
from anyio.abc import ByteReceiveStream

from swarm_bench.core.experiment import NOT_STORED
from swarm_bench.core.outcome import StopReason
from swarm_bench.runtime.files import store_errors

LONGEST_LINE = 8 * 1024 * 1024
"""Bytes; a longer line is stored, but not handed to whoever watches the lines."""
_BYTES = "surrogateescape"
"""How a variable holds bytes that are no UTF-8."""
OnLine = Callable[[bytes], StopReason | None]
"""May answer with a reason to stop the tree."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the output goes, and how much of it is taken."""

    stdout: Path
    stderr: Path
    limit: int
    """Bytes of both together; the tree is stopped at the one that would exceed it."""
    on_line: OnLine | None = None
    """Called with every complete line of either stream, without its end."""
    secrets: tuple[str, ...] = ()
    """Texts that are replaced wherever they appear: an agent can print the keys it was given."""


class Sink:
    """Writes both streams to their files, and cuts them into lines."""

    def __init__(self, output: Output) -> None:
        self.full = anyio.Event()
        """Set when the process must be stopped, for the reason in `reason`."""
        self.reason: StopReason | None = None
        self._left = output.limit
        self._on_line = output.on_line
        self._secrets = output.secrets

    async def drain(self, stream: ByteReceiveStream | None, file: FileIO) -> None:
        """Read one of the streams to its end."""
        assert stream is not None
        cleaner, lines = Cleaner(self._secrets), _Lines()
        try:
            async for chunk in stream:
                self._take(cleaner.clean(chunk), file, lines)
        finally:
            self._take(cleaner.rest(), file, lines)

    def _take(self, chunk: bytes, file: FileIO, lines: "_Lines") -> None:
        kept = chunk[: self._left]
        self._left -= len(kept)
        _write(file, kept)
        if len(kept) < len(chunk):
            self._stop("output-limit")  # and read on: a full pipe would keep it from ending
        if self._on_line:
            for line in lines.cut(kept):
                if (reason := self._on_line(line)) is not None:
                    self._stop(reason)

    def _stop(self, reason: StopReason) -> None:
        self.reason = self.reason or reason
        self.full.set()


class _Lines:
    """Cuts a stream that comes in pieces into lines."""

    def __init__(self) -> None:
        self._partial = bytearray()
        self._too_long = False

    def cut(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that end in the chunk."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._grow(end)
            if not self._too_long:
                yield bytes(self._partial)
            self._partial.clear()
            self._too_long = False
        self._grow(rest)

    def _grow(self, part: bytes) -> None:
        self._too_long = self._too_long or len(self._partial) + len(part) > LONGEST_LINE
        if self._too_long:
            self._partial.clear()
        else:
            self._partial += part


def without_secrets(data: bytes, secrets: Collection[str]) -> bytes:
    """The data with every secret replaced; of two that begin alike, the longer one goes whole."""
    cleaner = Cleaner(secrets)
    return cleaner.clean(data) + cleaner.rest()


def clean_text(text: str, secrets: Collection[str]) -> str:
    """The same of a text, which can be stored and printed then."""
    return without_secrets(text.encode(errors="backslashreplace"), secrets).decode()


class Cleaner:
    """Replaces secrets in a stream that comes in pieces, also where JSON or an address has them."""

    def __init__(self, secrets: Collection[str]) -> None:
        forms = {form for one in secrets if one for form in _forms(one)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))
        self._secrets = longest_first
        self._held = b""

    def clean(self, chunk: bytes) -> bytes:
        """What can be given on; an end that may be the beginning of a secret is held back."""
        if not self._secrets:
            return chunk
        text = self._held + chunk
        keep = max(_overlap(text, secret) for secret in self._secrets)
        done, end = bytearray(), 0
        for match in self._pattern.finditer(text):
            # What is held back may turn out to be a longer secret that begins here or earlier.
            if match.end() > len(text) - keep and match.start() >= len(text) - keep:
                break
            done += text[end : match.start()] + NOT_STORED.encode()
            end = match.end()
        keep = max(end, len(text) - keep)
        done += text[end:keep]
        self._held = text[keep:]
        return bytes(done)

    def rest(self) -> bytes:
        held, self._held = self._held, b""
        return self._pattern.sub(NOT_STORED.encode(), held) if self._secrets else held


def _forms(secret: str) -> set[bytes]:
    """How a secret may be written; an ordinary one in one way only."""
    texts = {secret}
    for _ in range(2):  # the output of a tool stands as a text within a text
        texts |= {
            json.dumps(text, ensure_ascii=ascii)[1:-1] for text in texts for ascii in (False, True)
        }
    plain = secret.encode(errors=_BYTES)
    quoted = {quote(plain).encode(), quote(plain, safe="").encode(), quote_plus(plain).encode()}
    return {text.encode(errors=_BYTES) for text in texts} | quoted


def _overlap(text: bytes, secret: bytes) -> int:
    """Length of the longest end of `text` with which `secret` begins."""
    longest = min(len(text), len(secret) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(secret[:size])), 0)


def _write(file: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    with store_errors(Path(str(file.name))):
        while rest:
            rest = rest[file.write(rest) or 0 :]
