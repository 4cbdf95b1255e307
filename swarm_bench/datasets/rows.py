"""Data sets: files of rows, those that come with swarm-bench and others, each row checked before
anything is asked."""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from swarm_bench.core.errors import ConfigError, SwarmBenchError, UnknownName, UsageError
from swarm_bench.core.listing import Listing
from swarm_bench.core.session.models import Data
from swarm_bench.core.validation import problem_of
from swarm_bench.runtime.untrusted import read

LARGEST = 512 * 1024 * 1024
"""Bytes of a file, and of what comes out of a compressed one."""
SHIPPED = Path(__file__).parent / "shipped"
_DESCRIPTION = "dataset.yaml"
_FORMATS = (".jsonl", ".json", ".csv")
_FIX = "fix the file, or give another --dataset"


class Description(BaseModel):
    """What is known of a data set that comes with swarm-bench."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    source: str
    attribution: str
    licence: str
    file: str
    sha256: str
    published: date | None = None
    """Models that were trained later may have read it."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a data set, as a schema has them."""

    data: Data
    rows: tuple[Any, ...]


def shipped() -> dict[str, Description]:
    """Return the data sets that come with swarm-bench, by name."""
    files = sorted(SHIPPED.glob(f"*/{_DESCRIPTION}"))
    return {file.parent.name: _description(file) for file in files}


def list_datasets() -> list[Listing]:
    """List them, with their licences."""
    return [
        Listing(name=name, about=f"{it.about} {it.licence}.", source=it.source)
        for name, it in shipped().items()
    ]


def read_rows(name: str, schema: type[BaseModel]) -> Rows:
    """Read a data set, by its name or path. Raises `UsageError`, and `ConfigError` with the line of
    what is wrong."""
    description = _shipped(name)
    path = SHIPPED / name / description.file if description else Path(name).expanduser()
    content = _content(path)
    digest = hashlib.sha256(content).hexdigest()
    if description and digest != description.sha256:
        raise ConfigError(f"{path} is not as it was shipped; install swarm-bench again")
    rows = tuple(_checked(path, content, schema))
    if not rows:
        raise ConfigError(f"{path} has no rows; {_FIX}")
    data = Data(
        name=name if description else str(path),
        sha256=digest,
        rows=len(rows),
        licence=description.licence if description else None,
        source=f"{description.source} ({description.attribution})" if description else None,
        published=description.published if description else None,
    )
    return Rows(data=data, rows=rows)


def hash_of(name: str) -> str | None:
    """Hash a file of rows; `None` for what cannot be read."""
    try:
        return hashlib.sha256(_content(Path(name).expanduser())).hexdigest()
    except SwarmBenchError:
        return None


def is_file(name: str) -> bool:
    """Tell whether a data set is a file, and none that is shipped."""
    return "/" in name or Path(name).suffix != ""


def _shipped(name: str) -> Description | None:
    if is_file(name):
        return None
    sets = shipped()
    if name not in sets:
        raise UnknownName("data set", name, sets)
    return sets[name]


def _description(file: Path) -> Description:
    return Description.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))


def _content(path: Path) -> bytes:
    try:
        return read(path, LARGEST)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {_FIX}") from error


def _checked(path: Path, content: bytes, schema: type[BaseModel]) -> Iterator[Any]:
    for line, row in _parsed(path, _plain(path, content)):
        try:
            yield schema.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "the row"
            raise ConfigError(f"{path}:{line}: {field} {problem_of(first)}; {_FIX}") from error


def _plain(path: Path, content: bytes) -> str:
    try:
        if path.suffix == ".gz":
            with gzip.open(io.BytesIO(content)) as file:
                content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ConfigError(f"{path} has more than {LARGEST >> 20} MB; {_FIX}")
        return content.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is damaged ({error}); {_FIX}") from error


def _parsed(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    """Yield the rows, each with its line; rows of a JSON list have their number."""
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    try:
        if suffix == ".json":
            rows = json.loads(text)
            if not isinstance(rows, list):
                raise ConfigError(f"{path} holds no list of rows; {_FIX}")
            yield from enumerate(rows, start=1)
        elif suffix == ".csv":
            reader = csv.DictReader(io.StringIO(text), strict=True)
            yield from ((reader.line_num, row) for row in reader)
        elif suffix == ".jsonl":
            yield from _lines(path, text)
        else:
            raise UsageError(f"{path} is none of {', '.join(_FORMATS)}, also .gz; {_FIX}")
    except (ValueError, RecursionError, csv.Error) as error:
        raise ConfigError(f"{path} is damaged ({error}); {_FIX}") from error


def _lines(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"{path}:{number}: not a row of JSON; {_FIX}") from error
