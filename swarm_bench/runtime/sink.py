"""Where the output of a process goes: to its files, without secrets however they are encoded, up to
a limit, and in lines to whoever watches."""

import base64
import json
import math
import re
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

import anyio
from ahocorasick_rs import BytesAhoCorasick, MatchKind
from anyio.abc import ByteReceiveStream

from swarm_bench.core.outcome import StopReason
from swarm_bench.core.session.experiment import NOT_STORED
from swarm_bench.runtime.files import store_errors

Value = TypeVar("Value")
LONGEST_LINE = 8 * 1024 * 1024
"""Bytes; a longer line is stored, but not handed to the reader of the lines."""
_HEAD = 3
"""Bytes that show, nearly everywhere, that no secret begins here."""
LONGEST_UNENDED = 1024 * 1024
"""Bytes of a line that is looked at before it ends."""
QUIET = 5.0
"""Seconds without another event after which a program whose run is over is not waited for."""
OnLine = Callable[[bytes], StopReason | bool | None]
"""May answer with a reason to stop the tree, or whether the run is over by that line of standard
output: `False` when it goes on."""
Settled = Callable[[], Awaitable[bool]]
_REPLACED = NOT_STORED.encode()
BYTES = "surrogateescape"
"""How a variable holds bytes that are no UTF-8."""
_SHORTEST_BASE64 = 8
"""Characters; shorter ones would be found in ordinary words."""
_WIDTHS = (64, 76)
"""Characters of a line of base64, as OpenSSL and `base64` print it."""
_LINE_BREAKS = (b"\n", rb"\n", rb"\\n", b"\r\n", rb"\r\n", rb"\\r\\n")
"""Line breaks as they are, in JSON, and in a text within a text."""
_LONGEST_IN_LINES = 256
"""Characters of base64; the forms of a longer secret would take a hundred megabytes."""
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_PERCENT = re.compile(rb"%[0-9A-F]{2}")


@dataclass(frozen=True, kw_only=True)
class Output:
    """Destination of the output, and how much of it is taken."""

    stdout: Path
    stderr: Path
    limit: int
    """Bytes of both together; the tree is stopped at the one that would exceed it."""
    on_line: OnLine | None = None
    """Called with every complete line of either stream, without its end; and once with a last one
    of standard output that is JSON before it ends."""
    settled: Settled | None = None
    """Tells of a run that seemed to be over, some time later, whether it is."""
    secrets: tuple[str, ...] = ()
    """Texts that are replaced wherever they appear: an agent can print the keys it was given."""


class Sink:
    """Writes both streams to their files, and cuts them into lines."""

    def __init__(self, output: Output) -> None:
        self.taking = anyio.CancelScope()
        """Cancelled when the process must be stopped, for the reason in `reason`."""
        self.reason: StopReason | None = None
        self.over: float | None = None
        """Time of the line by which the run is over."""
        self._deadline = math.inf
        self._remaining = output.limit
        self._on_line = output.on_line
        self._secrets = output.secrets

    def wait_until(self, deadline: float) -> None:
        """Begin to wait for the end of the process, or of its run."""
        self.over, self._deadline = None, deadline
        self.taking = anyio.CancelScope(deadline=deadline)

    async def drain(
        self, stream: ByteReceiveStream | None, file: FileIO, *, has_events: bool = False
    ) -> None:
        """Read one of the streams to its end. Only the one with the events can say that the run is
        over: on the other, tools and servers may say anything."""
        assert stream is not None
        cleaner, lines = Cleaner(self._secrets), _Lines(has_events)
        try:
            async for chunk in stream:
                self._take(cleaner.clean(chunk), file, lines)
        finally:
            self._take(cleaner.finish(), file, lines)

    def _take(self, chunk: bytes, file: FileIO, lines: "_Lines") -> None:
        accepted = chunk[: self._remaining]
        self._remaining -= len(accepted)
        _write(file, accepted)
        if len(accepted) < len(chunk):
            self._stop("output-limit")  # and read on: a full pipe would keep it from ending
        if self._on_line:
            for line in lines.cut(accepted):
                verdict = self._on_line(line)
                if isinstance(verdict, str):
                    self._stop(verdict)
                elif lines.are_events:
                    self._note(line, over=verdict)

    def _note(self, line: bytes, *, over: bool | None) -> None:
        """Wait for the process a little from the line on by which the run is over, and from each
        event behind it."""
        now = anyio.current_time()
        if over is not None:
            self.over = now if over else None
        if self.over is None:
            self.taking.deadline = self._deadline
        elif over or line.lstrip()[:1] in (b"{", b"["):
            self.taking.deadline = min(self._deadline, now + QUIET)

    def _stop(self, reason: StopReason) -> None:
        self.reason = self.reason or reason
        self.taking.cancel()


class _Lines:
    """Cuts a stream that comes in pieces into lines."""

    def __init__(self, are_events: bool) -> None:
        self.are_events = are_events
        self._partial = bytearray()
        self._too_long = False
        self._shown = False
        """Whether the line that has not ended was handed over."""

    def cut(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that end in the chunk."""
        *lines, remaining = chunk.split(b"\n")
        for end in lines:
            self._grow(end)
            if not self._too_long and not (self._shown and not end.strip()):
                yield bytes(self._partial)
            self._partial.clear()
            self._too_long = self._shown = False
        self._grow(remaining)
        if self.are_events and not self._shown and self._is_event():
            self._shown = True
            yield bytes(self._partial)

    def _is_event(self) -> bool:
        """Tell whether the line is JSON as it stands, also behind what is for a terminal, or can be
        the last line of it: that one need not end."""
        line = self._partial.rstrip()
        if not line.endswith((b"}", b"]")) or len(line) > LONGEST_UNENDED:
            return False
        if len(line) == 1:
            return True
        begin = re.search(rb"[\[{](?=\s*[\"\[{\]}\d])", line)
        if begin is None:
            return False
        try:
            json.loads(line[begin.start() :])
        except (ValueError, RecursionError):
            return False
        return True

    def _grow(self, part: bytes) -> None:
        self._too_long = self._too_long or len(self._partial) + len(part) > LONGEST_LINE
        if self._too_long:
            self._partial.clear()
        else:
            self._partial += part


def replace_secrets(data: bytes, secrets: Collection[str]) -> bytes:
    """Replace every secret in the data; of two that begin alike, the longer one goes whole."""
    forms = _compile_forms(frozenset(secrets) - {""})
    return forms.replace_all(data) if forms else data


def clean_text(text: str, secrets: Collection[str]) -> str:
    """Replace every secret in a text, which can be stored and printed then."""
    return replace_secrets(text.encode(errors="backslashreplace"), secrets).decode()


def clean_value(value: Value, secrets: Collection[str]) -> Value:
    """Replace every secret in all texts of the value's mappings, tuples, lists and dataclasses.
    Figures of names that become the same are added."""
    return cast("Value", _clean_any(value, secrets))


def _clean_any(value: Any, secrets: Collection[str]) -> Any:
    if value is None or isinstance(value, int | float):  # most are, and the rest takes its time
        return value
    if isinstance(value, str) and not isinstance(value, Enum):
        return clean_text(value, secrets)
    if isinstance(value, bytes):
        return replace_secrets(value, secrets)
    if isinstance(value, Mapping):
        return _clean_mapping(value, secrets)
    if isinstance(value, list | tuple):
        return type(value)(_clean_any(item, secrets) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        values = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        return replace(
            value,
            **{name: _clean_any(field_value, secrets) for name, field_value in values.items()},
        )
    return value


def _clean_mapping(values: Mapping[Any, Any], secrets: Collection[str]) -> dict[Any, Any]:
    clean: dict[Any, Any] = {}
    for name, value in values.items():
        key, item = _clean_any(name, secrets), _clean_any(value, secrets)
        clean[key] = clean[key] + item if key in clean and isinstance(item, int | float) else item
    return clean


class Cleaner:
    """Replaces secrets in a stream that comes in pieces, in whichever form they are written. The
    time it takes grows with the stream alone, however many secrets there are."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._forms = _compile_forms(frozenset(secrets) - {""})
        self._held = b""

    def clean(self, chunk: bytes) -> bytes:
        """Return what can be passed on; an end that may begin a secret is held back."""
        if self._forms is None:
            return chunk
        text = self._held + chunk
        keep = self._forms.overlap(text)
        done, end = bytearray(), 0
        for start, stop in self._forms.matches(text):
            # What is held back may turn out to be a longer secret that begins here or earlier.
            if stop > len(text) - keep and start >= len(text) - keep:
                break
            done += text[end:start] + _REPLACED
            end = stop
        keep = max(end, len(text) - keep)
        done += text[end:keep]
        self._held = text[keep:]
        return bytes(done)

    def finish(self) -> bytes:
        """Return what was held back, now that nothing follows."""
        remaining, self._held = self._held, b""
        return self._forms.replace_all(remaining) if self._forms else remaining


class _Forms:
    """All forms of some secrets, made ready to be looked for at once."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._sorted = sorted({form for secret in secrets for form in _encode_all(secret)})
        self._longest = max(map(len, self._sorted))
        self._heads = {form[:size] for form in self._sorted for size in range(1, _HEAD + 1)}
        self._search = BytesAhoCorasick(self._sorted, matchkind=MatchKind.LeftmostLongest)

    def matches(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Find start and end of each; of two that begin alike the longer, and none overlap."""
        return ((start, end) for _, start, end in self._search.find_matches_as_indexes(text))

    def replace_all(self, text: bytes) -> bytes:
        """Replace all of them in a text after which nothing follows."""
        done, end = bytearray(), 0
        for start, stop in self.matches(text):
            done += text[end:start] + _REPLACED
            end = stop
        return bytes(done + text[end:])

    def overlap(self, text: bytes) -> int:
        """Return the length of the longest end of `text` with which a longer form begins."""
        for at in range(max(0, len(text) - self._longest + 1), len(text)):
            if text[at : at + _HEAD] in self._heads and self._begins_form(text[at:]):
                return len(text) - at
        return 0

    def _begins_form(self, end: bytes) -> bool:
        position = bisect_right(self._sorted, end)
        return position < len(self._sorted) and self._sorted[position].startswith(end)


@lru_cache(maxsize=4)
def _compile_forms(secrets: frozenset[str]) -> _Forms | None:
    """Share the forms: a session's agents have the same secrets, and each has two streams."""
    return _Forms(secrets) if secrets else None


def _write(file: FileIO, content: bytes) -> None:
    remaining = memoryview(content)
    with store_errors(Path(str(file.name))):
        while remaining:
            remaining = remaining[file.write(remaining) or 0 :]


def _encode_all(secret: str) -> set[bytes]:
    """Return all of them; an ordinary secret is the same in JSON and in an address."""
    plain = secret.encode(errors=BYTES)
    encoded = {part for prefix in range(3) for part in _encode_base64(plain, prefix)}
    digits = plain.hex().encode()
    return {
        *_encode_json(secret),
        *_escape(secret),
        *_quote_all(plain),
        *encoded,
        digits,
        digits.upper(),
    }


def _encode_json(secret: str) -> set[bytes]:
    texts = {secret}
    for _ in range(2):  # the output of a tool stands as a text within a text
        texts |= {
            json.dumps(text, ensure_ascii=ascii)[1:-1] for text in texts for ascii in (False, True)
        }
    return {text.encode(errors=BYTES) for text in texts}


def _escape(secret: str) -> Iterator[bytes]:
    """Yield it with an escape for every character, in JSON and in a text within a text."""
    units = secret.encode("utf-16-be", "surrogatepass").hex("-", 2).split("-")
    for escape in (rb"\u", rb"\\u"):
        for digits in (units, [unit.upper() for unit in units]):
            yield b"".join(escape + unit.encode() for unit in digits)


def _quote_all(plain: bytes) -> set[bytes]:
    upper = {quote(plain).encode(), quote(plain, safe="").encode(), quote_plus(plain).encode()}
    return upper | {_PERCENT.sub(lambda escape: escape[0].lower(), text) for text in upper}


def _encode_base64(plain: bytes, prefix: int) -> set[bytes]:
    """Return the characters that the secret alone decides when `prefix` bytes precede it in its
    group of three, as in the `user:` of a Basic login; also as an address writes them."""
    encoded = base64.b64encode(b"\0" * prefix + plain)
    encoded_secret = encoded[-(-8 * prefix // 6) : 8 * (prefix + len(plain)) // 6]
    if len(encoded_secret) < _SHORTEST_BASE64:
        return set()
    return {
        encoded_secret,
        encoded_secret.translate(_URL_SAFE),
        *_quote_all(encoded_secret),
        *_break_lines(encoded_secret, -(-8 * prefix // 6)),
    }


def _break_lines(encoded: bytes, prefix: int) -> Iterator[bytes]:
    """Break the characters into lines, wherever a line may end: a whole group of four after those
    of the `prefix` others."""
    for width in _WIDTHS if len(encoded) <= _LONGEST_IN_LINES else ():
        for first in range(4 - prefix % 4, min(width + 1, len(encoded)), 4):
            breaks = [0, *range(first, len(encoded), width), len(encoded)]
            lines = [encoded[begin:end] for begin, end in pairwise(breaks)]
            yield from (line_break.join(lines) for line_break in _LINE_BREAKS)
