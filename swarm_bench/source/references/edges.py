"""Where the name of a file may begin and end in a text."""

import re
from unicodedata import east_asian_width

_FILE = re.compile(r".*\w\.[A-Za-z]\w{0,15}(?!\w)|.*\.\w{1,16}\Z|.*/", re.DOTALL)
"""The name of a file, by an extension or a folder."""
_BRANCH = re.compile(r"(?:├|└|\|--|`--|\+--)[─-]*[ \t]*[\"'`]?\Z")
"""What stands before a name in the drawing of a tree, where it is below the names above it."""
_CLOSED = re.compile(r"(?!_*[A-Za-z0-9])(?!\.+\w)(?!/)(?!\\[^\Wnrt])(?!-(?!\d{1,9}-)\w)")
"""What may stand behind a name; in the output of a search that is `-12-`."""
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}
_RELATIVE_START = re.compile(r"(?:\A|[^\w.)\]}/…])(?:(?:\.{1,3}|…)/)+\Z")
_EDGES = ("", *"\"'`“”‘’«»<>()/:#\n")
"""What stands beside a blank that is of a name."""
_LIST_MARK = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])?\s*\Z")
_NEAR = 300


def closes(text: str, end: int) -> bool:
    """Tell whether a name may end there."""
    if end < len(text) and not text[end - 1].isascii() and text[end].isalnum():
        return False
    return _CLOSED.match(text, end) is not None


def opens(text: str, start: int, piece: str, is_whole: bool) -> bool:
    """Tell whether a name may begin there: behind a `/` that is not of the name, only a whole
    one."""
    at = start
    while at and text[at - 1] in "_*~" and start - at < 4:
        at -= 1
    letter = text[at - 1 : at]
    if letter == "/":
        return is_whole or (
            at == start and _RELATIVE_START.search(text[max(0, at - 8) : at]) is not None
        )
    if letter.isalnum():
        is_wide = east_asian_width(letter) in "WF"
        return at == start and is_wide and ("/" in piece or piece[:1].isascii())
    return not letter or letter not in ".-+%$\\)]}"


def tells(text: str, start: int, end: int) -> bool:
    """Tell whether the name can be no part of a sentence: by its folder or its extension, or since
    it is set apart."""
    piece = text[start:end]
    letter_before, letter_after = text[max(0, start - 1) : start], text[end : end + 1]
    is_cut = (not piece[0].isspace() or letter_before in _EDGES) and (
        not piece[-1].isspace() or letter_after in _EDGES
    )
    if _FILE.match(piece) and is_cut:
        return True
    if all(map(str.isalnum, piece)):
        return False
    if letter_before in _QUOTES:
        return letter_after == _QUOTES[letter_before]
    line = text[max(0, start - _NEAR) : start].rpartition("\n")
    is_first = bool(line[1]) or start < _NEAR
    return is_first and _LIST_MARK.match(line[2]) is not None and letter_after in ("", "\r", "\n")


def is_below_others(text: str, start: int) -> bool:
    """Tell whether the name that begins there stands in the drawing of a tree."""
    return _BRANCH.search(text, max(0, start - _NEAR), start) is not None
