"""A session of `retrieve`, as it is analysed: the figures of one mode, and of two task by task."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import ClassVar

from swarm_bench.analysis.cases import losses
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.losses import Part
from swarm_bench.analysis.sections.warnings import noted
from swarm_bench.analysis.sentences.next_steps import with_tasks
from swarm_bench.analysis.statistics.pairing import Cases, Figures, Pairs, cases_of, paired
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.document import Step
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.retrieving import (
    FORMS,
    MAIN,
    PLAIN,
    Form,
    RetrieveExperiment,
    get_figure,
)
from swarm_bench.core.session.tasks import Task, group_tasks

MOST_TAGS = 12
"""That are told apart."""


@dataclass(frozen=True, eq=False)
class Answers(CaseSession):
    """A session of `retrieve`: the answers of its modes, as they are compared. A task is asked in
    several forms, and each is a case."""

    noun: ClassVar[str] = "task"

    experiment: RetrieveExperiment

    @property
    def command(self) -> str:
        return RETRIEVE.name

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(sorted(self.experiment.arms, key=lambda arm: arm != PLAIN))

    @property
    def faults(self) -> Iterator[str]:
        return noted(self.experiment.retrieval)

    @cached_property
    def cases(self) -> Cases:
        tasks = {case: task for case, (task, _) in self.questions.items()}
        groups = group_tasks(self.experiment.tasks, self.experiment.repository.clean_commit)
        return Cases(
            ids=tuple(tasks),
            weights={case: task.weight for case, task in tasks.items()},
            groups={case: groups[task.id] for case, task in tasks.items()},
        )

    @cached_property
    def part_of(self) -> Mapping[str, str]:
        return {case: form for case, (_, form) in self.questions.items()}

    def tags_of(self, case: str) -> str | None:
        return ", ".join(self.questions[case][0].tags) or None

    def units(self, metric: Metric) -> Cases:
        return cases_of(self.experiment.tasks, self.experiment.repository.clean_commit)

    def unit_figures(self, arm: str, metric: Metric) -> Figures:
        grouped, figures = defaultdict[str, list[float]](list), self.figures(arm, metric)
        for case, (task, _) in self.questions.items():
            grouped[task.id] += figures.get(case, [])
        return grouped

    def next_step(self, needed: int | None) -> Step | None:
        return with_tasks(needed, self.experiment) if needed else None

    @property
    def main(self) -> Metric:
        """What modes are compared by."""
        return self.metrics[self.experiment.primary or MAIN]

    @cached_property
    def questions(self) -> Mapping[str, tuple[Task, Form]]:
        """By case, its task and the form of its question."""
        return {case.id: (task, form) for case, task, form in self.experiment.questions()}

    @property
    def forms(self) -> list[Form]:
        """The forms in which there are questions."""
        asked = {form for _, form in self.questions.values()}
        return [form for form in FORMS if form in asked]

    def of(
        self, arm: str, form: Form | None = None, tasks: Collection[str] | None = None
    ) -> list[CaseRecord]:
        """Return the answers of a mode, perhaps those to one form of questions, and those of some
        tasks."""
        runs = range(1, self.experiment.runs + 1)
        records = [it for run in runs for it in self.measured.get((arm, run), ())]
        return [
            it
            for it in records
            if form in (None, self.questions[it.case][1])
            and (tasks is None or self.questions[it.case][0].id in tasks)
        ]

    def by_tag(self) -> dict[frozenset[str], list[str]]:
        """Return the tasks of each tag that some have and others have not, with the tag; those of
        tags that always stand together once."""
        tasks = self.experiment.tasks
        groups: dict[frozenset[str], list[str]] = {}
        for tag in dict.fromkeys(tag for task in tasks for tag in task.tags):
            tagged = frozenset(task.id for task in tasks if tag in task.tags)
            if len(tagged) < len(tasks) and (tagged in groups or len(groups) < MOST_TAGS):
                groups.setdefault(tagged, []).append(tag)
        return groups

    def mean(self, records: Iterable[CaseRecord], key: str) -> float | None:
        """Return the mean of a figure, by the weights of the tasks; `None` without any."""
        read = self.metrics[key].read
        assert read
        pairs = [
            (value, self.questions[record.case][0].weight)
            for record in records
            if (value := read(record)) is not None
        ]
        if not pairs:
            return None
        return sum(value * weight for value, weight in pairs) / sum(w for _, w in pairs)

    def pairs_in(self, arm: str, other: str, key: str, form: Form) -> Pairs:
        """Pair two modes task by task in one form of the questions."""
        tasks = [task for task, of in self.questions.values() if of == form]
        own, reference = (self.by_task(side, key, form) for side in (arm, other))
        cases = cases_of(tasks, self.experiment.repository.clean_commit)
        return paired(own, reference, cases, relative=False)

    def missing_in(self, arms: Collection[str], form: Form) -> dict[str, Part]:
        """Count by mode the trials in one form that are not in what modes are compared by."""
        cases = self._cases_in(form)
        return {arm: losses.missing(self, arm, self.main, cases) for arm in arms}

    def number_of_tasks(self, form: Form) -> int:
        """Count the tasks that are asked in that form."""
        return len(self._cases_in(form))

    def by_task(self, arm: str, key: str, form: Form) -> dict[str, list[float]]:
        """Group a figure of a mode by task, in one form of the questions."""
        figures = self.figures(arm, self.metrics[key], self._cases_in(form))
        return {self.questions[case][0].id: values for case, values in figures.items()}

    def _cases_in(self, form: Form) -> list[str]:
        return [case for case, (_, of) in self.questions.items() if of == form]


def values(records: Iterable[CaseRecord], key: str) -> list[float]:
    """List a figure of all records that have it."""
    return [value for record in records if (value := get_figure(record, key)) is not None]


def middle(numbers: Sequence[float]) -> float | None:
    """Return the median; `None` of nothing."""
    return median(numbers) if numbers else None


def p95(numbers: Sequence[float]) -> float | None:
    """Return the smallest value that 95 % of all do not exceed; `None` of nothing."""
    return sorted(numbers)[math.ceil(0.95 * len(numbers)) - 1] if numbers else None
