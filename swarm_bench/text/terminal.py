"""What programs print for a terminal, even into a pipe: colours, titles, spinners."""

import re

SEQUENCE = re.compile(
    "\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # colours and modes
    "|[\\]PX^_][^\x07\x1b\n]*?(?:\x07|\x1b\\\\|\x9c)"  # titles, links, progress
    r"|[ -/]*[0-~])"  # character sets, keypad
)

_OVERWRITING = re.compile(rb"\x1b\[(?:[0-9;]*[EFGHJf]|[12]K)")
"""Puts the cursor elsewhere, or erases the line: what follows stands on a line of its own."""
_SEQUENCE = re.compile(SEQUENCE.pattern.encode())
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))


def strip_formatting(data: bytes) -> bytes:
    """Take out what is for a terminal, in time that grows with the data alone. Nothing of JSON is
    lost, in whose strings a control character is written as an escape."""
    data = _as_utf8(data)
    if b"\x1b" in data:
        data = _SEQUENCE.sub(b"", _OVERWRITING.sub(b"\r", data))
    return data.translate(None, _CONTROLS)


def plain_text(data: bytes) -> str:
    """Return the lines that a person would read; a line that was written again is another one."""
    text = strip_formatting(data).decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _as_utf8(data: bytes) -> bytes:
    """Encode UTF-16 anew, in which every other byte of ASCII is a zero."""
    if b"\0" not in data:
        return data
    first, second = (part.count(0) * 4 > len(part) for part in (data[::2], data[1::2]))
    if first == second:
        return data
    return data.decode("utf-16-be" if first else "utf-16-le", "replace").encode()
