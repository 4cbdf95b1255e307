"""No answer makes a benchmark that runs no code raise, hang or take much memory, in whatever way it
asks."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Tools
from swarm_bench.core import entry_points
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion, Way
from swarm_bench.core.session.models import Arm
from swarm_bench.datasets.rows import read_rows
from swarm_bench.engine.benchmark import find_benchmark
from tests.memory import peak

MEGABYTE = 1_000_000
MOST = 200
"""Megabytes that answers may take beside the rest."""
PIECES = ("a", "a ", "(", "\n", "`", "```\n", "\t\n", "ü😀", "&quot;", "1.", "<COMPLETION>", "\0")
FRAGMENTS = st.sampled_from(
    ["\n", "```", "```python\n", "</COMPLETION>", '"""', "Solution:\n", "yes", "no", "1", "\t", "{"]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(FRAGMENTS | st.text(max_size=9)).map("".join))


@cache
def benchmarks() -> dict[str, type[ModelBenchmark]]:
    kinds = {
        plugin.name: benchmark.kind
        for plugin in entry_points.list_plugins("benchmarks")
        if isinstance(benchmark := find_benchmark(plugin.name), RowBenchmark)
    }
    return {name: kind for name, kind in kinds.items() if not kind.executes}


@cache
def asked(name: str, *, varied: bool = True) -> list[tuple[ModelBenchmark, RowCase, Way]]:
    """The first case in each way; `varied`: of each value of each property that has few."""
    return [
        (own, case(own), own.way)
        for properties in variants(benchmarks()[name], varied)
        if (own := with_arm(benchmarks()[name], properties)) and own.way
    ]


def variants(kind: type[ModelBenchmark], varied: bool) -> Iterator[dict[str, Any]]:
    for way in kind.ways:
        yield {"way": way}
        yield {"way": way, "parity": True}
        for key, field in kind.model_fields.items() if varied else ():
            values = get_args(field.annotation) if key != "way" else ()
            literals = [it for value in values for it in (value, *get_args(value))]
            yield from ({"way": way, key: it} for it in literals if isinstance(it, str))


def with_arm(kind: type[ModelBenchmark], properties: dict[str, Any]) -> ModelBenchmark | None:
    """The benchmark as it asks a model; `None` for what it refuses."""
    try:
        (arm,) = kind.model_validate(properties).arms([Arm(name="m", model="reference")])
        return kind.model_validate({**properties, **arm.properties})
    except ValidationError:
        return None


def case(own: ModelBenchmark) -> RowCase:
    return next(iter(own.cases(read_rows(own.default_dataset(), own.row_schema()).rows)))


async def scored(name: str, text: str, *, varied: bool = True) -> None:
    for own, case, way in asked(name, varied=varied):
        for whole in (False, True):
            completion = Completion(text=text, finish="stop", usage=Usage(), whole=whole)
            prediction = own.read(case, completion, way)
            scores: dict[str, Any] = dict(
                await own.score(case, prediction, Tools(environment=None))
            )
            assert json.loads(json.dumps(scores)) == scores
            for value in scores.values():
                assert not isinstance(value, float) or math.isfinite(value)


@pytest.mark.anyio
@pytest.mark.parametrize("name", list(benchmarks()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(TEXTS)
@example("\ud800")
async def test_any_text_is_read_and_scored(name: str, text: str) -> None:
    await scored(name, text)


@pytest.mark.parametrize("name", list(benchmarks()))
def test_a_megabyte_takes_little_memory(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts.test_answers", name],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(done.stdout) < MOST


def main(name: str) -> None:
    """Print how many megabytes long answers took at their most."""
    import anyio

    take = partial(scored, varied=False)
    anyio.run(take, name, "a")
    before = peak()
    for piece in PIECES:
        anyio.run(take, name, (piece * MEGABYTE)[:MEGABYTE])
    print(peak() - before)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
