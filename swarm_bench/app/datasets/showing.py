"""A page on a data set: what it is, what a benchmark asks of its rows, and the first of them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from swarm_bench.app.benchmarks import build_row_section
from swarm_bench.app.datasets.properties import configure_benchmark
from swarm_bench.core.integers import allow_any_length
from swarm_bench.core.report.document import Document, Fact, Section, Verbatim
from swarm_bench.core.roles.dataset import Dataset, RawRow
from swarm_bench.datasets.progress import Progress, Tell
from swarm_bench.datasets.rows import blaming, find_dataset
from swarm_bench.reports.markdown import render

_LONGEST = 60
"""Characters of a value of the first row."""
_MOST_FIELDS = 30
_UNKNOWN = "not known"


def show_dataset(word: str, name: str | None, properties: Sequence[str], tell: Tell) -> str:
    """Write the page; `name` is that of a benchmark. Raises `UsageError`, and `ConfigError` for a
    data set that cannot be read."""
    schema = name and configure_benchmark(name, properties, "--benchmark")[2].row_schema()
    dataset = find_dataset(word)
    with blaming(word, "cannot be read"), allow_any_length():
        return render(
            _build_page(word, dataset, tuple(_build_sections(name, schema)), Progress(tell))
        )


def _build_sections(name: str | None, schema: type[BaseModel] | None | str) -> Iterator[Section]:
    if isinstance(schema, type):
        yield build_row_section(f"What {name} asks of a row", schema)


def _build_page(
    word: str, dataset: Dataset, sections: tuple[Section, ...], progress: Progress
) -> Document:
    raw = dataset.load()
    number, first = 0, None
    for row in raw.rows:
        number, first = number + 1, first or row
        progress.reached(f"{word}: {number:,} rows")
    published = dataset.published
    facts = {
        "About": dataset.about,
        "Licence": dataset.licence or _UNKNOWN,
        "Source": dataset.source or _UNKNOWN,
        "Published": published.isoformat() if published else _UNKNOWN,
        "Rows": f"{number:,}",
        "SHA-256": raw.sha256,
    }
    first_section = (
        [Section(title="First row", blocks=(Verbatim(text=_format_row(first)),))] if first else []
    )
    return Document(
        title=word,
        banner=None,
        head=tuple((Fact(label=label, value=value),) for label, value in facts.items()),
        sections=(*sections, *first_section),
    )


def _format_row(row: RawRow) -> str:
    """Write a row with a line for each field, cut where it is long."""
    if row.fault is not None:
        return f"{row.where}: {row.fault}"
    if not isinstance(row.content, dict):
        return _truncate(row.content)
    lines = [f"{key}: {_truncate(value)}" for key, value in row.content.items()]
    omitted = len(lines) - _MOST_FIELDS
    return "\n".join(
        [*lines[:_MOST_FIELDS], *([f"and {omitted} more fields"] if omitted > 0 else [])]
    )


def _truncate(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … ({len(text):,} characters)"
