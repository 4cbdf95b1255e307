"""The role of a benchmark: what is compared, what one trial is, and what is measured of it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from swarm_bench.core import entry_points
from swarm_bench.core.errors import ConfigError, wrap_foreign_errors
from swarm_bench.core.metric import Metrics
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.cases import Case, CaseJob, CaseRecord, Deliver


@runtime_checkable
class Benchmark(Protocol):
    """One kind of experiment. Packages register theirs as `swarm_bench.benchmarks`; it is made
    without arguments."""

    name: str
    """Name that is stored in the sessions of it."""
    version: int
    """Higher when figures of older sessions cannot be compared any more."""
    about: str
    """One sentence."""
    properties: type[BaseModel]
    """Properties that can be set; the listing, the schema and the checks come from them."""

    def scorers(self) -> tuple[Scorer, ...]:
        """Return what scores its answers. Raises `ConfigError`."""
        ...

    def metrics(self) -> Metrics:
        """Return its figures, each declared once. Raises `ConfigError`."""
        ...


@runtime_checkable
class CaseBenchmark(Benchmark, Protocol):
    """A benchmark whose trials are pairs of an arm and a case: its author says what the arms and
    the cases are and runs a group of them. The kernel plans, stores, continues and reports."""

    groups_at_once: int
    """Arms of one run that run at the same time."""

    def arms(self, properties: Any) -> Sequence[str]:
        """Return the names of the arms; the first one is the reference of the ratios."""
        ...

    def cases(self, properties: Any) -> Sequence[Case]:
        """Return what every arm is asked. Raises `UsageError`."""
        ...

    async def run(self, job: CaseJob, deliver: Deliver) -> None:
        """Run the trials of a group, and deliver each when it starts and when it has ended.
        Cancelling it stops them."""
        ...


@runtime_checkable
class GrowsArms(CaseBenchmark, Protocol):
    """A benchmark that looks at the records before it says which arms come next."""

    def next_arms(self, records: Sequence[CaseRecord]) -> Sequence[str]:
        """Return arms to add; none when it is done. The same records, which are those of the plan,
        give the same arms. It is asked 100 times in a call at most."""
        ...


def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark of that name. Raises `UnknownName`, and `ConfigError` for what is
    none."""
    kind: Callable[[], object] = entry_points.load("benchmarks", name)
    with wrap_benchmark_errors(name, "cannot be made"):
        # A class in a smaller role says what makes a benchmark of it.
        benchmark = getattr(kind, "as_benchmark", kind)()
        complete = (
            isinstance(benchmark, Benchmark)  # a property of it may raise too
            and isinstance(benchmark.name, str)
            and isinstance(benchmark.version, int)
            and issubclass(benchmark.properties, BaseModel)
        )
    if not complete:
        raise ConfigError(
            f"{name!r} is no benchmark: it needs all that the role in "
            "swarm_bench/engine/benchmark.py has, of the same types"
        )
    assert isinstance(benchmark, Benchmark)
    return benchmark


def wrap_benchmark_errors(name: str, clause: str) -> AbstractContextManager[None]:
    """Name the benchmark in what its own code raises. Raises `ConfigError`."""
    return wrap_foreign_errors(f"The benchmark {name!r}", clause)
