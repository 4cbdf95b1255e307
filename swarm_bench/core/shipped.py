"""Where the task and mode files are that come with the package, and those of the user."""

from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def folders(name: str) -> list[Path]:
    """Folders that hold files of the kind `name` (`tasks`, `mcp_configs`): ours, then the one in
    the working folder when there is one and it is another."""
    # In a wheel they lie inside the package, in a checkout beside it.
    inside = _PACKAGE / name
    ours = inside if inside.is_dir() else _PACKAGE.parent / name
    theirs = Path.cwd() / name
    if theirs.is_dir() and theirs.resolve() != ours.resolve():
        return [ours, theirs]
    return [ours]


def files(name: str, suffix: str) -> Iterator[Path]:
    """All files of the kind `name` that end in `suffix`, ours first, by name."""
    for folder in folders(name):
        yield from sorted(folder.glob(f"*{suffix}"))
