"""Files of rows: JSON lines, JSON and CSV, also compressed. Some call JSON lines `.json`."""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.roles.dataset import RawRow, RawRows
from swarm_bench.runtime.untrusted import read

LARGEST = 512 * 1024 * 1024
"""Bytes of a file, and of what comes out of a compressed one."""
FIX = "fix the data, or give another --dataset"
_FORMATS = (".jsonl", ".json", ".csv")


class RowFile:
    """A file of rows, as a data set."""

    about = "A file of rows."
    licence: str | None = None
    source: str | None = None
    published: date | None = None

    def __init__(self, path: Path) -> None:
        """Note where it lies; nothing is read yet."""
        self.path = path

    def read(self) -> RawRows:
        """Read the rows. Raises `UsageError`, and `ConfigError` with the line of what is wrong."""
        content = self.content()
        rows = _parsed(self.path, _plain(self.path, content))
        return RawRows(sha256=hashlib.sha256(content).hexdigest(), rows=rows)

    def content(self) -> bytes:
        """Read the file as it is. Raises `UsageError`."""
        try:
            return read(self.path, LARGEST)
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read ({error.strerror}); {FIX}") from error


def _plain(path: Path, content: bytes) -> str:
    try:
        if path.suffix == ".gz":
            with gzip.open(io.BytesIO(content)) as file:
                content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ConfigError(f"{path} has more than {LARGEST >> 20} MB; {FIX}")
        return content.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is damaged ({error}); {FIX}") from error


def _parsed(path: Path, text: str) -> Iterator[RawRow]:
    """Yield the rows, each with its line; rows of a JSON list have their number."""
    for number, row in _numbered(path, text):
        yield RawRow(content=row, where=f"{path}:{number}")


def _numbered(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    try:
        if suffix == ".jsonl" or (suffix == ".json" and _is_lines(text)):
            yield from _lines(path, text)
        elif suffix == ".json":
            rows = json.loads(text)
            if not isinstance(rows, list):
                raise ConfigError(f"{path} holds no list of rows; {FIX}")
            yield from enumerate(rows, start=1)
        elif suffix == ".csv":
            reader = csv.DictReader(io.StringIO(text), strict=True)
            yield from ((reader.line_num, row) for row in reader)
        else:
            raise UsageError(f"{path} is none of {', '.join(_FORMATS)}, also .gz; {FIX}")
    except (ValueError, RecursionError, csv.Error) as error:
        raise ConfigError(f"{path} is damaged ({error}); {FIX}") from error


def _is_lines(text: str) -> bool:
    """Tell whether the first line is a row by itself."""
    try:
        return isinstance(json.loads(text.lstrip().partition("\n")[0]), dict)
    except (ValueError, RecursionError):
        return False


def _lines(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"{path}:{number}: not a row of JSON; {FIX}") from error
