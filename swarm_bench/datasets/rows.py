"""Data sets by their words: names that packages register, classes and files. Each row is checked
before anything is asked."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from swarm_bench.core import registry
from swarm_bench.core.errors import ConfigError, SwarmBenchError, UnknownName
from swarm_bench.core.integers import of_any_length
from swarm_bench.core.listing import Listing
from swarm_bench.core.roles.dataset import Dataset, RawRow
from swarm_bench.core.session.models import Data
from swarm_bench.core.validation import problem_of
from swarm_bench.datasets.files import FIX, RowFile

_KIND = "datasets"
_CLASS = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a data set, as a schema has them."""

    data: Data
    rows: tuple[Any, ...]


def list_datasets() -> list[Listing]:
    """List those that are registered, with their licences."""
    return [_listing(plugin) for plugin in registry.plugins(_KIND)]


def find_dataset(word: str) -> Dataset:
    """Return what a word stands for: a registered name, with an argument behind a colon or without,
    `module:Class`, or the path of a file. Raises `UsageError`, and `ConfigError` for a class that
    is no data set."""
    if is_file(word):
        return RowFile(Path(word).expanduser())
    if not _is_registered(word) and not is_class(word):
        raise UnknownName("data set", word, [plugin.name for plugin in registry.plugins(_KIND)])
    with _blaming(word, "cannot be made"):
        dataset = registry.make(_KIND, word)
    if not isinstance(dataset, Dataset):
        raise ConfigError(
            f"{word} is no data set: it needs about, licence, source, published and read(); fix it"
        )
    return dataset


def read_rows(word: str, schema: type[BaseModel]) -> Rows:
    """Read a data set. Raises `UsageError`, and `ConfigError` with the place of what is wrong."""
    dataset = find_dataset(word)
    with _blaming(word, "cannot be read"), of_any_length():
        raw = dataset.read()
        rows = tuple(_checked(row, schema) for row in raw.rows)
        data = Data(
            name=str(Path(word).expanduser()) if is_file(word) else word,
            sha256=raw.sha256,
            rows=len(rows),
            licence=dataset.licence,
            source=dataset.source,
            published=dataset.published,
        )
    if not rows:
        raise ConfigError(f"{data.name} has no rows; {FIX}")
    return Rows(data=data, rows=rows)


def hash_of(word: str) -> str | None:
    """Hash the rows of a file, or of a registered data set; `None` for what cannot be read."""
    try:
        if is_file(word):
            return hashlib.sha256(RowFile(Path(word).expanduser()).content()).hexdigest()
        with _blaming(word, "cannot be read"):
            return find_dataset(word).read().sha256
    except SwarmBenchError:
        return None


def is_class(word: str) -> bool:
    """Tell whether a word names a class of somebody's own."""
    return _CLASS.fullmatch(word) is not None and not _is_registered(word)


def is_file(word: str) -> bool:
    """Tell whether a word names a file: no class, and nothing that is registered."""
    other = is_class(word) or _is_registered(word)
    return not other and ("/" in word or Path(word).suffix != "")


def _is_registered(word: str) -> bool:
    return registry.is_registered(_KIND, word.partition(":")[0])


def _listing(plugin: registry.Plugin) -> Listing:
    try:
        dataset = find_dataset(plugin.name)
    except SwarmBenchError as error:
        return Listing(name=plugin.name, about="", source=plugin.distribution, problem=str(error))
    about = " ".join([dataset.about, *([f"{dataset.licence}."] if dataset.licence else [])])
    return Listing(name=plugin.name, about=about, source=dataset.source or plugin.distribution)


def _checked(row: RawRow, schema: type[BaseModel]) -> Any:
    try:
        json.dumps(row.content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):x}"
        raise ConfigError(
            f"{row.where}: it has half a character ({half}), which nobody can be sent; {FIX}"
        ) from error
    try:
        return schema.model_validate(row.content, context={"where": row.where})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the row"
        raise ConfigError(f"{row.where}: {field} {problem_of(first)}; {FIX}") from error


@contextmanager
def _blaming(word: str, clause: str) -> Iterator[None]:
    """Name the data set in what its own code raises, which may be anything. Raises
    `ConfigError`."""
    try:
        yield
    except SwarmBenchError:
        raise
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
        raise ConfigError(f"The data set {word!r} {clause}: {why}; fix it") from error
