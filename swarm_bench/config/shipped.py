"""Folders of the task and mode files that come with the package, and of the user's own."""

import filecmp
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.core.errors import ConfigError, UnknownName, UsageError

_PACKAGE = Path(__file__).resolve().parent.parent


def find_shipped(folder: str) -> Path:
    """Return a folder that comes with the package: in a wheel inside it, in a checkout beside."""
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Files that are named by their stem."""

    name: str
    """Name of one, as a user writes it."""
    folder: str
    suffix: str

    def folders(self) -> list[Path]:
        """List the folders that hold such files: ours, then that of the working folder when there
        is another."""
        shipped_folder, user_folder = find_shipped(self.folder), Path.cwd() / self.folder
        return (
            [shipped_folder, user_folder]
            if user_folder.is_dir() and user_folder.resolve() != shipped_folder.resolve()
            else [shipped_folder]
        )

    def files(self) -> Iterator[Path]:
        """Yield all such files, ours first, by name; a copy of ours is no other file."""
        shipped_folder, *user_folders = self.folders()
        yield from sorted(shipped_folder.glob(f"*{self.suffix}"))
        for path in (
            path for folder in user_folders for path in sorted(folder.glob(f"*{self.suffix}"))
        ):
            if not _is_copy(path, shipped_folder / path.name):
                yield path

    def is_path(self, word: str) -> bool:
        """Tell whether a word is the path of a file, and not its name."""
        return word.endswith(self.suffix) or "/" in word

    def find(self, word: str) -> Path:
        """Find the file that `word` stands for: a path, or a name without the suffix.

        Raises `UsageError` when there is none, and `ConfigError` when a file of the user has the
        name of one of ours: neither may quietly replace the other.
        """
        if self.is_path(word):
            return Path(word).expanduser()
        matches = [path for path in self.files() if path.stem == word]
        if not matches and is_file(word):
            raise UsageError(
                f"There is no {self.name} called {word!r}; for the file of that name give its "
                f"path, ./{word}"
            )
        if not matches:
            raise UnknownName(self.name, word, {path.stem for path in self.files()})
        if len(matches) > 1:
            raise ConfigError(
                f"Two files define the {self.name} {word!r} ({', '.join(map(str, matches))}); "
                "give the path of the one you mean"
            )
        return matches[0]

    def is_shipped(self, path: Path) -> bool:
        """Tell whether such a file came with the package. A link to one may lead elsewhere the
        next time."""
        return path.absolute().parent == self.folders()[0]


def _is_copy(path: Path, original: Path) -> bool:
    """Tell whether two files say the same, as in a checkout of what is installed."""
    with suppress(OSError):
        return filecmp.cmp(path, original, shallow=False)
    return False


def is_file(word: str) -> bool:
    """Tell whether there is a file of that name; a name can be too long for one."""
    with suppress(OSError, ValueError):
        return Path(word).is_file()
    return False


MODES = Kind(name="mode", folder="mcp_configs", suffix=".json")
SUITES = Kind(name="task suite", folder="tasks", suffix=".yaml")
