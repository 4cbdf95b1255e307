"""Files of rows: JSON lines, JSON and CSV, also compressed, and Parquet. Some call JSON lines
`.json`."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from swarm_bench.core.errors import ConfigError, Refused, UsageError
from swarm_bench.core.roles.dataset import RawRow, RawRows
from swarm_bench.runtime.untrusted import read, unpacked

LARGEST = 512 * 1024 * 1024
"""Bytes of a file, and of what comes out of a compressed one."""
FIX = "fix the data, or give another --dataset"
_FORMATS = (".jsonl", ".json", ".csv")
_PARQUET = ".parquet"
_AT_ONCE = 1000
"""Rows of Parquet in memory, beside those that are made of them."""


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
        if self.path.suffix == _PARQUET:
            rows = _of_parquet(self.path, content)
        else:
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
        return unpacked(path, content, LARGEST).decode()
    except Refused as error:
        raise ConfigError(f"{error}, or give another --dataset") from error
    except (OSError, UnicodeDecodeError) as error:
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
            csv.field_size_limit(LARGEST)  # files are fields, and 128 KiB are the limit otherwise
            reader = csv.DictReader(io.StringIO(text), strict=True)
            yield from ((reader.line_num, row) for row in reader)
        else:
            raise UsageError(
                f"{path} is none of {', '.join(_FORMATS)}, also .gz, and {_PARQUET}; {FIX}"
            )
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


def _of_parquet(path: Path, packed: bytes) -> Iterator[RawRow]:
    """Yield the rows of a Parquet file, each with its number. The library is an extra, as it takes
    170 MB."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError(
            f"{path} is Parquet, which pyarrow reads; install 'swarm-bench[parquet]', or give the "
            "rows as JSON lines"
        ) from error
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(packed))
        groups = (file.metadata.row_group(at) for at in range(file.num_row_groups))
        if sum(group.total_byte_size for group in groups) > LARGEST:
            raise ConfigError(f"{path} has more than {LARGEST >> 20} MiB of rows; {FIX}")
        batches = file.iter_batches(batch_size=_AT_ONCE)
        rows = (row for batch in batches for row in batch.to_pylist())
        for number, row in enumerate(rows, start=1):
            content = json.loads(json.dumps(row, default=_as_json))
            yield RawRow(content=content, where=f"{path}:{number}")
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise ConfigError(f"{path} is damaged ({error}); {FIX}") from error


def _as_json(value: Any) -> Any:
    """Return the text that stands in JSON for a value that it does not have. Raises `ValueError`
    for bytes that are none."""
    if isinstance(value, bytes):
        return value.decode()
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)
