"""Data sets by their words: names that packages register, classes and files. Each row is checked
before anything is asked."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from swarm_bench.core import entry_points
from swarm_bench.core.errors import (
    ConfigError,
    SwarmBenchError,
    UnknownName,
    UsageError,
    wrap_foreign_errors,
)
from swarm_bench.core.figures import allow_any_length
from swarm_bench.core.listing import Listing
from swarm_bench.core.roles.dataset import Dataset, RawRow
from swarm_bench.core.session.models import Data
from swarm_bench.core.validation import describe_problem, format_path
from swarm_bench.datasets.fetched.cache import cache_folder, fetched_names
from swarm_bench.datasets.files import FIX, RowFile

_KIND = "datasets"
_SURROGATE = re.compile("[\ud800-\udfff]")
_CLASS = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a data set, as a schema has them."""

    data: Data
    rows: tuple[Any, ...]


def list_datasets() -> list[Listing]:
    """List those that are registered and those that were fetched, with their licences."""
    registered = [
        _listing(plugin.name, plugin.distribution) for plugin in entry_points.list_plugins(_KIND)
    ]
    return [*registered, *(_listing(f"fetched:{name}", "fetched") for name in fetched_names())]


def find_dataset(word: str) -> Dataset:
    """Return what a word stands for: a registered name, with an argument behind a colon or without,
    `module:Class`, or the path of a file. Raises `UsageError`, and `ConfigError` for a class that
    is no data set."""
    if is_file(word):
        return RowFile(Path(word).expanduser())
    if not _is_registered(word) and not is_class(word):
        raise UnknownName(
            "data set", word, [plugin.name for plugin in entry_points.list_plugins(_KIND)]
        )
    with blaming(word, "cannot be made"):
        dataset = entry_points.make(_KIND, word)
    if not isinstance(dataset, Dataset):
        raise ConfigError(
            f"{word} is no data set: it needs about, licence, source, published and load(), which "
            "earlier versions called read(); fix it"
        )
    return dataset


def read_rows(word: str, schema: type[BaseModel]) -> Rows:
    """Read a data set. Raises `UsageError`, and `ConfigError` with the place of what is wrong."""
    dataset = find_dataset(word)
    with blaming(word, "cannot be read"), allow_any_length():
        raw = dataset.load()
        rows = tuple(_validate(row, schema) for row in raw.rows)
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
            return RowFile(Path(word).expanduser()).digest()
        with blaming(word, "cannot be read"):
            return find_dataset(word).load().sha256
    except SwarmBenchError:
        return None


def is_class(word: str) -> bool:
    """Tell whether a word names a class of the user's own."""
    return _CLASS.fullmatch(word) is not None and not _is_registered(word)


def is_file(word: str) -> bool:
    """Tell whether a word names a file: no class, and nothing that is registered."""
    is_name = is_class(word) or _is_registered(word)
    return not is_name and ("/" in word or Path(word).suffix != "")


def resolve_beside(word: str, kind: type) -> str:
    """Return the path of a file of rows that lies beside the module of a class, as a package brings
    them; the word itself where there is none, or where that is the working folder."""
    module = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if module is None or not is_file(word):
        return word
    module_path = Path(module).parent / Path(word).expanduser()
    return (
        str(module_path)
        if module_path.is_file() and module_path.resolve() != Path(word).resolve()
        else word
    )


def paths_of(word: str) -> Iterator[Path]:
    """Yield the file or folder of a data set, where its word names one that is there, and the
    folder of all that were fetched."""
    path = Path(word if is_file(word) else word.partition(":")[2]).expanduser()
    if path.parts and path.exists():
        yield path.resolve()
    with suppress(UsageError):
        if (fetched := cache_folder()).is_dir():
            yield fetched


def _is_registered(word: str) -> bool:
    return entry_points.is_registered(_KIND, word.partition(":")[0])


def _listing(name: str, distribution: str) -> Listing:
    try:
        dataset = find_dataset(name)
    except SwarmBenchError as error:
        return Listing(name=name, about="", source=distribution, problem=str(error))
    description = " ".join([dataset.about, *([f"{dataset.licence}."] if dataset.licence else [])])
    return Listing(name=name, about=description, source=dataset.source or distribution)


def check_row(row: RawRow, schema: type[BaseModel]) -> tuple[Any, Sequence[str]]:
    """Return a row as the schema has it, and a clause on each thing that is wrong with it: then
    there is none."""
    if row.fault is not None:
        return None, [row.fault]
    try:
        to_json(row.content)
    except ValueError:  # of half a character, or of what is very deep
        if halves := list(_find_surrogates(row.content)):
            return None, halves
    try:
        return schema.model_validate(row.content, context={"where": row.where}), ()
    except ValidationError as error:
        clauses = [
            (problem["loc"], describe_problem(problem))
            for problem in error.errors(include_url=False)
        ]
        return None, [f"{_field(loc)} {clause}" for loc, clause in clauses]


def _field(path: Sequence[int | str]) -> str:
    return format_path(path) or "the row"


def _find_surrogates(content: Any) -> Iterator[str]:
    """Yield a clause on each field that has half a character."""
    pending: list[tuple[tuple[int | str, ...], Any]] = [((), content)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            if match := _SURROGATE.search(value):
                code = f"\\u{ord(match[0]):x}"
                yield f"{_field(path)} has half a character ({code}), which nobody can be sent"
        elif isinstance(value, dict):
            for key, inner in reversed(value.items()):
                pending += [((*path, _SURROGATE.sub("?", key)), inner), (path, key)]
        elif isinstance(value, list):
            pending += [((*path, number), item) for number, item in enumerate(value)][::-1]


def _validate(row: RawRow, schema: type[BaseModel]) -> Any:
    checked, clauses = check_row(row, schema)
    if clauses:
        raise ConfigError(f"{row.where}: {clauses[0]}; {FIX}")
    return checked


def blaming(word: str, clause: str) -> AbstractContextManager[None]:
    """Name the data set in what its own code raises. Raises `ConfigError`."""
    return wrap_foreign_errors(f"The data set {word!r}", clause)
