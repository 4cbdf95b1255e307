"""What a session of models leaves beside its records: requests, and what other harnesses read."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.results import Result, compute_results
from swarm_bench.app.setup.case_properties import CaseProperties
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.folder import (
    GENERATIONS,
    PROMPTS,
    REFERENCES,
    RESULTS,
)
from swarm_bench.benchmarks.cases.running import choose_way, digest, make_stored_request
from swarm_bench.core.report.standing import export_caveats
from swarm_bench.runtime.files import make_room, write_pieces, write_whole
from swarm_bench.runtime.sink import clean_value

_LONGEST_NAME = 100
_PASS_AT = "pass_at_"


def write_prompts(benchmark: RowBenchmark, properties: CaseProperties[Any], folder: Path) -> None:
    """Write each request of a case once, with the arms that it is for, and without secrets."""
    requests: dict[tuple[str, str], dict[str, Any]] = {}
    assert benchmark.setup is not None
    for arm in benchmark.setup.arms:
        arm_benchmark = benchmark.configure(properties.plain, arm)
        way = choose_way(arm_benchmark, benchmark.setup.sources[arm.model])
        for case in benchmark.select(arm_benchmark):
            ask = arm_benchmark.ask(case, way)
            sha256 = digest(ask)
            new_entry = {"sha256": sha256, "case": case.id, "arms": []}
            entry = requests.setdefault((sha256, case.id), new_entry)
            entry["arms"].append(arm.name)
            entry.update(make_stored_request(ask))
    entries = (clean_value(entry, properties.secrets) for entry in requests.values())
    write_pieces(folder / PROMPTS, (f"{json.dumps(entry)}\n" for entry in entries))


def write_results(session: ModelSession, benchmark: RowBenchmark, folder: Path) -> None:
    """Write the figures, the answers and the tests in the forms that other harnesses have."""
    experiment = session.experiment
    all_results = list(compute_results(session))
    figures = {
        result.arm: {
            name: figure.value
            for figure in result.figures
            for name in _list_names(figure.metric.key, figure.value)
        }
        for result in all_results
        if result.part is None
    }
    sole = next(iter(figures.values())) if len(figures) == 1 else {}  # at the place of a harness
    sole = {
        name: value for name, value in sole.items() if value is not None and _PASS_AT not in name
    }
    content = {
        experiment.benchmark: {**sole, **figures},
        "config": experiment.properties,
        "measures": [measure for result in all_results for measure in _list_measures(result)],
        "caveats": export_caveats({arm: session.caveats(arm) for arm in experiment.arms}),
    }
    _write(folder, RESULTS, json.dumps(content, indent=2) + "\n")
    generations = folder / GENERATIONS
    make_room(generations, folder=True)
    generations.mkdir(exist_ok=True)
    for name, arm in _name_files(experiment.arms).items():
        write_pieces(
            generations / f"{name}.json", _render_json_list(_list_generations(session, arm))
        )
    if benchmark.setup is not None:
        configured = benchmark.kind.model_validate(experiment.properties)
        references = [configured.reference(case) for case in benchmark.select(configured)]
        _write(folder, REFERENCES, json.dumps(references, indent=1) + "\n")


def _list_names(key: str, value: float | None) -> Iterator[str]:
    """Yield what a figure is called here, and what the bigcode harness calls one that it has."""
    yield key
    if key.startswith(_PASS_AT) and value is not None:
        yield key.replace(_PASS_AT, "pass@")


def _list_measures(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the figures of an arm in a part of the data set, with what stands behind them."""
    for figure in result.figures:
        low, high = figure.interval or (None, None)
        yield {
            "arm": result.arm,
            "part": result.part,
            "measure": figure.metric.key,
            "value": figure.value,
            "low": low,
            "high": high,
            "cases": figure.cases,
        }


def _render_json_list(values: Iterable[Any]) -> Iterator[str]:
    """Yield the pieces of a JSON list, each value on a line of its own."""
    prefix = "[\n"
    for value in values:
        yield f"{prefix}{json.dumps(value)}"
        prefix = ",\n"
    yield "\n]\n"


def _list_generations(session: ModelSession, arm: str) -> Iterator[list[str]]:
    """Yield the answers to each case by run, as they were scored; one that is missing is empty."""
    texts: dict[tuple[str, int], str] = {}
    for record in session.list_records(arm):
        text = record.answer if record.prediction is None else record.prediction
        texts[record.case, record.run] = text or ""
    runs = range(1, session.experiment.count_runs(arm) + 1)
    return ([texts.get((case.id, run), "") for run in runs] for case in session.experiment.cases)


def _name_files(arms: Sequence[str]) -> dict[str, str]:
    """Name a file after each arm; those that would have the same name are numbered."""
    names: dict[str, str] = {}
    for arm in arms:
        name = re.sub(r"[^\w.=-]+", "-", arm).strip(".-")[:_LONGEST_NAME] or "arm"
        numbered = (f"{name}-{number}" for number in count(2))
        names[
            next(candidate for candidate in chain([name], numbered) if candidate not in names)
        ] = arm
    return names


def _write(folder: Path, name: str, text: str) -> None:
    write_whole(folder / name, text)
