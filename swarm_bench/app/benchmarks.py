"""The benchmarks that are installed: a line on each, a page on one, and what runs it. What differs
by whether a benchmark asks models is decided here."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.core import entry_points
from swarm_bench.core.errors import SwarmBenchError, UsageError
from swarm_bench.core.listing import Listing
from swarm_bench.core.metric import Metrics, fault
from swarm_bench.core.report.document import Bullets, Document, Fact, Grid, Section
from swarm_bench.core.roles.executor import ExecutorKind, find_executor
from swarm_bench.engine.benchmark import (
    Benchmark,
    CaseBenchmark,
    find_benchmark,
    wrap_benchmark_errors,
)
from swarm_bench.engine.scoring import check_scorers
from swarm_bench.reports.markdown import render

if TYPE_CHECKING:
    from swarm_bench.app.running.pairs import RunCall
    from swarm_bench.app.setup.case_experiment import CaseRequest


def list_benchmarks() -> list[Listing]:
    """List every registered benchmark, with its version or why it cannot be used."""
    return [_build_listing(plugin) for plugin in entry_points.list_plugins("benchmarks")]


def describe(name: str) -> str:
    """Write a page on a benchmark: what can be set, what is measured, and what scores its answers.

    Raises `UnknownName`, and `ConfigError` for what cannot be used.
    """
    benchmark = find_benchmark(name)
    with wrap_benchmark_errors(name, "cannot be shown"):
        return render(_build_page(name, benchmark))


def render_schema(name: str) -> str:
    """Return the JSON schema of a benchmark's properties. Raises as `describe` does."""
    benchmark = find_benchmark(name)
    with wrap_benchmark_errors(name, "cannot be shown"):
        return json.dumps(benchmark.properties.model_json_schema(), indent=2) + "\n"


def list_property_names(name: str) -> list[str]:
    """List what can be set in a benchmark. Raises as `describe` does."""
    return list(find_benchmark(name).properties.model_fields)


def list_verdict_keys(name: str) -> list[str]:
    """List the metrics of a benchmark that a verdict can be on. Raises as `describe` does."""
    metrics = find_benchmark(name).metrics()
    return [metric.key for metric in metrics if metric.is_of_trials and metric.better]


def find_runnable_benchmark(name: str) -> CaseBenchmark:
    """Return the benchmark of that name, which `run` runs. Raises `UsageError`."""
    benchmark = find_benchmark(name)
    if not isinstance(benchmark, CaseBenchmark):
        raise UsageError(
            f"{name} is run by commands of its own; see: swarm-bench benchmarks show {name}"
        )
    check_runnable(name, benchmark)
    return benchmark


def find_model_benchmark(name: str, refusal: str) -> RowBenchmark:
    """Return the benchmark of that name. Raises `UsageError` with the refusal for one that asks no
    models."""
    benchmark = find_benchmark(name)
    if not isinstance(benchmark, RowBenchmark):
        raise UsageError(refusal)
    return benchmark


def describe_lost_models(path: Path, name: str) -> str:
    """Say that a session asked models, which its benchmark does no more."""
    return (
        f"{path} is a session of models, which the benchmark {name} asks no more; install the "
        "version that it was run with"
    )


def check_runnable(name: str, benchmark: CaseBenchmark) -> None:
    """Raise `ConfigError` for what could not be run, or not be reported."""
    with wrap_benchmark_errors(name, "cannot be run"):
        if not isinstance(benchmark.groups_at_once, int) or benchmark.groups_at_once < 1:
            raise ValueError(f"groups_at_once is {benchmark.groups_at_once!r}, which runs nothing")
        if not isinstance(metrics := benchmark.metrics(), Metrics):
            raise TypeError("metrics() gives no Metrics")
        for metric in metrics:  # seen before anything is paid for
            clause = "reads swarms, and it has none" if metric.read_swarm else fault(metric)
            if clause:
                raise ValueError(f"the metric {metric.key} {clause}")
        check_scorers(benchmark.scorers())


def run_call(request: "CaseRequest", executor: ExecutorKind | None = None) -> "RunCall[Any, Any]":
    """Return the call that runs the benchmark of a request; `None`: by the executor that the
    request names. Raises `UsageError`."""
    executor = executor or find_executor(request.settings.on)
    benchmark = find_runnable_benchmark(request.benchmark)
    if isinstance(benchmark, RowBenchmark):
        from swarm_bench.app.running.models import ModelCall

        return ModelCall(request=request, benchmark=benchmark, executor=executor)
    from swarm_bench.app.running.pairs import PairCall

    return PairCall(request=request, benchmark=benchmark, executor=executor)


def _build_page(name: str, benchmark: Benchmark) -> Document:
    return Document(
        title=f"{name}, version {benchmark.version}",
        banner=None,
        head=((Fact(label="About", value=benchmark.about),),),
        sections=(
            _build_section("Properties", ("Name", "Type", "Default", "Description"), [
                (key, *cells) for key, *cells in _iterate_properties(benchmark.properties)
            ]),
            _build_section("Metrics", ("Key", "Unit", "Better", "Definition"), [
                (metric.key, metric.unit, metric.better, metric.definition)
                for metric in benchmark.metrics()
            ]),
            *_build_row_sections(benchmark),
            _build_section("Scorers", ("Name", "Version", "Keys"), [
                (scorer.name, str(scorer.version), ", ".join(scorer.keys))
                for scorer in check_scorers(benchmark.scorers())
            ]),
        ),
    )  # fmt: skip


def _build_row_sections(benchmark: Benchmark) -> Iterator[Section]:
    """Yield what only benchmarks of models have."""
    if not isinstance(benchmark, RowBenchmark):
        return
    kind = benchmark.kind
    yield build_row_section(f"Rows (data set {kind.dataset})", kind.Row)
    oddities = (Bullets(items=kind.oddities),) if kind.oddities else (paragraph("None."),)
    yield Section(title="Oddities", blocks=oddities)


def build_row_section(title: str, schema: type[BaseModel]) -> Section:
    """Return a section on what a row has, field by field."""
    headers = ("Field", "Type", "Default", "About")
    width = 4 if any(description for *_, description in _iterate_properties(schema)) else 3
    return _build_section(
        title, headers[:width], [cells[:width] for cells in _iterate_properties(schema)]
    )


def _build_listing(plugin: entry_points.Plugin) -> Listing:
    listing = Listing(name=plugin.name, about="", source=plugin.distribution)
    try:
        benchmark = find_benchmark(plugin.name)
    except SwarmBenchError as error:
        return replace(listing, problem=str(error))
    return replace(listing, about=f"Version {benchmark.version}. {benchmark.about}")


def _build_section(
    title: str, headers: tuple[str, ...], rows: Sequence[tuple[str | None, ...]]
) -> Section:
    grid = Grid(headers=headers, labels=len(headers), rows=tuple(rows))
    return Section(title=title, blocks=(grid if rows else paragraph("None."),))


def _iterate_properties(model: type[BaseModel]) -> Iterator[tuple[str, str, str | None, str]]:
    """Yield the name, the type, the default and the description of each property."""
    schema = model.model_json_schema()
    for name, field in model.model_fields.items():
        field_schema = schema["properties"][field.alias or name]
        default = to_jsonable_python(_read_default(field), fallback=str)
        default_text = "required" if field.is_required() else _format_default(default)
        kind = _name_type(field_schema, schema.get("$defs", {}))
        yield field.alias or name, kind, default_text, field_schema.get("description", "")


def _read_default(field: FieldInfo) -> object:
    """Return the default of a property; of one that is made of others, that of none of them."""
    return field.get_default(call_default_factory=True, validated_data={})


def _format_default(default: object) -> str | None:
    """Write a default; `None` when nothing is set."""
    if isinstance(default, list):
        return " ".join(map(str, default)) or None
    if isinstance(default, dict):
        return json.dumps(default)
    if default is None:
        return None
    return str(default).lower() if isinstance(default, bool) else str(default)


def _name_type(field_schema: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """Name the type of a property as its schema has it; `parts` are the schemas it refers to."""
    field_schema = parts.get(field_schema.get("$ref", "").rpartition("/")[2], field_schema)
    if "enum" in field_schema:
        return " or ".join(map(str, field_schema["enum"]))
    if "anyOf" in field_schema:
        return " or ".join(_name_type(option, parts) for option in field_schema["anyOf"])
    if field_schema.get("type") == "array":
        return f"list of {_name_type(field_schema.get('items', {}), parts)}"
    if "properties" in field_schema:
        return f"mapping of {', '.join(field_schema['properties'])}"
    return str(field_schema.get("type", "any"))
