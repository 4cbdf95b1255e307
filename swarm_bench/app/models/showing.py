"""What a benchmark of models would ask in one case, without asking anybody."""

import json
from collections.abc import Iterator, Sequence

from swarm_bench.app.setup.case_properties import resolve_properties
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.requests import stored_request
from swarm_bench.benchmarks.cases.role import ModelBenchmark
from swarm_bench.core.errors import UnknownName, UsageError
from swarm_bench.core.roles.language_model import Ask, Gap, Way
from swarm_bench.datasets.rows import read_rows
from swarm_bench.engine.benchmark import find_benchmark


def show_case(
    name: str, case: str, *, assignments: Sequence[str], dataset: str | None, as_json: bool
) -> str:
    """Write the request of a case in each way, what the data set answers, and the stop words;
    `assignments` are properties as they were typed. Raises `UsageError`."""
    requests = dict(_requests(name, case, assignments, dataset))
    if as_json:
        content = {
            way: {**stored_request(ask), "reference": ask.reference}
            for way, ask in requests.items()
        }
        return json.dumps(content, indent=2) + "\n"
    return "\n".join(_page(ask) for ask in requests.values())


def _requests(
    name: str, case: str, assignments: Sequence[str], dataset: str | None
) -> Iterator[tuple[Way, Ask]]:
    benchmark = find_benchmark(name)
    if not isinstance(benchmark, RowBenchmark):
        raise UsageError(
            f"--case: {name} asks no models, so there are no requests to show; omit it"
        )
    own = resolve_properties(benchmark, assignments, None).model
    assert isinstance(own, ModelBenchmark)
    rows = read_rows(dataset or own.default_dataset(), own.Row).rows
    cases = {it.id: it for it in own.cases(rows)}
    if case not in cases:
        raise UnknownName("case", case, cases)
    for way in own.ways:
        yield way, own.ask(cases[case], way)


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
