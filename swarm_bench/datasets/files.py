"""Files of rows: JSON lines, JSON and CSV, also compressed, and Parquet. Some call JSON lines
`.json`."""

import codecs
import csv
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from io import BufferedIOBase, BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarm_bench.config.text_file import MARK, decode_text
from swarm_bench.core.errors import ConfigError, Refused, UsageError
from swarm_bench.core.roles.dataset import RawRow, RawRows
from swarm_bench.runtime.files import State, read_state
from swarm_bench.runtime.untrusted import is_packed, open_untrusted, read, unpack

if TYPE_CHECKING:
    from pyarrow import Array
    from pyarrow.parquet import ParquetFile

LARGEST = 512 * 1024 * 1024
"""Bytes of a file, and of what comes out of a compressed one."""
FIX = "fix the data, or give another --dataset"
_FORMATS = (".jsonl", ".json", ".csv")
_PARQUET, _GZ = ".parquet", ".gz"
ENDINGS = (*_FORMATS, _PARQUET, *(f"{ending}{_GZ}" for ending in _FORMATS))
"""Endings of the names of files of rows."""
_BLANK = f"{MARK} \t\r\n"
_LONGEST = 64 * 1024 * 1024
"""Bytes of a line, of which there are several copies in memory."""
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_LONGEST_MARK = 4
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""Delimiters of a table; the one that its head has most of counts: Excel takes semicolons where
commas are decimal."""
_AT_ONCE = 100
"""Rows of Parquet in memory, beside those that are made of them."""
_WIDEST = 8
"""Bytes of a value that is no text."""
_BEGINNINGS = "DELTA_BYTE_ARRAY"
"""Texts that share their beginnings: only what is written out has a size."""
_NEVER_EQUAL = {_BEGINNINGS, "DELTA_LENGTH_BYTE_ARRAY"}
"""Encodings that the library does not read as texts that stand once."""


class RowFile:
    """A file of rows, as a data set."""

    about = "A file of rows."
    licence: str | None = None
    source: str | None = None
    published: date | None = None

    def __init__(self, path: Path) -> None:
        """Note where it lies; nothing is read yet."""
        self.path = path

    def load(self) -> RawRows:
        """Load the rows; JSON lines are read as they are asked for. Raises `UsageError`, and
        `ConfigError` with the line of what is wrong."""
        with _readable(self.path):
            if _is_lines(self.path):
                state = read_state(self.path)
                return RawRows(sha256=self.digest(), rows=_stream_rows(self.path, state))
            content = read(self.path, LARGEST)
        if self.path.suffix.lower() == _PARQUET:
            rows = _read_parquet(self.path, content)
        else:
            rows = _parse_rows(self.path, _plain(self.path, content))
        return RawRows(sha256=hashlib.sha256(content).hexdigest(), rows=rows)

    def digest(self) -> str:
        """Hash the file as it is. Raises `UsageError`."""
        with _readable(self.path), open_untrusted(self.path, LARGEST) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Name the file in what the block raises. Raises `UsageError`, and `ConfigError` for what is
    damaged."""
    try:
        yield
    except Refused as error:
        raise ConfigError(f"{error}, or give another --dataset") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ConfigError(f"{path} is damaged ({error}); {FIX}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {FIX}") from error


@contextmanager
def _open_unpacked(path: Path) -> Iterator[BufferedIOBase]:
    """Open what is in a file. Raises `OSError`, and `gzip.BadGzipFile` for what is only called
    so."""
    with open_untrusted(path, LARGEST) as file:
        if is_packed(file.peek(2)):
            with gzip.GzipFile(fileobj=file) as inner:
                yield inner
        elif path.suffix.lower() == _GZ:
            raise gzip.BadGzipFile("it is called so, and is no gzip")
        else:
            yield file


def _is_lines(path: Path) -> bool:
    """Tell whether it is JSON lines in UTF-8: then it need not be in memory."""
    suffix = _suffix(path)
    if suffix not in (".jsonl", ".json"):
        return False
    with _open_unpacked(path) as file:
        first = file.read(_LONGEST_MARK)
        if first.startswith(_WIDE_MARKS) or suffix == ".jsonl":
            return not first.startswith(_WIDE_MARKS)
        first = first.removeprefix(codecs.BOM_UTF8) + file.readline(LARGEST)
        while first.isspace():
            first = file.readline(LARGEST)
    return _is_row(first.lstrip().partition(b"\n")[0])


def _suffix(path: Path) -> str:
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() if ending == _GZ else ending


def _stream_rows(path: Path, state: State | None) -> Iterator[RawRow]:
    """Yield the rows of a file that was in this state when it was hashed."""
    with _readable(path), _open_unpacked(path) as file:
        yield from _lines(path, file)
    if read_state(path) != state:
        raise ConfigError(f"{path} was changed while it was read; try again")


def _lines(path: Path, file: BufferedIOBase) -> Iterator[RawRow]:
    """Yield the rows of JSON lines. Raises `ConfigError`, and what the file raises."""
    number, remaining = 0, LARGEST
    while line := file.readline(_LONGEST + 1):
        number, remaining = number + 1, remaining - len(line)
        if remaining < 0:
            raise ConfigError(f"{path} has more than {LARGEST >> 20} MiB in it; {FIX}")
        if len(line) > _LONGEST:
            raise ConfigError(f"{path}:{number}: a line of more than {_LONGEST >> 20} MiB; {FIX}")
        if line.isspace():
            continue
        location = f"{path}:{number}"
        try:
            if text := line.decode().strip(_BLANK):
                yield RawRow(content=json.loads(text), where=location)
        except UnicodeDecodeError as error:
            yield RawRow(content=None, where=location, fault=f"is no UTF-8 ({error.reason})")
        except (ValueError, RecursionError):
            yield RawRow(content=None, where=location, fault="not a row of JSON")


def _plain(path: Path, content: bytes) -> str:
    try:
        if path.suffix.lower() == _GZ and not is_packed(content):
            raise OSError("it is called so, and is no gzip")
        return decode_text(unpack(path, content, LARGEST))
    except Refused as error:
        raise ConfigError(f"{error}, or give another --dataset") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is damaged ({error}); {FIX}") from error


def _parse_rows(path: Path, text: str) -> Iterator[RawRow]:
    """Yield the rows, each with its line; rows of a JSON list with their number."""
    suffix = _suffix(path)
    try:
        if suffix == ".jsonl" or (suffix == ".json" and _is_row(text.lstrip().partition("\n")[0])):
            yield from _lines(path, BytesIO(text.encode()))
        elif suffix == ".json":
            rows = json.loads(text)
            if not isinstance(rows, list):
                raise ConfigError(f"{path} holds no list of rows; {FIX}")
            for number, row in enumerate(rows, start=1):
                yield RawRow(content=row, where=f"{path}, row {number}")
        elif suffix == ".csv":
            yield from _table(path, text)
        else:
            raise UsageError(
                f"{path} is none of {', '.join(_FORMATS)}, also .gz, and {_PARQUET}; {FIX}"
            )
    except (ValueError, RecursionError, csv.Error) as error:
        raise ConfigError(f"{path} is damaged ({error}); {FIX}") from error


def _is_row(line: str | bytes) -> bool:
    """Tell whether the first line of a file is a row by itself."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _table(path: Path, text: str) -> Iterator[RawRow]:
    csv.field_size_limit(LARGEST)  # files are fields, and 128 KiB are the limit otherwise
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.DictReader(StringIO(text), strict=True, delimiter=delimiter)
    for row in reader:
        fault, columns = None, len(reader.fieldnames or ())
        if None in row:
            fault = f"more values than the {columns} columns (put quotes around a value that has "
            fault += f"{_DELIMITERS[delimiter]})"
        elif None in row.values():
            fault = f"fewer values than the {columns} columns"
        location = f"{path}:{reader.line_num}"
        yield RawRow(content=None if fault else row, where=location, fault=fault)


def _read_parquet(path: Path, packed: bytes) -> Iterator[RawRow]:
    """Yield the rows of a Parquet file, each with its number. The library is an extra, as it takes
    170 MB."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError(
            f"{path} is Parquet, which pyarrow reads; pip install pyarrow, or give the rows "
            "as JSON lines"
        ) from error
    try:
        buffer, number, total = pyarrow.BufferReader(packed), 0, 0
        file = parquet.ParquetFile(buffer)
        _check_size(path, file, buffer)
        encodings = {name for column, _ in _columns(file) for name in column.encodings}
        for batch in file.iter_batches(1 if _BEGINNINGS in encodings else _AT_ONCE):
            total += batch.nbytes
            if total > LARGEST:
                raise _too_large(path)
            for row in batch.to_pylist():
                number += 1
                content = json.loads(json.dumps(row, default=_jsonable))
                yield RawRow(content=content, where=f"{path}, row {number}")
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise ConfigError(f"{path} is damaged ({error}); {FIX}") from error


def _check_size(path: Path, file: "ParquetFile", buffer: Any) -> None:
    """Refuse a small file of very much before it is written out: equal texts stand once in it, and
    runs of equal values take nothing. Raises `ConfigError`."""
    from pyarrow import parquet

    columns = [(column, column.num_values * width) for column, width in _columns(file)]
    if sum(max(column.total_uncompressed_size, size) for column, size in columns) > LARGEST:
        raise _too_large(path)
    texts = {column.path_in_schema for column, _ in columns if column.physical_type == "BYTE_ARRAY"}
    texts -= {column.path_in_schema for column, _ in columns if _NEVER_EQUAL & {*column.encodings}}
    equal, total = parquet.ParquetFile(buffer, read_dictionary=sorted(texts)), 0
    for group in range(file.num_row_groups if texts else 0):
        table = equal.read_row_group(group, columns=sorted(texts))
        total += sum(_measure_array(chunk) for column in table.columns for chunk in column.chunks)
        if total > LARGEST:
            raise _too_large(path)


def _columns(file: "ParquetFile") -> Iterator[tuple[Any, int]]:
    """Yield what a file says of each column of each group, and the least bytes of its values."""
    for at in range(file.num_row_groups):
        group = file.metadata.row_group(at)
        for number in range(group.num_columns):
            yield group.column(number), max(file.schema.column(number).length, _WIDEST)


def _too_large(path: Path) -> ConfigError:
    return ConfigError(f"{path} has more than {LARGEST >> 20} MiB of rows; {FIX}")


def _measure_array(array: "Array") -> int:
    """Return the bytes of an array, each text as often as it stands there."""
    from pyarrow import compute, types

    if types.is_dictionary(array.type):
        sizes = compute.binary_length(array.dictionary).take(array.indices)
        return compute.sum(sizes.cast("int64")).as_py() or 0
    if types.is_struct(array.type):
        return sum(map(_measure_array, array.flatten()))
    if types.is_map(array.type):  # the library flattens lists alone
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        return sum(_measure_array(part[first:last]) for part in (array.keys, array.items))
    if types.is_nested(array.type):
        return _measure_array(array.flatten())
    return int(array.nbytes)


def _jsonable(value: Any) -> Any:
    """Return the text that stands in JSON for a value that it does not have. Raises `ValueError`
    for bytes that are none."""
    if isinstance(value, bytes):
        return value.decode()
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)
