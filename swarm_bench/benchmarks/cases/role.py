"""The role of a benchmark whose arms are models and whose cases are rows of a data set: what its
author writes. The kernel asks, retries, counts, stores, continues and reports."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, Field

from swarm_bench.core.errors import ConfigError
from swarm_bench.core.metric import Metric
from swarm_bench.core.ports import Score
from swarm_bench.core.roles.execution import Environment
from swarm_bench.core.roles.language_model import Ask, Completion, Sampling, Way
from swarm_bench.core.session.models import Arm, ModelRecord

if TYPE_CHECKING:
    from swarm_bench.engine.benchmark import Benchmark


@dataclass(frozen=True, kw_only=True)
class RowCase:
    """One row of a data set, as the benchmark asks it."""

    id: str
    """Stable within the data set: records are matched by it."""
    row: Any
    """The row, as the schema has it."""
    title: str = ""
    """Title in one line; empty where the id says enough."""
    part: str | None = None
    """Figures are given per part too."""
    group: str | None = None
    """Cases of one group are not independent of each other; `None`: it is one by itself."""


SAMPLING = ("temperature", "top_p")
"""Properties that decide nothing but how an answer is drawn."""


class Judge(Protocol):
    """The model of `--judge`. What it takes is counted in keys of the record that are its own."""

    async def ask(self, ask: Ask) -> Completion | None:
        """Ask it once, by chat; `None` when it gives no answer, which is counted. It may raise what
        ends the session, such as a wrong key: let that pass."""
        ...


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What scoring may use."""

    environment: Environment | None
    """Environment in which code runs; `None` in benchmarks that run none."""
    judge: Judge | None = None
    """`None` without `--judge`, and whenever answers are scored again."""


Scores = Mapping[str, Score | list[int]]
"""Scores by key. A list has whole numbers, and none is beyond 2 to the power of 53: a benchmark
that adds shares gives them as parts of a whole, such as thousandths."""


class ModelBenchmark(BaseModel):
    """A benchmark; its fields are its properties, and the first sentence of its documentation says
    what it is. Packages register theirs as `swarm_bench.benchmarks`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    """Stored in the sessions of it."""
    version: ClassVar[int] = 1
    """Higher when figures of older sessions cannot be compared any more."""
    rules: ClassVar[int] = 2
    """Higher when the same answers have other scores than before: `rescore` gives them to those of
    older sessions. The first ones read what a model thinks in a chat as its answer, in all
    benchmarks."""
    dataset: ClassVar[str]
    """The data set that is used where none is named: what `default_dataset` returns unless a
    benchmark says otherwise."""
    Row: ClassVar[type[BaseModel]]
    """The schema of a row: what `row_schema` returns unless a benchmark says otherwise."""
    executes: ClassVar[bool] = False
    """Whether scoring runs code that the model wrote: what `runs_code` returns unless a benchmark
    says otherwise."""
    ways: ClassVar[tuple[Way, ...]] = ("text", "chat")
    """Ways in which its cases can be asked: what `asks_by` returns unless a benchmark says
    otherwise."""
    one_word: ClassVar[bool] = False
    """Whether an answer is one word: a line of predictions that has more is refused."""
    judged: ClassVar[tuple[str, ...]] = ()
    """Keys of the scores that a judge gives, and that are `None` without one; where there are none,
    `--judge` is refused."""
    oddities: ClassVar[tuple[str, ...]] = ()
    """A sentence on each thing that other harnesses do otherwise."""

    way: Way | None = Field(
        default=None,
        description="How models are asked: chat, text or gap. Default: the first that they can "
        "of the benchmark's own.",
    )
    temperature: float | None = Field(default=None, ge=0, description="Of sampling.")
    top_p: float | None = Field(default=None, gt=0, le=1, description="Of sampling.")
    max_tokens: int = Field(default=512, ge=1, description="Of an answer.")
    parity: bool = Field(default=False, description="Do as the original does, oddities included.")

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Refuse a property that would stand in the place of what every benchmark has. Raises
        `ConfigError`."""
        super().__init_subclass__(**arguments)
        for name, hint in get_annotations(cls).items():
            is_taken = name in ModelBenchmark.__class_vars__ or hasattr(ModelBenchmark, name)
            if is_taken and "ClassVar" not in str(hint):
                raise ConfigError(
                    f"The property {name!r} of {cls.__name__} has the name of what every benchmark "
                    "has; give it another one, or write ClassVar[...] where you mean that"
                )

    @classmethod
    def as_benchmark(cls) -> "Benchmark":
        """Return what the kernel runs."""
        from swarm_bench.benchmarks.cases.benchmark import RowBenchmark

        if not isinstance(cls.ways, tuple):
            raise TypeError("ways must be a tuple: a model is asked in the first that it has")
        return RowBenchmark(kind=cls)

    def default_dataset(self) -> str:
        """Return the data set that is used where none is named, which may depend on properties."""
        return self.dataset

    def row_schema(self) -> type[BaseModel]:
        """Return the schema of a row, which may depend on properties."""
        return self.Row

    def runs_code(self, rows: Sequence[Any]) -> bool:
        """Tell whether scoring runs code that a model wrote, which may depend on the rows."""
        return self.executes

    def needs_judge(self) -> str | None:
        """Return why it cannot do without a judge, as a clause; `None` where it can."""
        return None

    def asks_by(self) -> tuple[Way, ...]:
        """Return the ways in which it can ask, which may depend on properties. A model is asked in
        the first that it has."""
        return self.ways

    def mistaken(self, way: Way) -> Mapping[str, str]:
        """Return why the value of a property makes no sense where models are asked in this way,
        a clause by its name: it has no effect, say. No session begins with one; older ones keep
        it."""
        return {}

    def without_effect(self, name: str, condition: str) -> dict[str, str]:
        """Return the clause on a property that is not as by default, and decides nothing."""
        if getattr(self, name) == type(self).model_fields[name].get_default():
            return {}
        return {name: f"has no effect {condition}; omit it"}

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield the cases of the rows, which are as the schema has them."""
        raise NotImplementedError

    def notes(self, rows: Sequence[Any]) -> Sequence[str]:
        """Return sentences on the rows that a reader of the figures must know: how many are no
        cases, say."""
        return ()

    def faults(self, rows: Sequence[Any]) -> Sequence[str]:
        """Return sentences on what is wrong with the rows of the cases that are asked, which are
        warnings: how many have no figure, say."""
        return ()

    def refused(self, cases: Sequence[RowCase]) -> str | None:
        """Return why the cases that are asked cannot be a session, as a sentence that says what to
        do: they are too few, say. `None` where they can."""
        return None

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Return the request for a case, with what a perfect model would answer. The same case
        gives the same request."""
        raise NotImplementedError

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return what is scored of an answer, which in chat has no thoughts any more. It raises
        nothing, whatever the text is."""
        raise NotImplementedError

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Score what was read. Raises `EnvironmentFailed` where the harness broke."""
        raise NotImplementedError

    async def score_none(self, case: RowCase, tools: Tools) -> Scores | None:
        """Score that the model gave no answer: it refuses, takes too long, or cannot read as much.
        Unless a benchmark says otherwise that is an empty one where counts are added, so that such
        cases are in these figures too, and no score elsewhere."""
        adds = any(metric.counts for metric in self.metrics())
        return await self.score(case, "", tools) if adds else None

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return the figures, of which the first that is compared has the verdict."""
        raise NotImplementedError

    def arms(self, models: Sequence[Arm]) -> Sequence[Arm]:
        """Return what is compared. `models` are those that were named, each with the values of
        `--vary`; an arm is one of them, with properties that differ."""
        return models

    async def next_arms(
        self,
        arms: Sequence[Arm],
        records: Sequence[ModelRecord],
        tools: Tools,
        cases: Mapping[str, RowCase],
    ) -> Sequence[Arm]:
        """Return arms to add once all others are done; none when it is finished. `cases` are those
        of the session, by their ids. The same records give the same arms, unless the judge has to
        be asked. It is asked 100 times in a call at most."""
        return ()

    def lesson(self, case: RowCase) -> str:
        """Return the case with its answer: what the model `copy` may learn from. Empty for none."""
        return ""

    def reference(self, case: RowCase) -> str | None:
        """Return what stands for the case in `references.json`."""
        return None

    def sampling(self, *stop: str) -> Sampling:
        """Return how answers are drawn."""
        return Sampling(
            max_tokens=self.max_tokens, temperature=self.temperature, top_p=self.top_p, stop=stop
        )


def counts_of(key: str) -> Callable[[Any], Sequence[float] | None]:
    """Read a score of several numbers by its key."""

    def read(record: Any) -> Sequence[float] | None:
        value = (record.scores or {}).get(key)
        return value if isinstance(value, list) else None

    return read


def of_score(key: str) -> Callable[[Any], float | None]:
    """Read a score of a record by its key."""

    def read(record: Any) -> float | None:
        value = (record.scores or {}).get(key)
        return value if isinstance(value, int | float) else None

    return read
