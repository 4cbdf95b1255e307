"""A benchmark or a plan that breaks the contract of its role is told what it broke."""

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from swarm_bench.benchmarks.swarm.run_plan import Swarm, plan
from swarm_bench.core.metric import Metric, Metrics, Style
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.experiment import Experiment, Task
from swarm_bench.engine.plan import Block
from swarm_bench.scoring.form import Length
from swarm_bench.testing.benchmark_contracts import check_benchmark, check_plan
from tests.builders.experiments import experiment


class Nothing(BaseModel):
    """No properties."""


class Sound:
    """Keeps the contract."""

    name = "sound"
    version = 1
    about = "Questions."
    properties: Any = Nothing

    def scorers(self) -> tuple[Scorer, ...]:
        return (Length(),)

    def metrics(self) -> Metrics:
        return Metrics()


class Required(BaseModel):
    rows: int


class Nameless(Sound):
    def metrics(self) -> Metrics:
        bare = Metric(key="k", title="", unit="u", style=Style.WHOLE, definition="d")
        return Metrics((bare,))


class Doubled(Sound):
    def scorers(self) -> tuple[Scorer, ...]:
        return (Length(), Length())


class Portable(Sound):
    jobs = TypeAdapter[Any](Any)


def changed(**attributes: object) -> Sound:
    kind: type[Sound] = type("Changed", (Sound,), attributes)
    return kind()


def test_those_that_keep_it_pass() -> None:
    check_benchmark(Sound())
    check_benchmark(Portable(), [{"group": ["x"]}])


@pytest.mark.parametrize(
    ("benchmark", "sentence"),
    [
        (changed(name=""), "has a name"),
        (changed(version=0), "has a version"),
        (changed(about="Two\nlines."), "a sentence on one line"),
        (changed(properties=Required), "every property has a default"),
        (changed(properties=dict), "are a pydantic model"),
        (Nameless(), "the metric k can be shown: it needs a key and a title"),
        (Doubled(), "names of scorers are distinct"),
        (Portable(), "is checked with jobs"),
    ],
)
def test_a_breach_is_named(benchmark: Sound, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_benchmark(benchmark)


def test_jobs_are_the_same_after_json() -> None:
    with pytest.raises(AssertionError, match="a job is the same after JSON"):
        check_benchmark(Portable(), [{"group": ("x",)}])


@dataclass(frozen=True, kw_only=True)
class Forgetful(Swarm):
    def drop_finished(self, finished: Collection[str]) -> "Forgetful":
        return self


Blocks = Sequence[Block[Any]]
_CALLS = itertools.count()


def unsteady(planned: Experiment) -> Blocks:
    task = Task(id=f"t-{next(_CALLS)}", title="", prompt="")
    return plan(planned.model_copy(update={"tasks": (task,)}))


def repeated(planned: Experiment) -> Blocks:
    return [*plan(planned), *plan(planned)]


def elsewhere(planned: Experiment) -> Blocks:
    return [replace(block, order=("c",)) for block in plan(planned)]


def keeping(planned: Experiment) -> Blocks:
    return [
        replace(block, groups=tuple(Forgetful(**vars(group)) for group in block.groups))
        for block in plan(planned)
    ]


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (lambda _: (), "a plan has blocks"),
        (repeated, "ids of trials are distinct"),
        (lambda planned: plan(planned)[::-1], "more runs come after those before"),
        (unsteady, "the same experiment has the same plan"),
        (elsewhere, "the arm of a group is one of its block"),
        (keeping, r"drop_finished\(\) drops what is finished, and nothing else"),
    ],
)
def test_a_breach_of_a_plan_is_named(broken: Callable[[Experiment], Blocks], sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_plan(broken, experiment())
