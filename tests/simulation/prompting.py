"""Sessions of `prompt-optimisation` whose truth is known: the benchmark's own rounds and verdicts,
of answers that are drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from swarm_bench.analysis.cases.model_summary import ComparedModels
from swarm_bench.analysis.cases.verdicts import answer_cases
from swarm_bench.benchmarks.cases.passing import PASSED
from swarm_bench.benchmarks.cases.role import RowCase, Tools
from swarm_bench.benchmarks.prompts.common import QUALITY, TaskWithTests
from swarm_bench.benchmarks.prompts.optimisation import HELD_OUT, SUGGESTION, PromptOptimisation
from swarm_bench.core.metric import Metrics
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion
from swarm_bench.core.session.cases import Case
from swarm_bench.core.session.models import Arm, Data, ModelExperiment, ModelRecord
from swarm_bench.core.status import Cause, Status
from tests.builders.answers import text_of

Chances = NDArray[np.float64]
"""Of each case, to be solved."""


ANSWERED = ModelRecord(
    arm="m", case="t", number=1, run=1, session="s", attempt=1, trial="t", finish="stop",
    status=Status.COMPLETED, cause=Cause.FINISHED,
)  # fmt: skip


class Judge:
    """Writes prompts, each another one."""

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, ask: Ask) -> Completion | None:
        self.asked += 1
        usage = Usage(input=1, cache_read=0, cache_create=0, output=1)
        return Completion(text=f"Prompt {self.asked}.", finish="stop", usage=usage)


@dataclass(frozen=True, kw_only=True)
class Optimising:
    """A session of so many cases."""

    cases: int
    rounds: int
    runs: int = 1
    base: Callable[[np.random.Generator, int], Chances]
    better: Callable[[Chances, NDArray[np.bool_]], Chances]
    """Returns the chances under prompts of the judge, of those under the first one; it is told
    which cases are held out."""
    benchmark: PromptOptimisation = field(init=False)
    rows: tuple[RowCase, ...] = field(init=False)

    def __post_init__(self) -> None:
        benchmark = PromptOptimisation(maxImprovementRuns=self.rounds)
        rows = [
            TaskWithTests(id=f"t{n}", prompt=f"Task {n}.", unitTests="assert True")
            for n in range(self.cases)
        ]
        object.__setattr__(self, "benchmark", benchmark)
        object.__setattr__(self, "rows", tuple(benchmark.cases(rows)))

    async def run(self, seed: int) -> ComparedModels:
        """Draw answers, and have the judge make rounds until the benchmark ends it."""
        rng = np.random.default_rng([seed, self.cases, self.rounds, self.runs])
        first = self.base(rng, self.cases)
        later = self.better(first, np.array([it.part == HELD_OUT for it in self.rows]))
        arms = [*self.benchmark.arms([Arm(name="m", model="m")])]
        tools = Tools(environment=None, judge=Judge())
        cases, records = {it.id: it for it in self.rows}, list[ModelRecord]()
        added: Sequence[Arm] = arms
        while added:
            for arm in added:
                records += self._answers(rng, arm, first if arm is arms[0] else later)
            added = await self.benchmark.next_arms(arms, records, tools, cases)
            arms += added
        return self._session(arms, records)

    def _answers(self, rng: np.random.Generator, arm: Arm, chances: Chances) -> list[ModelRecord]:
        drawn = rng.random((self.runs, self.cases)) < chances
        return [
            ANSWERED.model_copy(
                update={
                    "arm": arm.name, "case": row.id, "number": at + 1, "run": run, "part": row.part,
                    "trial": f"{arm.name}-{run}-{at}",
                    "scores": {PASSED: bool(passed), QUALITY: 0.5, SUGGESTION: "More."},
                }
            )
            for run, answers in enumerate(drawn, start=1)
            for at, (row, passed) in enumerate(zip(self.rows, answers, strict=True))
        ]  # fmt: skip

    def _session(self, arms: Sequence[Arm], records: Sequence[ModelRecord]) -> ComparedModels:
        names = tuple(arm.name for arm in arms)
        metrics = Metrics(tuple(self.benchmark.metrics()))
        experiment = ModelExperiment(
            concurrency=1, session="s", created_at=datetime.now(UTC), seed=0, runs=self.runs,
            benchmark=self.benchmark.name, arms=names, models=tuple(arms),
            cases=tuple(Case(id=it.id, title=it.id, part=it.part) for it in self.rows),
            order=(names,) * self.runs, primary=PASSED, request_timeout=1,
            data=Data(name="d", sha256="0", rows=self.cases),
        )  # fmt: skip
        return ComparedModels(experiment=experiment, records=records, metrics=metrics)


def verdicts(session: ComparedModels) -> list[tuple[str, str]]:
    """Return what the headline says of each round: the verdict, and the sentence."""
    return [(it.claim.removeprefix(" is "), text_of(it)) for it in answer_cases(session)]
