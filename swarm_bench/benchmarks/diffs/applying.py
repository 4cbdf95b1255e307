"""Applies a diff to files: strictly as git does, or else where its old lines are found once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from swarm_bench.benchmarks.diffs.reading import MOST_HUNKS, Change, Diff, Hunk
from swarm_bench.core.errors import EnvironmentFailed
from swarm_bench.core.roles.execution import Environment
from swarm_bench.environments.files import change, is_text

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
    """As they are then; `None` where it does not apply."""
    reason: str = ""
    """It does not apply strictly, or at all."""


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
