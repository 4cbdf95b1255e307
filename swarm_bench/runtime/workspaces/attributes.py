"""What the `.gitattributes` of a commit say of its files."""

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from swarm_bench.core.errors import HarnessError
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.workspaces.objects import git_command, git_surroundings

_VALUES = {b"set": True, b"true": True, b"unset": False, b"false": False}


def attributes_of(
    repository: Path, commit: str, paths: Iterable[str], names: Iterable[str]
) -> Mapping[str, Mapping[str, bool]]:
    """Return for each path those of the attributes that are set, or unset, by name. Raises
    `HarnessError`."""
    feed = b"".join(f"{path}\0".encode("utf-8", "surrogateescape") for path in paths)
    with temporary() as folder:
        index = {"GIT_INDEX_FILE": str(folder / "index")}  # git looks at no commit itself
        _run(repository, index, b"", "read-tree", commit)
        asked = ("check-attr", "--cached", "--stdin", "-z", *names)
        fields = _run(repository, index, feed, *asked).split(b"\0")
    declared: dict[str, dict[str, bool]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        if value in _VALUES:
            of_path = declared.setdefault(path.decode("utf-8", "surrogateescape"), {})
            of_path[name.decode()] = _VALUES[value]
    return declared


def _run(repository: Path, index: Mapping[str, str], feed: bytes, *arguments: str) -> bytes:
    done = subprocess.run(
        [*git_command(), *arguments],
        cwd=repository,
        env={**git_surroundings(), **index},
        input=feed,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise HarnessError(f"git cannot read the attributes of {repository}; see that it is whole")
    return done.stdout
