"""The figures of one mode, and of two modes question by question."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from swarm_bench.analysis.case_summary import CaseSession
from swarm_bench.analysis.noise.formulas import t_interval
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.retrieving import Form, RetrieveExperiment, figures_of
from swarm_bench.core.session.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A mode against another: the mean of the differences of the questions."""

    own: float
    """The mean of the mode, over the questions that both answered."""
    other: float
    mean: float
    low: float | None
    """The end of the 95 % interval, which no difference of shares exceeds; `None` for a single
    question."""
    high: float | None
    questions: int


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a session, as they are compared."""

    session: CaseSession

    @property
    def experiment(self) -> RetrieveExperiment:
        """What was asked."""
        experiment = self.session.experiment
        assert isinstance(experiment, RetrieveExperiment)
        return experiment

    @cached_property
    def asked(self) -> dict[str, tuple[Task, Form]]:
        """By case, its task and the form of its question."""
        return {case.id: (task, form) for case, task, form in self.experiment.questions()}

    def of(self, arm: str, form: Form | None = None) -> list[CaseRecord]:
        """Return the answers of a mode, perhaps those to one form of questions."""
        runs = range(1, self.experiment.runs + 1)
        records = [it for run in runs for it in self.session.measured.get((arm, run), ())]
        return [it for it in records if form in (None, self.asked[it.case][1])]

    def mean(self, records: Iterable[CaseRecord], key: str) -> float | None:
        """Return the mean of a figure, by the weights of the tasks; `None` without any."""
        pairs = [
            (value, self.asked[record.case][0].weight)
            for record in records
            if (value := figures_of(record, key)) is not None
        ]
        if not pairs:
            return None
        return sum(value * weight for value, weight in pairs) / sum(w for _, w in pairs)

    def difference(self, arm: str, other: str, key: str) -> Difference | None:
        """Compare two modes task by task, where both have the figure; each task counts once, in
        whatever forms it was asked."""
        ours, theirs = self._by_task(arm, key), self._by_task(other, key)
        both = [task for task in ours if task in theirs]
        if not both:
            return None
        differences = [ours[task] - theirs[task] for task in both]
        low, high = t_interval(differences) or (None, None)
        return Difference(
            own=fmean(ours[task] for task in both),
            other=fmean(theirs[task] for task in both),
            mean=fmean(differences),
            low=None if low is None else max(low, -1.0),
            high=None if high is None else min(high, 1.0),
            questions=len(both),
        )

    def _by_task(self, arm: str, key: str) -> dict[str, float]:
        values: defaultdict[str, list[float]] = defaultdict(list)
        for record in self.of(arm):
            if (value := figures_of(record, key)) is not None:
                values[self.asked[record.case][0].id].append(value)
        return {task: fmean(each) for task, each in values.items()}


def values(records: Iterable[CaseRecord], key: str) -> list[float]:
    """List a figure of all records that have it."""
    return [value for record in records if (value := figures_of(record, key)) is not None]


def middle(numbers: Sequence[float]) -> float | None:
    """Return the median; `None` of nothing."""
    return median(numbers) if numbers else None


def p95(numbers: Sequence[float]) -> float | None:
    """Return the smallest value that 95 % of all do not exceed; `None` of nothing."""
    return sorted(numbers)[math.ceil(0.95 * len(numbers)) - 1] if numbers else None
