"""Benchmarks of rows, models and environments keep the contracts of their roles, and what breaks
one is named."""

import ast
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import thread_time
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.passing import PASSED, answer_share, pass_metrics
from swarm_bench.benchmarks.cases.role import (
    ModelBenchmark,
    RowCase,
    Scores,
    Tools,
    counts_of,
)
from swarm_bench.core import entry_points
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.metric import Metric
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.dataset import RawRows
from swarm_bench.core.roles.execution import Code, Execution
from swarm_bench.core.roles.language_model import Ask, Completion, Way
from swarm_bench.core.session.models import Arm
from swarm_bench.datasets.rows import find_dataset, read_rows
from swarm_bench.engine.benchmark import find_benchmark
from swarm_bench.environments.unconfined import Unconfined
from swarm_bench.models.offline.generations import Generations
from swarm_bench.models.offline.reference import Reference
from swarm_bench.testing.model_contracts import (
    check_dataset,
    check_environment,
    check_language_model,
    check_model_benchmark,
    hash_of_prompts,
)

pytestmark = pytest.mark.anyio
REGISTERED = [
    benchmark.kind
    for plugin in entry_points.list_plugins("benchmarks")
    if isinstance(benchmark := find_benchmark(plugin.name), RowBenchmark)
    and benchmark.name == plugin.name
]


@pytest.mark.parametrize("kind", REGISTERED, ids=lambda kind: kind.name)
async def test_benchmarks_that_are_shipped(kind: type[ModelBenchmark]) -> None:
    rows = read_rows(kind.dataset, kind.Row).rows
    await check_model_benchmark(kind, rows, Tools(environment=Unconfined()))


@pytest.mark.parametrize("name", ["copy", "empty", "reference"])
async def test_models_that_are_shipped(name: str) -> None:
    await check_language_model(entry_points.load("models", name)(""))


NEED_AN_ARGUMENT = {"contracts", "fetched", "swe-dataset"}


@pytest.mark.parametrize(
    "name",
    [it.name for it in entry_points.list_plugins("datasets") if it.name not in NEED_AN_ARGUMENT],
)
def test_data_sets_that_are_shipped(name: str) -> None:
    check_dataset(find_dataset(name))


class Fading:
    """A data set that has other rows in each reading."""

    about, licence, source, published = "Numbers.", None, None, None
    readings = 0

    def load(self) -> RawRows:
        self.readings += 1
        return RawRows.of([{"number": self.readings}])


def test_a_data_set_that_changes_is_none() -> None:
    with pytest.raises(AssertionError, match="its hash is one"):
        check_dataset(Fading())


async def test_answers_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps([["2"]]))
    await check_language_model(Generations(str(file)))


class Sum(BaseModel):
    id: str
    sum: str
    result: int


class Sums(ModelBenchmark):
    """Sums of two numbers."""

    name: ClassVar = "sums"
    dataset: ClassVar = "sums.jsonl"
    Row: ClassVar = Sum
    ways: ClassVar[tuple[Way, ...]] = ("text",)

    def cases(self, rows: Any) -> Any:
        return (RowCase(id=row.id, row=row) for row in rows)

    def ask(self, case: RowCase, way: Way) -> Ask:
        return Ask(prompt=f"{case.row.sum} = ", reference=str(case.row.result))

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        return completion.text.strip()

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        return {PASSED: prediction == str(case.row.result)}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        return pass_metrics(1)


class Chance(Sums):
    drawn: ClassVar[list[int]] = []

    def ask(self, case: RowCase, way: Way) -> Ask:
        self.drawn.append(1)
        return Ask(prompt=f"{len(self.drawn)}: {case.row.sum}")


class Raising(Sums):
    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        return str(int(completion.text))


class Idle(Sums):
    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        return {PASSED: True}


class Unscored(Sums):
    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        return {}


class Twice(Sums):
    def cases(self, rows: Any) -> Any:
        return (RowCase(id="same", row=row) for row in rows)


class Chatting(Sums):
    ways: ClassVar[tuple[Way, ...]] = ("chat",)


class Unordered(Sums):
    ways: ClassVar = frozenset({"text"})  # type: ignore[assignment]


class Foreign(Sums):
    def arms(self, models: Sequence[Arm]) -> Sequence[Arm]:
        return [arm.model_copy(update={"against": "c"}) for arm in models]


class Endless(Sums):
    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        return {PASSED: prediction == str(case.row.result), "length": float("inf")}


class Delicate(Sums):
    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        return {PASSED: int(prediction or 0) == case.row.result}


class Slow(Sums):
    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        end = thread_time() + (2.5 if len(completion.text) > 9_999 else 0)
        while thread_time() < end:
            pass
        return completion.text.strip()


class Constant(Sums):
    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        return {PASSED: bool(prediction)}


class Misspelt(Sums):
    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        own = prediction == str(case.row.result)
        return {"share": float(own), "pased": own}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        share = answer_share("share", "Share", "Right answers.")
        return (share, *(replace(it, compared=False) for it in pass_metrics(1)))


class Together(Sums):
    """Sums, of which all are one figure."""

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        return {"counts": [prediction == str(case.row.result), 1]}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        (metric,) = pass_metrics(1)
        return (
            replace(
                metric,
                read=None,
                column=None,
                counts=counts_of("counts"),
                of_counts=lambda sums: sums[0] / sums[1],
            ),
        )


class Plain(Sums):
    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        return ()


ROWS = [Sum(id=str(number), sum=f"{number} + 1", result=number + 1) for number in range(3)]
NOTHING = Tools(environment=None)


async def test_a_benchmark_of_ones_own() -> None:
    await check_model_benchmark(Sums, ROWS, NOTHING)


@pytest.mark.parametrize(
    ("kind", "breach"),
    [
        (Chance, "the same case is asked alike"),
        (Idle, "an empty answer to 0 is not as good"),
        (Unscored, "the answer of the data set to 0 has a pass_at_1"),
        (Twice, "ids of cases are distinct"),
        (Chatting, "a case that is asked by chat has such a prompt"),
        (Plain, "a metric is compared"),
        (Unordered, "the ways in which it asks are in order"),
        (Foreign, "an arm is held against one of them"),
        (Endless, "the score 'length' of '0' is inf; scores that are numbers are finite"),
        (Raising, r"read\(\) of '0' raises ValueError: invalid literal .* for the answer 'aaaa"),
        (Delicate, r"score\(\) of '0' raises ValueError: invalid literal .* for the answer "),
        (Slow, r"read\(\) takes \d+ s for 16,384 characters as 'aaaa"),
        (Constant, "the same answer to all cases .* to 0, '2' and '3' are"),
        (Misspelt, "the metric pass_at_1 reads the score passed, and the scores are pased"),
    ],
)
async def test_what_a_benchmark_breaks_is_named(kind: type[ModelBenchmark], breach: str) -> None:
    with pytest.raises(AssertionError, match=breach):
        await check_model_benchmark(kind, ROWS, NOTHING)


def test_a_property_does_not_replace_what_every_benchmark_has() -> None:
    for name in ("rules", "reference", "notes", "version", "dataset", "name", "schema"):
        with pytest.raises(ConfigError, match=f"The property {name!r} of Wrong has the name of"):
            type("Wrong", (Sums,), {"__annotations__": {name: str}, name: "x"})
    type("Right", (Sums,), {"__annotations__": {"max_tokens": int}, "max_tokens": 9})


async def test_a_figure_of_many_answers_is_checked_as_any_other() -> None:
    await check_model_benchmark(Together, ROWS, NOTHING)


class Mute(Reference):
    async def complete(self, ask: Ask) -> Completion:
        return Completion(text="2", finish="stop", usage=Usage(input=-1))


class Nowhere(Reference):
    address: ClassVar = "somewhere"  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("source", "breach"), [(Mute(), "tokens are counted"), (Nowhere(), "its address is one")]
)
async def test_what_a_model_breaks_is_named(source: Any, breach: str) -> None:
    with pytest.raises(AssertionError, match=breach):
        await check_language_model(source)


class Silent(Unconfined):
    async def run(self, code: Code) -> Execution:
        return replace(await super().run(code), stdout="")


async def test_what_an_environment_breaks_is_named() -> None:
    with pytest.raises(AssertionError, match="it hands on input, output and the end"):
        await check_environment(Silent())


class Promised(Unconfined):
    """Says that it confines."""

    confines = True


@pytest.mark.timeout(180)
async def test_an_environment_that_only_says_that_it_confines_breaks_its_contract() -> None:
    with pytest.raises(AssertionError, match="neither secrets nor the network"):
        await check_environment(Promised())


class Reworded(Sums):
    def ask(self, case: RowCase, way: Way) -> Ask:
        ask = super().ask(case, way)
        return replace(ask, prompt=f"Please: {ask.prompt}") if way == "text" else ask


class Raised(Reworded):
    version: ClassVar[int] = 2


async def test_prompts_do_not_change_without_the_version() -> None:
    prompts = {1: hash_of_prompts(Sums, ROWS)}
    await check_model_benchmark(Sums, ROWS, NOTHING, prompts)
    for kind in (Reworded, Raised):
        with pytest.raises(AssertionError, match="raise the version"):
            await check_model_benchmark(kind, ROWS, NOTHING, prompts)
    prompts[2] = hash_of_prompts(Raised, ROWS)
    await check_model_benchmark(Raised, ROWS, NOTHING, prompts)


class Deep(Sums):
    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        return str(ast.parse(completion.text)) if len(completion.text) > 1_000_000 else "2"


async def test_a_benchmark_reads_a_megabyte_of_anything() -> None:
    with pytest.raises(AssertionError, match=r"read\(\) of '0' raises"):
        await check_model_benchmark(Deep, ROWS, NOTHING)
