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
from swarm_bench.analysis.sections.warnings import list_notes
from swarm_bench.analysis.sentences.next_steps import advise_tasks
from swarm_bench.analysis.statistics.pairing import Cases, Figures, Pairs, make_cases, pair_figures
from swarm_bench.core.errors import UsageError
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

MAX_TAGS = 12
"""Most tags that are told apart."""


@dataclass(frozen=True, eq=False)
class Answers(CaseSession):
    """A session of `retrieve`: the answers of its modes, as they are compared. A task is asked in
    several forms, and each is a case."""

    noun: ClassVar[str] = "task"
    case_noun: ClassVar[str] = "question"
    arm_noun: ClassVar[str] = "mode"

    experiment: RetrieveExperiment

    @property
    def command(self) -> str:
        return RETRIEVE.name

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(sorted(self.experiment.arms, key=lambda arm: arm != PLAIN))

    @property
    def faults(self) -> Iterator[str]:
        return list_notes(self.experiment.retrieval)

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
    def parts_by_case(self) -> Mapping[str, str]:
        return {case: form for case, (_, form) in self.questions.items()}

    def find_tags(self, case: str) -> str | None:
        return ", ".join(self.questions[case][0].tags) or None

    def select_units(self, metric: Metric) -> Cases:
        return make_cases(self.experiment.tasks, self.experiment.repository.clean_commit)

    def group_unit_figures(self, arm: str, metric: Metric) -> Figures:
        grouped, figures = defaultdict[str, list[float]](list), self.figures(arm, metric)
        for case, (task, _) in self.questions.items():
            grouped[task.id] += figures.get(case, [])
        return grouped

    def advise_next_step(self, needed: int | None) -> Step | None:
        return advise_tasks(needed, self.experiment) if needed else None

    @property
    def main(self) -> Metric:
        """What modes are compared by. Raises `UsageError` where this version does not have it."""
        metric = self.metrics.get(self.experiment.primary or MAIN)
        if metric is None:
            raise UsageError(
                f"The verdict of this session is on {self.experiment.primary}, and this version "
                "has no such metric; read it with the version that made it"
            )
        return metric

    @cached_property
    def questions(self) -> Mapping[str, tuple[Task, Form]]:
        """Return the task and the form of the question, by case."""
        return {case.id: (task, form) for case, task, form in self.experiment.questions()}

    @property
    def forms(self) -> list[Form]:
        """The forms in which there are questions."""
        asked_forms = {form for _, form in self.questions.values()}
        return [form for form in FORMS if form in asked_forms]

    def select_records(
        self, arm: str, form: Form | None = None, tasks: Collection[str] | None = None
    ) -> list[CaseRecord]:
        """Return the answers of a mode, perhaps those to one form of questions, and those of some
        tasks."""
        runs = range(1, self.experiment.runs + 1)
        records = [record for run in runs for record in self.measured_trials.get((arm, run), ())]
        return [
            record
            for record in records
            if form in (None, self.questions[record.case][1])
            and (tasks is None or self.questions[record.case][0].id in tasks)
        ]

    def group_by_tag(self) -> dict[frozenset[str], list[str]]:
        """Return the tasks of each tag that some have and others have not, with the tag; those of
        tags that always stand together once."""
        tasks = self.experiment.tasks
        groups: dict[frozenset[str], list[str]] = {}
        for tag in dict.fromkeys(tag for task in tasks for tag in task.tags):
            tagged = frozenset(task.id for task in tasks if tag in task.tags)
            if len(tagged) < len(tasks) and (tagged in groups or len(groups) < MAX_TAGS):
                groups.setdefault(tagged, []).append(tag)
        return groups

    def compute_mean(self, records: Iterable[CaseRecord], key: str) -> float | None:
        """Return the mean of a figure, by the weights of the tasks; `None` without any."""
        read = self.metrics[key].reader
        pairs = [
            (value, self.questions[record.case][0].weight)
            for record in records
            if (value := read(record)) is not None
        ]
        if not pairs:
            return None
        return sum(value * weight for value, weight in pairs) / sum(w for _, w in pairs)

    def pair_modes(self, arm: str, reference_arm: str, key: str, form: Form) -> Pairs:
        """Pair two modes task by task in one form of the questions."""
        tasks = [task for task, question_form in self.questions.values() if question_form == form]
        figures, reference = (self.group_by_task(side, key, form) for side in (arm, reference_arm))
        cases = make_cases(tasks, self.experiment.repository.clean_commit)
        return pair_figures(figures, reference, cases, relative=False)

    def count_missing(self, arms: Collection[str], form: Form) -> dict[str, Part]:
        """Count by mode the trials in one form that are not in what modes are compared by."""
        cases = self._list_cases(form)
        return {arm: losses.count_missing(self, arm, self.main, cases) for arm in arms}

    def count_tasks(self, form: Form) -> int:
        """Count the tasks that are asked in that form."""
        return len(self._list_cases(form))

    def group_by_task(self, arm: str, key: str, form: Form) -> dict[str, list[float]]:
        """Group a figure of a mode by task, in one form of the questions."""
        figures = self.figures(arm, self.metrics[key], self._list_cases(form))
        return {self.questions[case][0].id: values for case, values in figures.items()}

    def _list_cases(self, form: Form) -> list[str]:
        return [
            case for case, (_, question_form) in self.questions.items() if question_form == form
        ]


def list_values(records: Iterable[CaseRecord], key: str) -> list[float]:
    """List a figure of all records that have it."""
    return [value for record in records if (value := get_figure(record, key)) is not None]


def compute_middle(numbers: Sequence[float]) -> float | None:
    """Return the median; `None` of nothing."""
    return median(numbers) if numbers else None


def compute_p95(numbers: Sequence[float]) -> float | None:
    """Return the smallest value that 95 % of all do not exceed; `None` of nothing."""
    return sorted(numbers)[math.ceil(0.95 * len(numbers)) - 1] if numbers else None
