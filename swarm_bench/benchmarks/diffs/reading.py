"""Reads a unified diff as a model wrote it, however damaged."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MOST_HUNKS = 1_000
_NUMBERED = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_HEADER = re.compile(r"(?:---|\+\+\+)[ \t]+(.+)")
_DATED = re.compile(r"\t|[ ]+\d{4}-\d\d-\d\d\b")
"""Begins what stands behind the name in a header."""
_OLD = ".orig"
_FENCE = re.compile(
    r"^([ \t]*)(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^\1\2[`~]*[ \t\r]*$|\Z)", re.MULTILINE | re.DOTALL
)
_HUNK = re.compile(r"^@@", re.MULTILINE)
_OTHER_CHANGES = (
    "GIT binary patch",
    "Binary files ",
    "old mode ",
    "new mode ",
    "deleted file mode ",
    "new file mode ",
    "rename from ",
    "rename to ",
    "rename old ",
    "rename new ",
    "copy from ",
    "copy to ",
)
"""Lines on what is no change of a text: links, programs, other names."""
_NO_END = "\\"
_BLANK_END = 4 * "\n"
"""Ends the last line, and stands for blank ones of the last hunk: answers often lack them, and git
passes over what it does not need."""


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """Lines that follow each other, and what becomes of them."""

    lines: tuple[tuple[str, str], ...]
    """Each with its sign: a blank for what stays, `-` and `+`."""

    @property
    def old(self) -> tuple[str, ...]:
        """The lines before the change."""
        return tuple(text for sign, text in self.lines if sign != "+")


@dataclass(kw_only=True)
class Change:
    """What a diff does to one file."""

    names: list[str] = field(default_factory=list)
    """Those of its headers, without a date."""
    hunks: list[Hunk] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Diff:
    """A diff."""

    text: str
    """As it is applied strictly; it ends with line breaks."""
    changes: tuple[Change, ...]
    well_formed: bool
    """Whether it has a header of the new file, and a hunk with numbers."""
    changes_texts_only: bool


def find_diff(text: str) -> str:
    """Return the diff of an answer: the first block with a hunk, or else the first one, or the
    whole text where there is none, or where only that has a hunk."""
    blocks = [_drop_indentation(match[3], match[1]) for match in _FENCE.finditer(text)]
    with_hunk = [block for block in blocks if _HUNK.search(block)]
    return next(iter(with_hunk or ([] if _HUNK.search(text) else blocks)), text)


def _drop_indentation(block: str, indentation: str) -> str:
    lines = block.split("\n")
    return "\n".join(line.removeprefix(indentation) for line in lines) if indentation else block


def read_diff(text: str) -> Diff:
    """Read a diff."""
    lines = text.split("\n")
    stripped = [line.rstrip("\r") for line in lines]
    return Diff(
        text=text + _BLANK_END,
        changes=tuple(_read_changes(stripped)),
        well_formed=any(map(_is_new_name, stripped)) and any(map(_NUMBERED.match, stripped)),
        changes_texts_only=not any(line.startswith(_OTHER_CHANGES) for line in stripped),
    )


def _read_changes(lines: Sequence[str]) -> Sequence[Change]:
    """Return the change of each file. A line is a header only beside the other one: `--- a` may
    also be a line that goes."""
    reader, number = _Reader(), 0
    while number < len(lines):
        line, following = lines[number], lines[number + 1 : number + 2]
        if line.startswith("--- ") and any(map(_is_new_name, following)):
            reader.begin(_read_name(line), _read_name(following[0]))
            number += 1
        elif line.startswith("diff --git "):
            reader.end_hunk()
        elif line.startswith("@@"):
            reader.begin_hunk()
        else:
            reader.add(line)
        number += 1
    reader.end_hunk()
    return [change for change in reader.changes if change.names or change.hunks]


def _is_new_name(line: str) -> bool:
    return line.startswith("+++ ")


class _Reader:
    """Takes the lines of a diff one by one."""

    def __init__(self) -> None:
        self.changes = [Change()]
        self._hunk: list[tuple[str, str]] | None = None
        """Lines of the one that is read; `None` outside of them."""

    def begin(self, old: str, new: str) -> None:
        """Begin the change of a file. What is called so beside it is its old text, as for git."""
        names = [new if old[2:] == f"{new[2:]}{_OLD}" or old == f"{new}{_OLD}" else old, new]
        self.end_hunk()
        self.changes.append(Change(names=names))

    def begin_hunk(self) -> None:
        self.end_hunk()
        self._hunk = []

    def end_hunk(self) -> None:
        if self._hunk:
            self.changes[-1].hunks.append(Hunk(lines=tuple(_drop_blank_end(self._hunk))))
        self._hunk = None

    def add(self, line: str) -> None:
        """Add a line of a hunk, or the name of the new file alone; others are passed over."""
        if self._hunk is None:
            if _is_new_name(line):
                self.changes[-1].names.append(_read_name(line))
        elif line[:1] in {" ", "+", "-"}:
            self._hunk.append((line[0], line[1:]))
        elif not line.startswith(_NO_END):
            self._hunk.append((" ", line))


def _drop_blank_end(hunk: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out blank lines behind the last change that no file has to have: answers end so."""
    end = len(hunk)
    while end and hunk[end - 1] == (" ", ""):
        end -= 1
    return hunk[:end]


def _read_name(header: str) -> str:
    match = _HEADER.match(header)
    return _DATED.split(match[1])[0].strip().strip('"') if match else ""
