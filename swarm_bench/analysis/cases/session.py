"""A session of a benchmark whose trials are pairs of an arm and a case, as it is analysed."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote
from typing import Any, ClassVar

from swarm_bench.analysis.aggregates import (
    Numbers,
    RecordCounts,
    count_records,
    describe_failure,
    group_figures,
    pool,
)
from swarm_bench.analysis.caching import once
from swarm_bench.analysis.losses import Part
from swarm_bench.analysis.sentences.next_steps import FOR_MISSING, round_up
from swarm_bench.analysis.statistics.pairing import Cases, Figures, Pairs, pair_figures
from swarm_bench.analysis.wording import describe_size
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.report.document import Answer, Document, Step
from swarm_bench.core.report.standing import Caveat, describe_void
from swarm_bench.core.session.cases import CaseExperiment, CaseRecord
from swarm_bench.core.session.judgements import Verdict
from swarm_bench.core.session.models import Data
from swarm_bench.core.session.rescored import ReparsedAnswer
from swarm_bench.core.status import Cause, Status

ArmKind = Callable[[Any, str], Iterator[Caveat]]
"""Looks for one kind of caveat in an arm of a session."""


@dataclass(frozen=True, eq=False)
class CaseSession(ABC):
    """A session as the analysis reads it. What is true of sessions of one kind alone is said by
    those that derive from it."""

    kinds: ClassVar[tuple[ArmKind, ...]]
    """Kinds of caveats on the arms, the gravest first."""
    noun: ClassVar[str] = "case"
    """Noun for what is counted in its intervals."""
    case_noun: ClassVar[str] = "case"
    """Noun for what each arm was asked."""
    arm_noun: ClassVar[str] = "arm"

    experiment: CaseExperiment
    records: Sequence[CaseRecord]
    metrics: Metrics
    warnings: tuple[str, ...] = ()
    """Problems that were met while reading: broken lines, changed ones."""
    rescored: Sequence[ReparsedAnswer] = ()
    """Answers that were scored again."""
    verdicts: Sequence[Verdict] = ()
    """Verdicts of judges on pairs of its answers."""
    rules_now: int = 1
    """The number of the rules by which this version scores."""
    folder: str = ""
    """Path of the session's folder, as the caller wrote it."""
    changed: bool = False
    """Whether lines are not as they were written."""

    @cached_property
    def memory(self) -> dict[Hashable, Any]:
        """Return the memory of functions decorated with `once`."""
        return {}

    @cached_property
    def measured_trials(self) -> dict[tuple[str, int], list[CaseRecord]]:
        """The trials that ran to their own end, by arm and run, and those with all but what a judge
        did not say."""
        groups: dict[tuple[str, int], list[CaseRecord]] = defaultdict(list)
        for record in self.records:
            if record.conclusive or record.cause is Cause.JUDGE_FAILED:
                groups[record.arm, record.run].append(record)
        return groups

    def list_facts(self, record: CaseRecord) -> Iterator[tuple[str, str]]:
        """Yield what a trial has besides its figures: its scores that are words or lists."""
        for key, value in (record.scores or {}).items():
            label = key.replace("_", " ")
            if isinstance(value, bool):
                yield label, "yes" if value else "no"
            elif isinstance(value, str):
                yield label, value
            elif isinstance(value, list):
                yield label, ", ".join(map(str, value))

    def check_key(self, record: Any) -> Iterator[tuple[str, bool]]:
        """Yield the files of the answer key of a trial, each with whether its answer names it, as
        far as that is known."""
        return iter(())

    def writes_markdown(self, record: Any) -> bool:
        """Tell whether the answer of a trial is Markdown."""
        return False

    @property
    def size(self) -> str:
        """The cases and runs that have trials, as `12 cases × 3 runs`."""
        return describe_size(self.case_count, self.case_noun, self.run_count)

    @property
    def case_count(self) -> int:
        """How many cases have trials."""
        return len({record.case for record in self.records})

    @property
    def run_count(self) -> int:
        """How many runs have trials."""
        return len({record.run for record in self.records})

    @property
    @abstractmethod
    def answers(self) -> tuple[Answer, ...]:
        """The verdicts, each in a line."""

    @property
    @abstractmethod
    def document(self) -> Document:
        """Its summary."""

    @once
    def caveats(self, arm: str) -> tuple[Caveat, ...]:
        """Collect what stands against believing the figures of an arm."""
        return tuple(caveat for kind in self.kinds for caveat in kind(self, arm))

    @property
    def all_caveats(self) -> dict[str, tuple[Caveat, ...]]:
        """Those of all arms."""
        return {arm: self.caveats(arm) for arm in self.experiment.arms}

    def explain_exclusion(self, arm: str, reference: str | None = None) -> str:
        """Say why nothing can be concluded from the figures of an arm, or from those of the
        reference that it is held against; empty where something can."""
        return describe_void({side: self.caveats(side) for side in (arm, reference or arm)})

    @property
    def command(self) -> str:
        """What ran it."""
        return f"run {self.experiment.benchmark}"

    @property
    def arms(self) -> tuple[str, ...]:
        """Its arms, first what the others are held against."""
        return self.experiment.arms

    @property
    def chosen_arms(self) -> tuple[str, ...]:
        """The arms without those that the benchmark added by itself."""
        return self.experiment.arms

    @property
    def data(self) -> Data | None:
        """The rows that its cases are made of."""
        return None

    @property
    def permission(self) -> str:
        """What each command that continues it must allow anew."""
        return ""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What else was set, by its name in a comparison of two sessions."""
        return {}

    def read_settings(self, arm: str) -> Mapping[str, Any]:
        """Return the same for an arm, and who answered."""
        return {}

    @property
    def faults(self) -> Iterator[str]:
        """What went wrong beside its trials, in sentences."""
        return iter(())

    def is_rehearsed(self, arm: str) -> bool:
        """Tell whether fixed rules answered in the place of a model."""
        return False

    def count_unanswered(self, arm: str) -> Part:
        """Count the requests of an arm that were not answered in time."""
        return 0, len(self.list_records(arm))

    def list_records(self, arm: str) -> Sequence[CaseRecord]:
        """Return the records of an arm."""
        return [record for record in self.records if record.arm == arm]

    @cached_property
    def cases(self) -> Cases:
        """What was asked."""
        cases = self.experiment.cases
        return Cases(
            ids=tuple(case.id for case in cases),
            groups={case.id: case.group for case in cases if case.group is not None},
        )

    @cached_property
    def intervals_over(self) -> str:
        """What is drawn anew in its intervals, in words."""
        return "groups of cases" if self.cases.list_groups(self.cases.ids) else "cases"

    @cached_property
    def parts_by_case(self) -> Mapping[str, str]:
        """The part of the data to which each case belongs that is of one."""
        parts = {case.id: case.part for case in self.experiment.cases}
        return {case: part for case, part in parts.items() if part is not None}

    def find_tags(self, case: str) -> str | None:
        """Return the tags of a case, with commas between them."""
        return None

    @property
    def rules(self) -> set[int]:
        """The numbers of the rules by which its answers were scored."""
        return set()

    def select_units(self, metric: Metric) -> Cases:
        """Return what is counted where a limit is on the metric."""
        return self.select_cases(metric)

    def group_unit_figures(self, arm: str, metric: Metric) -> Figures:
        """Group the figures of an arm by that."""
        return self.figures(arm, metric)

    def select_cases(self, metric: Metric) -> Cases:
        """Return what was asked that the metric is of."""
        if metric.part is None and metric.of_groups is None:
            return self.cases
        part_of, part = self.parts_by_case, metric.part
        return replace(
            self.cases,
            ids=tuple(case for case in self.cases.ids if part is None or part_of.get(case) == part),
            by_group=metric.of_groups is not None,
        )

    def select_counted(self, arm: str, metric: Metric) -> list[CaseRecord]:
        """Return the trials of an arm that count. One that failed spent little and is no saving: it
        counts where the metric is of failed trials too, and for scores."""
        runs = range(1, self.experiment.runs + 1)
        records = [record for run in runs for record in self.measured_trials.get((arm, run), ())]
        if metric.relative and not metric.of_failed:
            return [record for record in records if record.status is not Status.AGENT_FAILED]
        return records

    @once
    def count_metric(self, metric: Metric) -> RecordCounts:
        """Return what the records count for a metric that is made of counts."""
        return count_records(metric, self.records)

    def figures(
        self, arm: str, metric: Metric, cases: Collection[str] | None = None
    ) -> dict[str, list[float]]:
        """Group the figures of an arm that count by case; of some cases, or of all. Of many
        records or groups, they are such that their mean is the figure."""
        case_ids = self.select_cases(metric).ids
        selected = set(case_ids) if cases is None else set(case_ids) & set(cases)
        trials = [record for record in self.select_counted(arm, metric) if record.case in selected]
        if metric.counts:
            return pool(metric, self._group_counts(metric, trials))
        figures = group_figures(trials, metric.reader)
        if metric.of_groups == "sum":
            return self._scale_to_sums(figures)
        if metric.of_case is None:
            return figures
        repetitions = self.experiment.runs // self.experiment.count_runs(arm)  # equal in every run
        by_case = {case: metric.of_case(values * repetitions) for case, values in figures.items()}
        return {case: [value] for case, value in by_case.items() if value is not None}

    def explain_failed_sums(self, arm: str, metric: Metric) -> str | None:
        """Say in a clause why an arm has no figure of its counts where that failed."""
        selected = set(self.select_cases(metric).ids)
        trials = (record for record in self.select_counted(arm, metric) if record.case in selected)
        clauses = (describe_failure(metric, run) for run in self._group_counts(metric, trials))
        return next((clause for clause in clauses if clause), None)

    def _group_counts(
        self, metric: Metric, trials: Iterable[CaseRecord]
    ) -> Collection[Mapping[str, Numbers]]:
        by_trial, runs = (
            self.count_metric(metric).by_trial,
            defaultdict[int, dict[str, Numbers]](dict),
        )
        for trial in trials:
            if trial.trial in by_trial:
                runs[trial.run][trial.case] = by_trial[trial.trial]
        return runs.values()

    def _scale_to_sums(self, figures: dict[str, list[float]]) -> dict[str, list[float]]:
        """Scale figures whose mean over groups becomes a sum; none where they are of several
        parts, whose sums are not to be added."""
        if self._are_of_parts(figures):
            return {}
        groups = len(set(self.cases.list_groups(figures) or figures))
        return {case: [groups * value for value in values] for case, values in figures.items()}

    def is_by_part(self, metric: Metric) -> bool:
        """Tell whether a metric has figures of parts of the data alone, and none of all of it."""
        return metric.of_groups == "sum" and self._are_of_parts(self.select_cases(metric).ids)

    def _are_of_parts(self, cases: Iterable[str]) -> bool:
        return len({self.parts_by_case.get(case) for case in cases}) > 1

    @cached_property
    def references(self) -> dict[str, str]:
        """Return the arm that each arm is compared with, by name; arms that are compared with none
        are not in it."""
        first, *other_arms = self.arms
        return dict.fromkeys(other_arms, first)

    def pair_arms(self, arm: str, reference: str, metric: Metric) -> Pairs:
        """Pair two arms case by case."""
        arm_figures, reference_figures = read_common_figures((self, arm), (self, reference), metric)
        return pair_figures(
            arm_figures, reference_figures, self.select_cases(metric), relative=metric.relative
        )

    def advise_next_step(self, needed: int | None) -> Step | None:
        """Advise so many cases, or if their number is unknown, to run what is missing; `None` where
        neither can be."""
        return self.advise_more_cases(needed) if needed else self.advise_missing()

    def advise_missing(self) -> Step | None:
        """Advise to run what is missing; `None` where nothing is that can be run again."""
        experiment = self.experiment
        planned = len(experiment.cases) * sum(map(experiment.count_runs, experiment.arms))
        if sum(record.conclusive for record in self.records) >= planned:
            return None
        return Step(self._write_continuation(), FOR_MISSING)

    def advise_more_cases(self, needed: int | None) -> Step | None:
        """Advise more cases, as far as the data has some."""
        if needed is None or self.data is None:
            return None
        limit = min(self.data.rows, round_up(needed))
        if limit <= len(self.experiment.cases):
            return None
        return Step(
            self._write_continuation(f" --limit {limit}"), f"with {limit:,} cases in all", limit
        )

    def _write_continuation(self, options: str = "") -> str:
        """Write what continues the session, with the permission that is given anew in each call."""
        experiment = self.experiment
        run = f"swarm-bench run {quote(experiment.typed_benchmark)}"
        return f"{run} --continue {experiment.session}{options}{self.permission}"


def read_common_figures(
    side: tuple[CaseSession, str], reference_side: tuple[CaseSession, str], metric: Metric
) -> tuple[Figures, Figures]:
    """Return the figures of two arms, each with its session. Figures of many records or groups are
    those of the cases that both have."""
    sides = [session.figures(arm, metric) for session, arm in (side, reference_side)]
    if not metric.is_of_many or sides[0].keys() == sides[1].keys():
        return sides[0], sides[1]
    common = sides[0].keys() & sides[1].keys()
    common_figures = [
        session.figures(arm, metric, common) for session, arm in (side, reference_side)
    ]
    return common_figures[0], common_figures[1]
