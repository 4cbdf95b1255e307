"""Figures of many records: what they count is added, and the figure is that of the sums.

Each case gets a value, such that the mean of these is the figure, and their spread tells how sure
it is: the pseudo-values of a jackknife that omits a case at a time. So intervals, tests and groups
are those of any other metric. docs/statistics.md says how well they cover.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, isfinite
from statistics import fmean

from swarm_bench.analysis.wording import quantify
from swarm_bench.core.errors import described
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.metric_reader import Guarded
from swarm_bench.core.session.cases import CaseRecord

Numbers = tuple[float, ...]
_MIDDLE = 0.5
"""Of shares."""


@dataclass(frozen=True, kw_only=True)
class RecordCounts:
    """What the records of a session count for one metric."""

    by_trial: Mapping[str, Numbers]
    """By the id of a trial; one that does not tell is not in it."""
    failures: Sequence[tuple[CaseRecord, str]]
    """Trials whose counts cannot be used, each with a clause that says why."""

    @cached_property
    def failed_trials(self) -> frozenset[str]:
        """The ids of the trials whose counts cannot be used."""
        return frozenset(record.trial for record, _ in self.failures)


def count_records(metric: Metric, records: Iterable[CaseRecord]) -> RecordCounts:
    """Read the counts of all records. All must have as many numbers as most have."""
    by_trial: dict[str, Numbers] = {}
    failures: list[tuple[CaseRecord, str]] = []
    read: list[tuple[CaseRecord, Numbers]] = []
    for record in records:
        numbers, clause = _read_numbers(metric, record)
        if clause is not None:
            failures.append((record, clause))
        elif numbers is not None:
            read.append((record, numbers))
    lengths = Counter(len(numbers) for _, numbers in read)
    length = max(lengths, key=lambda count: (lengths[count], count), default=0)
    for record, numbers in read:
        if len(numbers) == length:
            by_trial[record.trial] = numbers
        else:
            clause = f"it has {quantify(len(numbers), 'number')}, and most have {length}"
            failures.append((record, clause))
    return RecordCounts(by_trial=by_trial, failures=failures)


def pool(metric: Metric, runs: Collection[Mapping[str, Numbers]]) -> dict[str, list[float]]:
    """Return a value for each case, whose mean over cases is the figure: of several runs the mean
    of theirs. `runs` have the counts by case. Empty where no run has a figure."""
    runs_values = [
        values for counts in runs if counts and (values := _compute_pseudo_values(metric, counts))
    ]
    if not runs_values:
        return {}
    figures = [fmean(values.values()) for values in runs_values]
    figure, moves = fmean(figures), defaultdict[str, float](float)
    cases = dict.fromkeys(case for values in runs_values for case in values)
    for values, run_figure in zip(runs_values, figures, strict=True):
        share = len(cases) / len(values) / len(runs_values)  # a run may have lost some cases
        for case, value in values.items():
            moves[case] += share * (value - run_figure)
    return {case: [figure + moves[case]] for case in cases}


def describe_failure(metric: Metric, counts: Mapping[str, Numbers]) -> str | None:
    """Say in a clause why the sums of a run have no figure where that failed."""
    assert metric.of_counts
    return Guarded(metric.of_counts, share=metric.is_share).attempt(_add_counts(counts.values()))[1]


def _add_counts(counts: Iterable[Numbers]) -> list[float]:
    return [fsum(column) for column in zip(*counts, strict=True)]


def _compute_pseudo_values(
    metric: Metric, counts: Mapping[str, Numbers]
) -> dict[str, float] | None:
    """Return the pseudo-values of one run; `None` where it has no figure."""
    assert metric.of_counts
    of_counts = Guarded(metric.of_counts, share=metric.is_share)
    sums = _add_counts(counts.values())
    figure = of_counts(sums)
    if figure is None:
        return None
    number = len(counts)
    if number == 1:
        return dict.fromkeys(counts, figure)
    without: dict[Numbers, float] = {}
    for numbers in dict.fromkeys(counts.values()):
        figure_without = of_counts(
            [sum_of_all - part for sum_of_all, part in zip(sums, numbers, strict=True)]
        )
        if figure_without is None:
            # This case alone decides whether there is a figure, so nothing is known without it.
            if not metric.is_share:
                return None
            figure_without = 0.0 if figure > _MIDDLE else 1.0
        without[numbers] = figure_without
    mean = fmean(without[numbers] for numbers in counts.values())
    return {
        case: figure + (number - 1) * (mean - without[numbers]) for case, numbers in counts.items()
    }


def _read_numbers(metric: Metric, record: CaseRecord) -> tuple[Numbers | None, str | None]:
    """Return the counts of a record, and in a clause why they cannot be used."""
    assert metric.counts
    try:
        read = metric.counts(record)
        numbers = None if read is None else tuple(map(float, read))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise anything
        return None, described(error)
    for number in numbers or ():
        if not isfinite(number):
            return None, f"it counts {number}, which is no figure"
    return numbers, None
