"""What a benchmark of models would ask in one case, without asking anybody."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_bench.app.datasets.properties import configure_benchmark
from swarm_bench.app.models.arms import build_arms, create_source
from swarm_bench.benchmarks.cases.requests import make_stored_request
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase
from swarm_bench.benchmarks.cases.running import choose_way
from swarm_bench.config.run_options import MODELS
from swarm_bench.core.errors import UnknownName
from swarm_bench.core.roles.language_model import Ask, Gap
from swarm_bench.datasets.rows import read_rows, resolve_beside
from swarm_bench.engine.benchmark import wrap_benchmark_errors


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
    benchmark, properties, configured = configure_benchmark(name, request.properties, "--case")
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
