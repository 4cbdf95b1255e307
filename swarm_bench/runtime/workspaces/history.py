"""Reads the history of a repository: its commits, and the files that each of them changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from swarm_bench.core.errors import HarnessError
from swarm_bench.runtime.workspaces.git import own_words
from swarm_bench.runtime.workspaces.objects import git_done

_HEAD = "\x1e"
_FIELD = "\x1f"
_FORMAT = _FIELD.join((f"--format={_HEAD}%H", "%P", "%at", "%ct", "%B"))
_OPTIONS = (
    *("-z", "--raw", "--relative", "-M", "-l200", "--no-abbrev"),
    "--ignore-submodules=all",  # or it fails where `.gitmodules` has a value that it refuses
    # What a configuration may ask for otherwise.
    *("--no-show-signature", "--no-mailmap", "--no-notes", "--encoding=UTF-8", "-O/dev/null"),
)
_LONGEST_MESSAGE = 4_000
"""Characters; more than the first two paragraphs is not asked about."""
_READABLE = {"100644", "100755"}
"""Modes of files; what else there is are links and submodules."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChange:
    """What a commit did to one file."""

    path: str
    """Path in the parent; for a new file in the commit."""
    target: str
    """Path in the commit; for a file that was removed in the parent."""
    old_hash: str | None
    """Git's hash of its content in the parent; `None` for one that is new."""
    after: str | None
    """Git's hash of its content in the commit; `None` for one that was removed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit, and what it changed."""

    hash: str
    parents: tuple[str, ...]
    """Hashes of the parents; empty also where a shallow history ends."""
    written_on: date | None
    """Date when its author wrote it, or it was committed: the later of both, in UTC; `None` where
    no calendar has such a day."""
    message: str
    """Message of the commit; its beginning, where it is very long."""
    changes: tuple[FileChange, ...]
    """Changes of files; empty for a merge."""


def read_history(repository: Path, revision: str, newest: int | None = None) -> tuple[Commit, ...]:
    """Return the commits that lead to a revision, the newest first, and at most so many. Raises
    `HarnessError`."""
    limit = () if newest is None else (f"--max-count={newest}",)
    arguments = ("log", *_OPTIONS, *limit, _FORMAT, "--end-of-options", revision, "--")
    done = git_done(repository, *arguments)
    if done.returncode != 0:
        raise HarnessError(
            f"git cannot read the history of {revision} in {repository} "
            f"({own_words(done.stderr)}); see that it is whole"
        )
    return tuple(_parse_commits(iter(done.stdout.decode("utf-8", "surrogateescape").split("\0"))))


def _parse_commits(entries: Iterator[str]) -> Iterator[Commit]:
    """Read what `git log -z --raw` prints: for each commit a head, then entries of two or three
    parts for its files."""
    head, changes = "", list[FileChange]()
    for entry in entries:
        entry = entry.removeprefix("\n")
        if entry.startswith(_HEAD):
            if head:
                yield _commit(head, changes)
            head, changes = entry, []
        elif entry.startswith(":"):
            changes += _parse_change(entry, entries)
    if head:
        yield _commit(head, changes)


def _commit(head: str, changes: list[FileChange]) -> Commit:
    hash, parents, *dates, message = head.removeprefix(_HEAD).split(_FIELD, 4)
    return Commit(
        hash=hash,
        parents=tuple(parents.split()),
        written_on=max(filter(None, map(_day, dates)), default=None),
        message=message.strip()[:_LONGEST_MESSAGE],
        changes=tuple(changes),
    )


def _day(seconds: str) -> date | None:
    """Return the day of a time since 1970; any text may be written there."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).date()
    except (ValueError, OverflowError, OSError):
        return None


def _parse_change(entry: str, entries: Iterator[str]) -> Iterator[FileChange]:
    mode, new_mode, old_hash, new_hash, status = entry.removeprefix(":").split(" ")
    path = next(entries)
    target = next(entries) if status[0] in "RC" else path
    if not {mode, new_mode} <= {*_READABLE, "000000"}:
        return
    yield FileChange(
        path=target if status[0] == "C" else path,
        target=target,
        old_hash=None if status[0] in "AC" else old_hash,
        after=None if status[0] == "D" else new_hash,
    )
