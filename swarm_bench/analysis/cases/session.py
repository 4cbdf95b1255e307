"""A session of a benchmark whose trials are pairs of an arm and a case, as it is analysed."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from swarm_bench.analysis.frame import by_case, frame
from swarm_bench.analysis.statistics.pairing import Cases, Pairs, paired
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.session.cases import CaseExperiment, CaseRecord
from swarm_bench.core.session.later.reread import Reread
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.core.session.tasks import task_groups
from swarm_bench.core.status import Status


@dataclass(frozen=True, eq=False)
class CaseSession:
    """A session as the analysis reads it."""

    experiment: CaseExperiment
    records: Sequence[CaseRecord]
    metrics: Metrics
    warnings: tuple[str, ...] = ()
    """What was met while reading: broken lines, changed ones."""
    rescored: Sequence[Reread] = ()
    """What became of answers that were scored again."""
    changed: bool = False
    """Whether lines are not as they were written."""

    @cached_property
    def memory(self) -> dict[Hashable, Any]:
        """That of functions that are asked `once`."""
        return {}

    @cached_property
    def measured(self) -> dict[tuple[str, int], list[CaseRecord]]:
        """The trials that ran to their own end, by arm and run."""
        groups: dict[tuple[str, int], list[CaseRecord]] = defaultdict(list)
        for record in self.records:
            if record.conclusive:
                groups[record.arm, record.run].append(record)
        return groups

    @cached_property
    def cases(self) -> Cases:
        """What was asked."""
        cases, experiment = self.experiment.cases, self.experiment
        if isinstance(experiment, RetrieveExperiment):  # the forms of a question share its task
            tasks = {case.id: task for case, task, _ in experiment.questions()}
            groups = task_groups(experiment.tasks, experiment.repository.clean_commit)
            return Cases(
                ids=tuple(tasks),
                weights={case: task.weight for case, task in tasks.items()},
                groups={case: groups[task.id] for case, task in tasks.items()},
            )
        return Cases(
            ids=tuple(case.id for case in cases),
            groups={case.id: case.group for case in cases if case.group is not None},
        )

    def counted(self, arm: str, metric: Metric) -> list[CaseRecord]:
        """Return the trials of an arm that count. One that failed spent little and is no saving: it
        counts where the metric is of failed trials too, and for scores."""
        runs = range(1, self.experiment.runs + 1)
        records = [record for run in runs for record in self.measured.get((arm, run), ())]
        if metric.relative and not metric.of_failed:
            return [it for it in records if it.status is not Status.AGENT_FAILED]
        return records

    def figures(self, arm: str, metric: Metric) -> dict[str, list[float]]:
        """Group the figures of an arm that count by case."""
        figures = by_case(frame(self.counted(arm, metric), metric))
        if metric.of_case is None:
            return figures
        made = {case: metric.of_case(values) for case, values in figures.items()}
        return {case: [value] for case, value in made.items() if value is not None}

    def pairs(self, arm: str, reference: str, metric: Metric) -> Pairs:
        """Pair two arms case by case."""
        own, other = (self.figures(side, metric) for side in (arm, reference))
        return paired(own, other, self.cases, relative=metric.relative)
