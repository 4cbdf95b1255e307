"""Pages on a data set and on a case of it: what a benchmark asks of the rows, the first of them,
and what models would be asked, without asking anybody."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from swarm_bench.app.benchmarks import build_row_section
from swarm_bench.app.datasets.verifying import configure_benchmark
from swarm_bench.app.models.arms import build_arms, create_source
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase
from swarm_bench.benchmarks.cases.running import choose_way, make_stored_request
from swarm_bench.config.run_options import MODELS
from swarm_bench.core.errors import UnknownName
from swarm_bench.core.figures import allow_any_length
from swarm_bench.core.report.document import Document, Fact, Section, Verbatim
from swarm_bench.core.roles.dataset import Dataset, RawRow
from swarm_bench.core.roles.language_model import Ask, Gap
from swarm_bench.datasets.progress import Progress, Tell
from swarm_bench.datasets.rows import blaming, find_dataset, read_rows, resolve_beside
from swarm_bench.engine.benchmark import wrap_benchmark_errors
from swarm_bench.reports.markdown import render

_LONGEST = 60
"""Characters of a value of the first row."""
_MOST_FIELDS = 30
_UNKNOWN = "not known"


def show_dataset(word: str, name: str | None, properties: Sequence[str], tell: Tell) -> str:
    """Write the page; `name` is that of a benchmark. Raises `UsageError`, and `ConfigError` for a
    data set that cannot be read."""
    schema = name and configure_benchmark(name, properties, "--benchmark")[1].model.row_schema()
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


@dataclass(frozen=True, kw_only=True)
class ShowRequest:
    """The case that is shown, and of whom: options of a call, as they were typed."""

    case: str
    properties: Sequence[str] = ()
    models: Sequence[str] = ()
    vary: Sequence[str] = ()
    """Properties to vary. Without models and these, the request in each way is shown."""
    dataset: str | None = None


def show_case(name: str, request: ShowRequest, *, as_json: bool) -> str:
    """Write the request of a case in each way, or for each arm: the prompt, what the data set
    answers, and the stop words. Raises `UsageError`."""
    requests = dict(_build_requests(name, request))
    if as_json:
        content = {
            heading: {**make_stored_request(ask), "reference": ask.reference}
            for heading, ask in requests.items()
        }
        return json.dumps(content, indent=2) + "\n"
    arms = request.models or request.vary
    pages = [
        (f"=== {heading}\n" if arms else "") + _render_page(ask)
        for heading, ask in requests.items()
    ]
    return "\n".join(pages)


def _build_requests(name: str, request: ShowRequest) -> Iterator[tuple[str, Ask]]:
    """Yield the request of each way, or of each arm, by its name."""
    benchmark, properties = configure_benchmark(name, request.properties, "--case")
    configured = properties.model
    with wrap_benchmark_errors(name, "cannot be planned"):
        word = request.dataset or resolve_beside(configured.default_dataset(), type(configured))
        rows = read_rows(word, configured.row_schema()).rows
        if not request.models and not request.vary:
            for way in configured.asks_by() if configured.way is None else (configured.way,):
                yield way, configured.ask(_find_case(configured, rows, request.case), way)
            return
        models = build_arms(request.models or MODELS, request.vary, benchmark.kind)
        for arm in configured.arms(models):
            varied = benchmark.configure(properties.plain, arm)
            case = _find_case(varied, rows, request.case)
            yield arm.name, varied.ask(case, choose_way(varied, create_source(arm.model)))


def _find_case(benchmark: ModelBenchmark, rows: Sequence[Any], name: str) -> RowCase:
    cases = {case.id: case for case in benchmark.cases(rows)}
    if name not in cases:
        raise UnknownName("case", name, cases)
    return cases[name]


def _render_page(ask: Ask) -> str:
    sampling = ", ".join(
        f"{key}={value}"
        for key, value in vars(ask.sampling).items()
        if key != "stop" and value is not None
    )
    parts = {
        f"asked as {ask.way}": _render_prompt(ask),
        "sampling": sampling,
        "stop words": " ".join(map(repr, ask.sampling.stop)) or "none",
        "reference": ask.reference or "none",
    }
    return "".join(f"== {title}\n{text}\n" for title, text in parts.items())


def _render_prompt(ask: Ask) -> str:
    if isinstance(ask.prompt, str):
        return ask.prompt
    if isinstance(ask.prompt, Gap):
        return f"{ask.prompt.prefix}[gap]{ask.prompt.suffix}"
    return "\n".join(f"[{turn.role}] {turn.text}" for turn in ask.prompt)
