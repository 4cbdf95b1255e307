"""Where the task and mode files are that come with the package, and those of the user."""

from collections.abc import Iterator
from pathlib import Path

from swarm_bench.core.errors import ConfigError, UnknownName

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


def is_path(word: str, suffix: str) -> bool:
    """Whether a word stands for a file, and not for the name of one."""
    return word.endswith(suffix) or "/" in word


def find(kind: str, folder: str, suffix: str, name: str) -> Path:
    """The file that `name` stands for: a path to one, or its name without the suffix.

    `kind` is what a person calls it. Raises `UnknownName` when there is none, and `ConfigError`
    when a file of the user has the name of one of ours: neither may quietly replace the other.
    """
    if is_path(name, suffix):
        return Path(name).expanduser()
    found = [path for path in files(folder, suffix) if path.stem == name]
    if not found:
        raise UnknownName(kind, name, {path.stem for path in files(folder, suffix)})
    if len(found) > 1:
        raise ConfigError(
            f"Two files define the {kind} {name!r} ({', '.join(map(str, found))}); "
            "give the path of the one you mean"
        )
    return found[0]


def is_ours(path: Path, folder: str) -> bool:
    """Whether a file of the kind `folder` came with the package. A link to one may lead elsewhere
    the next time."""
    return path.absolute().parent == folders(folder)[0]
