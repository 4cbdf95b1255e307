"""Files in drawn trees: a name stands below the folders above it."""

import re
from collections.abc import Iterator

from swarm_bench.source.references.mentions import Mention, meant
from swarm_bench.source.references.snapshot import Snapshot

_BRANCH = re.compile(r"[\s│|]{0,200}(?:├|└|\|--|`--|\+--)[─-]*[ \t]*(?=\S)(?P<name>[^\s#(├└│]*)")
_MARKS = ("├", "└", "|--", "`--", "+--")
_ROOT = re.compile(r"\s*([\w./-]+/|\.)\s*$")


def drawn(text: str, snapshot: Snapshot) -> Iterator[tuple[int, int, Mention | None]]:
    """Yield the start and the end of each line of a tree, and the file that it names, if any."""
    if not any(mark in text for mark in _MARKS):
        return
    folders: list[tuple[int, str]] = []
    root = ""
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
        at += len(line)


def _file(ways: list[str], start: int, snapshot: Snapshot) -> Mention | None:
    ways = [snapshot.marked(way, again=True) for way in ways]
    for way in ways:
        mention = meant(way, start, snapshot, is_alone=False)
        if mention and mention.path:
            return mention
    return meant(ways[0], start, snapshot, is_alone=True)
