"""Files in drawn trees and in lists of folders: a name stands below the folders above it."""

import re
from collections.abc import Iterator

from swarm_bench.source.references.mentions import Mention, find_mention
from swarm_bench.source.references.snapshot import Snapshot

_BRANCH = re.compile(r"[\s│|]{0,200}(?:├|└|\|--|`--|\+--)[─-]*[ \t]*(?=\S)(?P<name>[^\s#(├└│]*)")
_MARKS = ("├", "└", "|--", "`--", "+--")
_ROOT = re.compile(r"\s*([\w./-]+/|\.)\s*$")
_HEADING = re.compile(r"^(\S[^\n]{0,1000}):[ \t]*\r?$", re.MULTILINE)
_ENTRY = re.compile(
    r"(?:[-bcdlps][-rwxsStT]{9}[.+@]?\s.{1,200}?(?:\d{1,2}:\d\d|\s\d{4})\s)?[\"']?(.{1,300}?)[\"'*]?\s*$"
)
"""A name below a heading, which a long list has its size and its date before."""


def read_tree(text: str, snapshot: Snapshot) -> Iterator[tuple[int, int, Mention | None]]:
    """Yield the start and the end of each line of a tree, and the file that it names, if any."""
    has_lists = any(_folder(heading, snapshot) for heading in _HEADING.finditer(text))
    if not has_lists and not any(mark in text for mark in _MARKS):
        return
    folders: list[tuple[int, str]] = []
    root = last_path = ""
    at = 0
    for line in text.splitlines(keepends=True):
        branch = _BRANCH.match(line)
        if branch:
            column, name = branch.start("name"), branch["name"].rstrip("/")
            name = snapshot.marks.segment_at_start(line[column:]) or name
            while folders and folders[-1][0] >= column:
                folders.pop()
            path = "/".join([*(folder for _, folder in folders), name])
            start = at + column
            yield at, at + len(line), _file([root + path, path, name], start, snapshot)
            folders.append((column, name))
        else:
            folders.clear()
            match = _ROOT.match(line)
            root = match[1].removeprefix("./").removeprefix(".") if match else ""
            last_path = _read_line(line, last_path, snapshot)
            entry = _ENTRY.match(line) if last_path else None
            if entry and (path := f"{last_path}/{entry[1]}") in snapshot:
                yield at, at + len(line), _file([path], at + entry.start(1), snapshot)
        at += len(line)


def _read_line(line: str, last_path: str, snapshot: Snapshot) -> str:
    """Return the folder whose files are listed behind a line, if any: `src/shop:` is a heading."""
    if heading := _HEADING.match(line):
        return _folder(heading, snapshot)
    return last_path if line.strip() else ""


def _folder(heading: re.Match[str], snapshot: Snapshot) -> str:
    folder = snapshot.relative(heading[1].strip("\"'").rstrip("/"))
    return folder if snapshot.has_folder(folder) else ""


def _file(candidates: list[str], start: int, snapshot: Snapshot) -> Mention | None:
    candidates = [snapshot.mark(candidate, repeated=True) for candidate in candidates]
    for candidate in candidates:
        mention = find_mention(candidate, start, snapshot, is_alone=False)
        if mention and mention.path:
            return mention
    return find_mention(candidates[0], start, snapshot, is_alone=True)
