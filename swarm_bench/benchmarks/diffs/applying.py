"""Reads a unified diff as a model wrote it, however damaged, and applies it to files: strictly as
git does, or else where its old lines are found once."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from swarm_bench.core.errors import EnvironmentFailed
from swarm_bench.core.roles.execution import Environment
from swarm_bench.environments.files import change, is_text

MOST_HUNKS = 1_000
_NUMBERED = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_HEADER = re.compile(r"(?:---|\+\+\+)[ \t]+(.+)")
_DATED = re.compile(r"\t|[ ]+\d{4}-\d\d-\d\d\b")
"""Beginning of what stands behind the name in a header."""
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
    """Lines, each with its sign: a blank for what stays, `-` and `+`."""

    @property
    def old(self) -> tuple[str, ...]:
        """The lines before the change."""
        return tuple(text for sign, text in self.lines if sign != "+")


@dataclass(kw_only=True)
class Change:
    """What a diff does to one file."""

    names: list[str] = field(default_factory=list)
    """Names in its headers, without a date."""
    hunks: list[Hunk] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Diff:
    """A diff."""

    text: str
    """Text of the diff as it is applied strictly; it ends with line breaks."""
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


PATCH = "answer.patch"
"""The name of the diff where git applies it."""
_PREFIXES = ("a/", "b/")
_LOOSER: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip)
"""How lines are compared, each way only where the one before finds nothing: exactly, without blanks
at their ends, without indentation."""


@dataclass(frozen=True, kw_only=True)
class ApplyResult:
    """What became of a diff."""

    strict: bool
    files: Mapping[str, str] | None
    """Files after the diff was applied; `None` if it does not apply."""
    reason: str = ""
    """Reason why the diff does not apply strictly, or at all."""


async def apply(
    environment: Environment, diff: Diff, files: Mapping[str, str], main: str, *, tolerant: bool
) -> ApplyResult:
    """Apply it to files, by their paths; `main` is the one that a diff without names is of. No
    other file is ever written. Raises `EnvironmentFailed`."""
    if not diff.changes_texts_only:
        return ApplyResult(strict=False, files=None, reason="it does more than change texts")
    if not is_text(diff.text):
        return ApplyResult(strict=False, files=None, reason="it has half a character")
    if not any(edit.hunks for edit in diff.changes):
        return ApplyResult(strict=False, files=None, reason="it has no hunk")
    if sum(len(edit.hunks) for edit in diff.changes) > MOST_HUNKS:
        return ApplyResult(
            strict=False, files=None, reason=f"it has more than {MOST_HUNKS:,} hunks"
        )
    if foreign := [
        name for edit in diff.changes for name in edit.names if not _find_file(name, files)
    ]:
        reason = f"it is of {foreign[0]!r}, which is none of the case's files"
        return ApplyResult(strict=False, files=None, reason=reason)
    strict = await _apply_by_git(environment, diff, files) if diff.well_formed else None
    if isinstance(strict, Mapping):
        return _check_changed(ApplyResult(strict=True, files=strict), files)
    reason = strict or "it has not the form of a unified diff"
    changed = _apply_where_found(diff.changes, files, main) if tolerant else None
    return _check_changed(ApplyResult(strict=False, files=changed, reason=reason), files)


def _check_changed(applied: ApplyResult, files: Mapping[str, str]) -> ApplyResult:
    """Return it, if it is any change."""
    if applied.files != files:
        return applied
    return ApplyResult(strict=False, files=None, reason="it changes nothing")


def _find_file(name: str, files: Mapping[str, str]) -> str | None:
    """Return the file that a header names, with or without the prefix of git's."""
    if name in files:
        return name
    return name[2:] if name.startswith(_PREFIXES) and name[2:] in files else None


async def _apply_by_git(
    environment: Environment, diff: Diff, files: Mapping[str, str]
) -> Mapping[str, str] | str:
    """Return the files, or why it does not apply."""
    prefixed = {_find_file(name, files) != name for edit in diff.changes for name in edit.names}
    if len(prefixed) > 1:
        return "some of its names have a prefix, and others have none"
    strip = "-p1" if True in prefixed else "-p0"
    argv = ("git", "apply", strip, "--whitespace=nowarn", PATCH)
    inside = {**files, PATCH: diff.text}
    changed = await change(environment, inside, argv, back=tuple(files))
    if changed is None:
        return "git took too long"
    if changed.returncode == 0:
        is_whole = changed.files.keys() == files.keys()
        return changed.files if is_whole else "it removes or renames a file"
    if changed.returncode not in (1, 128):
        raise EnvironmentFailed(
            f"The environment {environment.name} has no git that works: {changed.reason[:200]}"
        )
    return changed.reason.strip().removeprefix("error: ").partition("\n")[0]


def _apply_where_found(
    changes: Sequence[Change], files: Mapping[str, str], main: str
) -> Mapping[str, str] | None:
    """Return the files, or `None` where a hunk has no place, or several."""
    changed = dict(files)
    for edit in changes:
        name = (_find_file(edit.names[-1], files) if edit.names else None) or main
        text = _insert_hunks(changed[name], edit.hunks)
        if text is None:
            return None
        changed[name] = text
    return changed


def _insert_hunks(text: str, hunks: Sequence[Hunk]) -> str | None:
    """Put in each hunk where its old lines are found; none may lie within another."""
    lines = text.split("\n")
    ending = "\r" if lines[0].endswith("\r") else ""
    plain_lines = [line.removesuffix("\r") for line in lines]
    found_at = [(_find_begin(plain_lines, hunk.old), hunk) for hunk in hunks]
    end = len(plain_lines)
    for begin, hunk in sorted(
        found_at, key=lambda pair: -1 if pair[0] is None else pair[0], reverse=True
    ):
        if begin is None or begin + len(hunk.old) > end:
            return None
        stop = begin + len(hunk.old)
        lines[begin:stop] = [line + ending for line in _make_new(plain_lines[begin:stop], hunk)]
        end = begin
    return "\n".join(lines)


def _find_begin(lines: Sequence[str], old: Sequence[str]) -> int | None:
    """Return where the only lines begin that are these; `None` where there are none, or others."""
    if not any(line.strip() for line in old):
        return None
    for form in _LOOSER:
        formed, old_lines = [form(line) for line in lines], [form(line) for line in old]
        positions = [
            at
            for at, line in enumerate(formed)
            if line == old_lines[0] and formed[at : at + len(old_lines)] == old_lines
        ]
        if positions:
            return positions[0] if len(positions) == 1 else None
    return None


def _make_new(file_lines: Sequence[str], hunk: Hunk) -> list[str]:
    """Return the lines after the change. What stays is as the file has it, and what is new is
    indented as the line is that it takes the place of, or else as the one before."""
    at, new = 0, list[str]()
    shift, shifts = _find_shift(file_lines[0], hunk.old[0]), list[str]()
    """What is missing before the last line, and before those that go of which no other took the
    place."""
    for sign, text in hunk.lines:
        if sign == "+":
            shift = shifts.pop(0) if shifts else shift
            new.append(shift + text if text.strip() else text)
            continue
        if file_lines[at].strip():
            shift = _find_shift(file_lines[at], text)
        if sign == "-":
            shifts.append(shift)
        else:
            shifts.clear()
            new.append(file_lines[at])
        at += 1
    return new


def _find_shift(line: str, text: str) -> str:
    """Return what stands before a line in the file, and is missing in the diff."""
    missing = len(_find_indentation(line)) - len(_find_indentation(text))
    return _find_indentation(line)[:missing] if missing > 0 else ""


def _find_indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
