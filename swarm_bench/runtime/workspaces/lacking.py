"""What a clone lacks on purpose: a partial one fetches what it is asked for, which we never let git
do behind the user's back."""

from collections.abc import Iterable
from pathlib import Path

from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.workspaces.objects import git_output

FETCHING = "'git fetch --refetch --no-filter' there brings the rest"
"""What helps. Without the last word git asks for as little as before."""
_SETTINGS = r"^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$"


def count_missing_objects(
    repository: Path, commits: Iterable[str], *, history: bool = False
) -> int:
    """Count the files and folders of commits, or of their whole `history`, that are not there; 0
    for what is neither a partial clone nor borrows from another one."""
    if not _is_partial(repository):
        return 0
    options = ["--objects", "--missing=print", "--ignore-missing"]  # whole commits are named first
    options += [] if history else ["--no-walk"]
    listing = git_output(repository, "rev-list", *options, *dict.fromkeys(commits), "--")
    return sum(line.startswith(b"?") for line in (listing or b"").splitlines())


def refuse_missing_objects(repository: Path, commits: Iterable[str]) -> None:
    """Raise `UsageError` when a partial clone does not have all that these commits have."""
    if number := count_missing_objects(repository, commits):
        noun = "file or folder" if number == 1 else "files or folders"
        raise UsageError(
            f"{repository} is a partial clone, and lacks {number:,} {noun} of the commits that "
            f"are asked about; {FETCHING}"
        )


def _is_partial(repository: Path) -> bool:
    if git_output(repository, "config", "--get-regexp", _SETTINGS):
        return True
    path = git_output(repository, "rev-parse", "--git-path", "objects/info/alternates") or b""
    return (repository / path.decode("utf-8", "surrogateescape").removesuffix("\n")).is_file()
