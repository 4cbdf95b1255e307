"""What a benchmark of models would ask in one case, without asking anybody."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_bench.app.datasets.properties import with_properties
from swarm_bench.app.models.arms import arms_of, source_of
from swarm_bench.benchmarks.cases.requests import stored_request
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase
from swarm_bench.benchmarks.cases.running import way_of
from swarm_bench.config.run_options import MODELS
from swarm_bench.core.errors import UnknownName
from swarm_bench.core.roles.language_model import Ask, Gap
from swarm_bench.datasets.rows import read_rows, resolve_beside
from swarm_bench.engine.benchmark import blaming


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The case that is shown, and of whom: options of a call, as they were typed."""

    case: str
    properties: Sequence[str] = ()
    models: Sequence[str] = ()
    vary: Sequence[str] = ()
    """With neither models nor these, what would be asked in each way."""
    dataset: str | None = None


def show_case(name: str, shown: Shown, *, as_json: bool) -> str:
    """Write the request of a case in each way, or for each arm: the prompt, what the data set
    answers, and the stop words. Raises `UsageError`."""
    requests = dict(_requests(name, shown))
    if as_json:
        content = {
            heading: {**stored_request(ask), "reference": ask.reference}
            for heading, ask in requests.items()
        }
        return json.dumps(content, indent=2) + "\n"
    arms = shown.models or shown.vary
    pages = [(f"=== {it}\n" if arms else "") + _page(ask) for it, ask in requests.items()]
    return "\n".join(pages)


def _requests(name: str, shown: Shown) -> Iterator[tuple[str, Ask]]:
    """Yield the request of each way, or of each arm, by its name."""
    benchmark, properties, own = with_properties(name, shown.properties, "--case")
    with blaming(name, "cannot be planned"):
        word = shown.dataset or resolve_beside(own.default_dataset(), type(own))
        rows = read_rows(word, own.row_schema()).rows
        if not shown.models and not shown.vary:
            for way in own.asks_by() if own.way is None else (own.way,):
                yield way, own.ask(_case(own, rows, shown.case), way)
            return
        models = arms_of(shown.models or MODELS, shown.vary, benchmark.kind)
        for arm in own.arms(models):
            varied = benchmark.with_properties(properties.plain, arm)
            case = _case(varied, rows, shown.case)
            yield arm.name, varied.ask(case, way_of(varied, source_of(arm.model)))


def _case(own: ModelBenchmark, rows: Sequence[Any], name: str) -> RowCase:
    cases = {it.id: it for it in own.cases(rows)}
    if name not in cases:
        raise UnknownName("case", name, cases)
    return cases[name]


def _page(ask: Ask) -> str:
    sampling = ", ".join(
        f"{key}={value}"
        for key, value in vars(ask.sampling).items()
        if key != "stop" and value is not None
    )
    parts = {
        f"asked as {ask.way}": _prompt(ask),
        "sampling": sampling,
        "stop words": " ".join(map(repr, ask.sampling.stop)) or "none",
        "reference": ask.reference or "none",
    }
    return "".join(f"== {title}\n{text}\n" for title, text in parts.items())


def _prompt(ask: Ask) -> str:
    if isinstance(ask.prompt, str):
        return ask.prompt
    if isinstance(ask.prompt, Gap):
        return f"{ask.prompt.prefix}[gap]{ask.prompt.suffix}"
    return "\n".join(f"[{turn.role}] {turn.text}" for turn in ask.prompt)
