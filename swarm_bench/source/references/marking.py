"""Names of files that do not look like one word: `app/[slug]/page.tsx`, `my module/tool.py`.

They are looked for in a text before it is cut into words, as they stand and in the ways in which
programs write them. Each is replaced by a mark of the same length that reads as the name of a file,
so that whatever stands around it is read as around any other name.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from unicodedata import east_asian_width

from swarm_bench.source.references.decoding import View, decode_escapes, lower, nfc, views

_PLAIN = re.compile(r"[\w./-]{1,300}\Z", re.ASCII)
"""A path that is one word, however a text is cut."""
_FIRST, _LAST = 0xF0000, 0x10FFFE
"""Characters without a meaning, of which marks are made: one for each name."""
MARKS = f"{chr(_FIRST)}-{chr(_LAST)}"
"""Characters of marks, as a class of a pattern has them."""
_AMBIGUOUS = chr(_LAST)
"""Part of the mark of what several files are called."""
_TAIL = ".x"
_MARK = re.compile(rf"([{MARKS}])\1*\.x")
_MEANINGLESS = re.compile(rf"[{chr(_FIRST)}-\U0010ffff]")
_SHORTEST = 1 + len(_TAIL)
_MOST_TAILS = 64
_MOST_ALIKE = 50
"""Files that may be meant by the end of a path, and ends of a name that are names."""
_CUTS = re.compile(r"[/*]$|\s+|[,:]")
_LONGEST_SEGMENT = 300


class Marks:
    """The names of a repository for which a text is searched before it is cut."""

    def __init__(self, files: frozenset[str]) -> None:
        uncommon = sorted(path for path in files if not _PLAIN.match(path))
        self._paths = uncommon[: _LAST - _FIRST]
        self._numbers = {path: number for number, path in enumerate(self._paths)}
        sorted_paths = sorted((_fold(path)[::-1], path) for path in self._paths)
        sorted_paths = [entry for entry in sorted_paths if len(entry[0]) >= _SHORTEST]
        self._keys = [key for key, _ in sorted_paths]
        self._listed = sorted_paths

    def mark(self, text: str, root: str, *, repeated: bool) -> str:
        """Replace the names by marks of their lengths; `root` is the path of the workspace. What
        looks like a mark is none but in a text that was marked before."""
        if not self._keys:
            return text
        if not repeated:
            text = _MEANINGLESS.sub("\ufffd", text)
        hits = {
            hit
            for view in views(text, composes=not self._is_ascii)
            for hit in self._hits(view, text, root)
        }
        pieces: list[str] = []
        end = 0
        for start, stop, mark in sorted(hits, key=lambda hit: (hit[0], -hit[1], hit[2])):
            is_free = start >= end and stop - start >= _SHORTEST
            if is_free and not (mark == _AMBIGUOUS and is_below_others(text, start)):
                pieces += [text[end:start], mark * (stop - start - len(_TAIL)), _TAIL]
                end = stop
        return "".join([*pieces, text[end:]])

    def unmark(self, text: str) -> str:
        """Put names in the place of marks, and what is no path in the place of one that several
        files have."""
        return _MARK.sub(self._name, text) if self._keys else text

    def _name(self, match: re.Match[str]) -> str:
        number = ord(match[1]) - _FIRST
        return self._paths[number] if number < len(self._paths) else "\0"

    @cached_property
    def segments(self) -> frozenset[str]:
        """Names of folders and files that are no words."""
        parts = {part for path in self._paths for part in path.split("/")}
        return frozenset(_fold(part) for part in parts if not _PLAIN.match(part))

    def segment_at_start(self, text: str) -> str | None:
        """Find the longest name of a folder or a file that is no word and that a text begins
        with."""
        if not self._keys:
            return None
        text = text[:_LONGEST_SEGMENT].rstrip().strip("\"'`")
        cuts = [match.start() for match in _CUTS.finditer(text)]
        for end in (len(text), *reversed(cuts)):
            for name in (text[:end], decode_escapes(text[:end])):
                if _fold(name) in self.segments:
                    return name
        return None

    @cached_property
    def _is_ascii(self) -> bool:
        return all(map(str.isascii, self._paths))

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._keys)) + 2

    @cached_property
    def _match_ends(self) -> tuple[re.Pattern[str], int]:
        """Return what matches before the last characters of a name, and how many these are."""
        size = min(4, min(map(len, self._keys)))
        tails = {key[:size][::-1] for key in self._keys}
        while len(tails) > _MOST_TAILS and size > 1:
            size -= 1
            tails = {tail[-size:] for tail in tails}
        if size == 1:
            return re.compile(f"(?=[{re.escape(''.join(sorted(tails)))}])"), size
        return re.compile(f"(?={'|'.join(map(re.escape, sorted(tails)))})"), size

    @cached_property
    def _parents(self) -> list[int]:
        """Return for each name the longest one that it ends with, by their numbers; -1 for none."""
        parents: list[int] = []
        stack: list[int] = []
        for number, key in enumerate(self._keys):
            while stack and (
                not key.startswith(self._keys[stack[-1]]) or key == self._keys[stack[-1]]
            ):
                stack.pop()
            parents.append(stack[-1] if stack else -1)
            stack.append(number)
        return parents

    def _hits(self, view: View, text: str, root: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and character of the marks for the names in a view."""
        folded = lower(view.text)
        backwards = folded[::-1]
        pattern, size = self._match_ends
        for match in pattern.finditer(folded):
            end = match.start() + size
            if not closes(folded, end):
                continue
            behind = len(folded) - end
            preceding = backwards[behind : behind + self._longest]
            for length, is_whole in self._lengths(preceding):
                start = end - length
                if opens(folded, start, folded[start:end], is_whole) and tells(folded, start, end):
                    span = view.at(start), view.at(end)
                    mark = self._mark(view.text[start:end], text[slice(*span)], is_whole)
                    prefix = root + "/"
                    if root and not _PLAIN.match(root) and text.endswith(prefix, 0, span[0]):
                        span = span[0] - len(prefix), span[1]
                    yield *span, mark
                    break

    def _lengths(self, preceding: str) -> list[tuple[int, bool]]:
        """Return how many of the characters before an end, from the last one on, are a name or the
        end of one from a folder on, the most first, and whether they are the whole name."""
        number = bisect_right(self._keys, preceding) - 1
        near = self._keys[max(0, number) : number + 2]
        common = max(_count_common(key, preceding) for key in near)
        lengths: list[tuple[int, bool]] = []
        for length in (common, common - 1):
            if preceding[length : length + 1] != "/" or preceding[length + 1 : length + 2] in (
                *".…",
            ):
                piece = preceding[:length]
                at = bisect_left(self._keys, piece + "/")
                if piece and at < len(self._keys) and self._keys[at].startswith(piece + "/"):
                    lengths.append((length, False))
        for _ in range(_MOST_ALIKE):
            if number < 0:
                break
            if preceding.startswith(self._keys[number]):
                lengths.append((len(self._keys[number]), True))
            number = self._parents[number]
        return [
            (length, is_whole)
            for length, is_whole in sorted(lengths, reverse=True)
            if not _PLAIN.match(preceding[:length])
        ]

    def _mark(self, piece: str, raw: str, is_whole: bool) -> str:
        """Return the character for the only file that has this name, or the one of all those that
        is written so."""
        key = lower(piece)[::-1] + ("" if is_whole else "/")
        at = bisect_left(self._listed, (key,))
        candidates: list[str] = []
        for reversed_path, path in self._listed[at : at + _MOST_ALIKE + 1]:
            if reversed_path == key or (not is_whole and reversed_path.startswith(key)):
                candidates.append(path)
        for name, spelled in ((raw, str), (piece, nfc), (piece, _fold)):
            name = spelled(name)
            same = [p for p in candidates if f"/{spelled(p)}".endswith(f"/{name}")]
            if len(same) == 1:
                return chr(_FIRST + self._numbers[same[0]])
            if same:
                break
        return _AMBIGUOUS


def has_mark(text: str) -> bool:
    """Tell whether a marked text has one."""
    return end_of_mark(text) is not None


def end_of_mark(text: str) -> int | None:
    """Return where the first mark of a marked text ends; `None` where there is none."""
    match = None if text.isascii() else _MARK.search(text)
    return None if match is None else match.end()


@lru_cache(maxsize=8)
def marks_of(files: frozenset[str]) -> Marks:
    """Return the same marks for the same files."""
    return Marks(files)


def _count_common(text: str, second: str) -> int:
    """Count the characters at the beginnings that are the same."""
    low, high = 0, min(len(text), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if text.startswith(second[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def _fold(path: str) -> str:
    return lower(_MEANINGLESS.sub("\ufffd", nfc(path)))


_FILE = re.compile(r".*\w\.[A-Za-z]\w{0,15}(?!\w)|.*\.\w{1,16}\Z|.*/", re.DOTALL)
"""The name of a file, by an extension or a folder."""
_BRANCH = re.compile(r"(?:├|└|\|--|`--|\+--)[─-]*[ \t]*[\"'`]?\Z")
"""Text before a name in the drawing of a tree, where it is below the names above it."""
_CLOSED = re.compile(r"(?!_*[A-Za-z0-9])(?!\.+\w)(?!/)(?!\\[^\Wnrt])(?!-(?!\d{1,9}-)\w)")
"""Text that may stand behind a name; in the output of a search that is `-12-`."""
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}
_RELATIVE_START = re.compile(r"(?:\A|[^\w.)\]}/…])(?:(?:\.{1,3}|…)/)+\Z")
_EDGES = ("", *"\"'`“”‘’«»<>()/:#\n")
"""Characters beside a blank that is part of a name."""
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
