"""Cases that two arms have in common, and the difference that each of them shows."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from swarm_bench.analysis.statistics.effects import Effect, take_logarithm
from swarm_bench.core.session.tasks import Task, group_tasks

LEAST_PAIRED = 0.8
"""Least share of the cases that must be paired; with fewer, those that are missing could turn the
result."""
Figures = Mapping[str, Sequence[float]]
"""Figures by case, one for each trial that counts."""


@dataclass(frozen=True, kw_only=True)
class Cases:
    """What was asked."""

    ids: Collection[str]
    """Ids of the cases, in their order."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of the cases in means; 1 for a case that is not in it."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """A case that is not in it is a group by itself."""
    by_group: bool = False
    """Whether groups have the same weight in means, whatever the number of their cases."""
    at_every_look: bool = False
    """Whether what they say must hold however often it is looked at while cases are added."""

    def list_weights(self, cases: Collection[str]) -> tuple[float, ...]:
        """Return the weights of some; nothing where they are all the same."""
        if self.by_group:
            groups = self.list_groups(cases)
            sizes = Counter(groups)
            weights = tuple(1.0 / sizes[group] for group in groups)
        else:
            weights = tuple(self.weights.get(case, 1.0) for case in cases)
        return weights if len(set(weights)) > 1 else ()

    def list_groups(self, cases: Collection[str]) -> tuple[Hashable, ...]:
        """Return the groups of some; nothing where no two have the same."""
        grouped_cases = [case for case in cases if case in self.groups]
        if len({self.groups[case] for case in grouped_cases}) == len(grouped_cases):
            return ()
        # A tuple, as a group may be called what a case without one is.
        return tuple((self.groups[case],) if case in self.groups else case for case in cases)

    @property
    def size(self) -> Effect:
        """An effect of which nothing is known but how many cases there are, and their worth."""
        return self.make_effect(dict.fromkeys(self.ids, 0.0))

    def make_effect(self, values: Mapping[str, float]) -> Effect:
        """Make an effect of a value for each of some cases; of at least one."""
        return Effect(
            differences=tuple(values.values()),
            weights=self.list_weights(values),
            groups=self.list_groups(values),
            at_every_look=self.at_every_look,
        )


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """One metric of an arm and of its reference, case by case."""

    relative: bool
    """The differences are of logarithms: ratios are compared."""
    arm_values: Mapping[str, float]
    """Values over the runs of the arm, by case: the median of logarithms if the metric is relative,
    otherwise the mean."""
    reference_values: Mapping[str, float]
    unpaired: tuple[str, ...]
    """Cases without a figure in one of the two arms, or in both."""
    zeros: tuple[str, ...]
    """Cases that are omitted because a figure is 0, to which there is no ratio."""
    planned: Cases = Cases(ids=())
    """What was asked, with the weights and the groups of cases."""

    @property
    def cases(self) -> tuple[str, ...]:
        """Return the cases that are compared."""
        return tuple(self.arm_values)

    @property
    def differences(self) -> dict[str, float]:
        """Return the differences by case. Shares are rounded, so that means of equal ones are
        equal."""
        differences = {
            case: value - self.reference_values[case] for case, value in self.arm_values.items()
        }
        if self.relative:
            return differences
        return {case: round(value, 9) for case, value in differences.items()}

    @cached_property
    def effect(self) -> Effect:
        """What the cases that are compared say; there must be one."""
        return self.planned.make_effect(self.differences)

    @property
    def arm_mean(self) -> float:
        """The mean over the cases that are compared, by their weights; of logarithms where the
        metric is relative."""
        return fmean(self.arm_values.values(), self.effect.weights or None)

    @property
    def reference_mean(self) -> float:
        """Return the mean of the reference."""
        return fmean(self.reference_values.values(), self.effect.weights or None)

    @property
    def total_cases(self) -> int:
        """How many cases there are, compared or not."""
        return len(self.arm_values) + len(self.unpaired) + len(self.zeros)

    @property
    def suffice(self) -> bool:
        """Tell whether enough of the cases are paired for a verdict."""
        return bool(self.arm_values) and len(self.arm_values) >= LEAST_PAIRED * self.total_cases

    def compute_p(self, *, holds: bool) -> float:
        """Return the p of the t test of a hypothesis on them; 1 where it does not hold, so that it
        counts among those that Holm's procedure is about."""
        p = self.effect.t_p if holds and self.suffice else None
        return 1.0 if p is None else p


def make_cases(tasks: Sequence[Task], commit: str | None) -> Cases:
    """Return tasks as cases; `commit` is the one of those that name none."""
    return Cases(
        ids=tuple(task.id for task in tasks),
        weights={task.id: task.weight for task in tasks},
        groups=group_tasks(tasks, commit),
    )


def pair_figures(
    figures: Figures, reference_figures: Figures, cases: Cases, *, relative: bool
) -> Pairs:
    """Pair the figures of two arms for one metric. The figures are those of trials that count, by
    case."""
    paired_cases = dict.fromkeys(
        case for case in cases.ids if figures.get(case) and reference_figures.get(case)
    )
    zeros = dict.fromkeys(
        case_id
        for case_id in paired_cases
        if relative and min(*figures[case_id], *reference_figures[case_id]) <= 0
    )
    compared_cases = [case for case in paired_cases if case not in zeros]
    return Pairs(
        relative=relative,
        arm_values={
            case: compute_typical(figures[case], relative=relative) for case in compared_cases
        },
        reference_values={
            case: compute_typical(reference_figures[case], relative=relative)
            for case in compared_cases
        },
        unpaired=tuple(case for case in cases.ids if case not in paired_cases),
        zeros=tuple(zeros),
        planned=cases,
    )


def compute_typical(values: Sequence[float], *, relative: bool) -> float:
    """Return what stands for the runs of a case. Logarithms have heavy tails, so their median; the
    median of shares would be the vote of a majority."""
    if not relative:
        return fmean(values)
    middle_index, is_odd = divmod(len(values), 2)
    logs = [
        take_logarithm(value)
        for value in sorted(values)[middle_index - 1 + is_odd : middle_index + 1]
    ]
    return logs[0] if is_odd else (logs[0] + logs[1]) / 2
