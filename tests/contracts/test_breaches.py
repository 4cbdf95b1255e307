"""A benchmark that breaks the contract of its role is told what it broke."""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from swarm_bench.benchmarks.swarm.plan.swarms import Swarm, plan
from swarm_bench.core.metric import Metric
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.experiment import Experiment, Task
from swarm_bench.engine.plan import Block
from swarm_bench.scoring.length import Length
from swarm_bench.testing.benchmark_contracts import check_benchmark
from tests.builders.experiments import experiment


class Nothing(BaseModel):
    """No properties."""


class Sound:
    """Keeps the contract."""

    name = "sound"
    version = 1
    about = "Questions."
    properties: Any = Nothing

    def plan(self, planned: Experiment) -> Sequence[Block[Any]]:
        return plan(planned)

    def scorers(self) -> tuple[Scorer, ...]:
        return (Length(),)

    def metrics(self) -> tuple[Metric, ...]:
        return ()


class Required(BaseModel):
    rows: int


@dataclass(frozen=True, kw_only=True)
class Forgetful(Swarm):
    def without(self, finished: Collection[str]) -> "Forgetful":
        return self


class Unsteady(Sound):
    calls = itertools.count()

    def plan(self, planned: Experiment) -> Sequence[Block[Any]]:
        task = Task(id=f"t-{next(self.calls)}", title="", prompt="")
        return plan(planned.model_copy(update={"tasks": (task,)}))


class Reversed(Sound):
    def plan(self, planned: Experiment) -> Sequence[Block[Any]]:
        return super().plan(planned)[::-1]


class Repeated(Sound):
    def plan(self, planned: Experiment) -> Sequence[Block[Any]]:
        return [*super().plan(planned), *super().plan(planned)]


class Elsewhere(Sound):
    def plan(self, planned: Experiment) -> Sequence[Block[Any]]:
        return [replace(block, order=("c",)) for block in super().plan(planned)]


class Keeping(Sound):
    def plan(self, planned: Experiment) -> Sequence[Block[Any]]:
        return [
            replace(block, groups=tuple(Forgetful(**vars(group)) for group in block.groups))
            for block in super().plan(planned)
        ]


class Doubled(Sound):
    def scorers(self) -> tuple[Scorer, ...]:
        return (Length(), Length())


class Portable(Sound):
    jobs = TypeAdapter[Any](Any)


def changed(**attributes: object) -> Sound:
    kind: type[Sound] = type("Changed", (Sound,), attributes)
    return kind()


def test_one_that_keeps_it_passes() -> None:
    check_benchmark(Sound(), experiment())


@pytest.mark.parametrize(
    ("benchmark", "sentence"),
    [
        (changed(name=""), "has a name"),
        (changed(version=0), "has a version"),
        (changed(about="Two\nlines."), "a sentence on one line"),
        (changed(properties=Required), "every property has a default"),
        (changed(properties=dict), "are a pydantic model"),
        (Doubled(), "names of scorers are distinct"),
        (changed(plan=lambda *_: ()), "a plan has blocks"),
        (Repeated(), "ids of trials are distinct"),
        (Reversed(), "more runs come after those before"),
        (Unsteady(), "the same experiment has the same plan"),
        (Elsewhere(), "the arm of a group is one of its block"),
        (Keeping(), r"without\(\) has the trials that are not finished"),
        (Portable(), "is checked with jobs"),
    ],
)
def test_a_breach_is_named(benchmark: Sound, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_benchmark(benchmark, experiment())


def test_jobs_are_the_same_after_json() -> None:
    check_benchmark(Portable(), experiment(), [{"group": ["x"]}])
    with pytest.raises(AssertionError, match="a job is the same after JSON"):
        check_benchmark(Portable(), experiment(), [{"group": ("x",)}])
