"""The data set `contracts:FOLDER`: the source files of a folder, each a row."""

import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from swarm_bench.config.text_file import decode_text
from swarm_bench.core.errors import ConfigError, Refused, UsageError
from swarm_bench.core.roles.dataset import RawRow, RawRows
from swarm_bench.core.validation import first_clause
from swarm_bench.runtime.untrusted import read

LARGEST = 8 * 1024 * 1024
"""Bytes of a file: more is no source code."""
MOST_FILES = 100_000
_MANIFEST = "dataset.json"
_PATTERN = "*.sol"
_LARGEST_MANIFEST = 1024 * 1024


class Manifest(BaseModel):
    """What `dataset.json` may say of the files beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: datetime.date | None = None
    """Date of all files that have no other."""
    dates: dict[str, datetime.date] = {}
    """Dates by the path of a file or a folder, relative to this folder."""
    licence: str | None = None
    source: str | None = None

    def date_of(self, path: str) -> str | None:
        """Return the date of a file: that of the longest path that it lies in."""
        folders = [
            name for folder in PurePosixPath(path).parents for name in (f"{folder}/", f"{folder}")
        ]
        day = next((self.dates[name] for name in (path, *folders) if name in self.dates), self.date)
        return None if day is None else day.isoformat()


class Contracts:
    """A folder. `contracts:FOLDER` has its Solidity files, `contracts:FOLDER/*.py` others."""

    about = "contracts:FOLDER: the source files of a folder."
    published: datetime.date | None = None
    """Each file has a date of its own, or none."""

    def __init__(self, argument: str = "") -> None:
        """Note where it lies; nothing is read yet."""
        path = Path(argument).expanduser()
        has_pattern = "*" in path.name
        self.pattern = path.name if has_pattern else _PATTERN
        self.folder = path.parent if has_pattern else path
        self.is_named = bool(argument)

    @property
    def licence(self) -> str | None:
        """Return that of the manifest."""
        return self._manifest().licence

    @property
    def source(self) -> str | None:
        """Return that of the manifest."""
        return self._manifest().source

    def load(self) -> RawRows:
        """Read the files, by their paths. Raises `UsageError`, and `ConfigError` with file and
        line."""
        if not self.is_named:
            raise UsageError("--dataset contracts: name the folder, contracts:FOLDER")
        if not self.folder.is_dir():
            raise UsageError(f"{self.folder} is no folder; give another --dataset contracts:FOLDER")
        try:
            manifest, paths = self._manifest(), sorted(self._paths())
        except Refused:
            raise
        except OSError as error:
            raise UsageError(
                f"{error.filename or self.folder} cannot be read ({error.strerror}); give another "
                "folder, or remove it"
            ) from error
        if not paths:
            raise UsageError(
                f"{self.folder} has no files {self.pattern}; give another folder, or other files: "
                f"--dataset 'contracts:{self.folder}/*.py'"
            )
        raw = RawRows.of(self._row(path, manifest) for path in paths)
        pairs = zip(paths, raw.rows, strict=True)
        rows = (RawRow(content=row.content, where=str(self.folder / path)) for path, row in pairs)
        return replace(raw, rows=tuple(rows))

    def _row(self, path: str, manifest: Manifest) -> dict[str, Any]:
        day = manifest.date_of(path)
        return {"path": path, "content": self._text(path), **({"date": day} if day else {})}

    def _paths(self) -> Iterator[str]:
        """Yield the files, relative to the folder. What is hidden is none, and a link to one of
        them is that one. Raises `ConfigError`, and `OSError`."""
        top, links, files = self.folder.resolve(), dict[Path, Path](), set[Path]()
        for number, path in enumerate(self.folder.rglob(self.pattern)):
            if number == MOST_FILES:
                raise ConfigError(f"{self.folder} has more than {MOST_FILES} files; give a part")
            inner = path.relative_to(self.folder)
            if any(part.startswith(".") for part in inner.parts):
                continue
            if path.is_symlink():
                links[path] = path.resolve()
            elif not path.is_dir():
                files.add(top / inner)
                yield inner.as_posix()
        for path, target in links.items():
            if target not in files:
                inside = target.is_relative_to(top)
                leads = "to none of its files" if inside else f"out of {self.folder}"
                raise ConfigError(
                    f"{path} is a link {leads}, and is not followed; remove it, or put the file "
                    "itself there"
                )

    def _text(self, path: str) -> str:
        full = self.folder / path
        try:
            content = read(full, LARGEST)
        except Refused:
            raise
        except OSError as error:
            raise UsageError(f"{full} cannot be read ({error.strerror}); remove it") from error
        try:
            return decode_text(content)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise ConfigError(
                f"{full}:{line}: is no UTF-8 ({error.reason}); save it as UTF-8, or remove it"
            ) from error

    def _manifest(self) -> Manifest:
        if not self.is_named:  # a file of that name in the current folder is somebody else's
            return Manifest()
        path = self.folder / _MANIFEST
        try:
            content = read(path, _LARGEST_MANIFEST)
            return Manifest.model_validate_json(decode_text(content))
        except (FileNotFoundError, NotADirectoryError):
            return Manifest()
        except ValidationError as error:
            raise ConfigError(f"{path}: {first_clause(error)}; fix it") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path} is no UTF-8 ({error.reason}); fix it") from error
