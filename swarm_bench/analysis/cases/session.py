"""A session of a benchmark whose trials are pairs of an arm and a case, as it is analysed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from swarm_bench.core.metric import Metrics
from swarm_bench.core.session.cases import CaseExperiment, CaseRecord
from swarm_bench.core.status import Status


@dataclass(frozen=True, eq=False)
class CaseSession:
    """A session as the analysis reads it."""

    experiment: CaseExperiment
    records: Sequence[CaseRecord]
    metrics: Metrics
    warnings: tuple[str, ...] = ()
    """What was met while reading: broken lines, changed ones."""
    changed: bool = False
    """Whether lines are not as they were written."""

    @cached_property
    def measured(self) -> dict[tuple[str, int], list[CaseRecord]]:
        """The trials that ran to their own end, by arm and run."""
        groups: dict[tuple[str, int], list[CaseRecord]] = defaultdict(list)
        for record in self.records:
            if record.conclusive:
                groups[record.arm, record.run].append(record)
        return groups

    def compared(self, arm: str) -> list[CaseRecord]:
        """Return the trials of an arm that are in the ratios. One that failed spent little and is
        no saving."""
        runs = range(1, self.experiment.runs + 1)
        records = [record for run in runs for record in self.measured.get((arm, run), ())]
        return [record for record in records if record.status is not Status.AGENT_FAILED]
