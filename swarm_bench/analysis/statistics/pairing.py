"""Cases that two arms have in common, and the difference that each of them shows."""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.core.session.tasks import Task, group_tasks

LEAST_PAIRED = 0.8
"""Of the cases; with fewer, those that are missing could turn the result."""
Figures = Mapping[str, Sequence[float]]
"""By case, one for each trial that counts."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """One metric of an arm and of its reference, case by case."""

    relative: bool
    """The differences are of logarithms: ratios are compared."""
    own: Mapping[str, float]
    """By case, over its runs: the median of logarithms where the metric is relative, otherwise the
    mean."""
    reference: Mapping[str, float]
    unpaired: tuple[str, ...]
    """Cases without a figure in one of the two arms, or in both."""
    zeros: tuple[str, ...]
    """Cases that are omitted because a figure is 0, to which there is no ratio."""
    weights: tuple[float, ...] = ()
    """Those of the cases that are compared; empty where all have the same."""
    groups: tuple[Hashable, ...] = ()
    """Those of the cases that are compared; empty where each case is one by itself."""
    at_every_look: bool = False
    """Whether what they say must hold however often it is looked at while cases are added."""

    @property
    def cases(self) -> tuple[str, ...]:
        """Those that are compared."""
        return tuple(self.own)

    @property
    def differences(self) -> list[float]:
        """In the order of the cases. Shares are rounded, so that means of equal ones are equal."""
        differences = [self.own[case] - self.reference[case] for case in self.own]
        return differences if self.relative else [round(value, 9) for value in differences]

    @cached_property
    def effect(self) -> Effect:
        """What the cases that are compared say; there must be one."""
        return Effect(
            differences=tuple(self.differences),
            weights=self.weights,
            groups=self.groups,
            at_every_look=self.at_every_look,
        )

    @property
    def own_mean(self) -> float:
        """The mean over the cases that are compared, by their weights; of logarithms where the
        metric is relative."""
        return fmean(self.own.values(), self.weights or None)

    @property
    def reference_mean(self) -> float:
        """The same of the reference."""
        return fmean(self.reference.values(), self.weights or None)

    @property
    def asked(self) -> int:
        """How many cases there are, compared or not."""
        return len(self.own) + len(self.unpaired) + len(self.zeros)

    @property
    def suffice(self) -> bool:
        """Tell whether enough of the cases are paired for a verdict."""
        return bool(self.own) and len(self.own) >= LEAST_PAIRED * self.asked

    def p(self, *, holds: bool) -> float:
        """Return the p of the t test of a hypothesis on them; 1 where it does not hold, so that it
        counts among those that Holm's procedure is about."""
        p = self.effect.t_p if holds and self.suffice else None
        return 1.0 if p is None else p


@dataclass(frozen=True, kw_only=True)
class Cases:
    """What was asked."""

    ids: Collection[str]
    """In their order."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Those in means; 1 for a case that is not in it."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """A case that is not in it is a group by itself."""
    by_group: bool = False
    """In means, groups have the same weight, whatever the number of their cases."""
    at_every_look: bool = False
    """Whether what they say must hold however often it is looked at while cases are added."""

    def weights_of(self, cases: Collection[str]) -> tuple[float, ...]:
        """Return the weights of some; nothing where they are all the same."""
        if self.by_group:
            groups = self.groups_of(cases)
            sizes = Counter(groups)
            weights = tuple(1.0 / sizes[group] for group in groups)
        else:
            weights = tuple(self.weights.get(case, 1.0) for case in cases)
        return weights if len(set(weights)) > 1 else ()

    def groups_of(self, cases: Collection[str]) -> tuple[Hashable, ...]:
        """Return the groups of some; nothing where no two have the same."""
        named = [case for case in cases if case in self.groups]
        if len({self.groups[case] for case in named}) == len(named):
            return ()
        # A tuple, as a group may be called what a case without one is.
        return tuple((self.groups[case],) if case in self.groups else case for case in cases)

    @property
    def size(self) -> Effect:
        """An effect of which nothing is known but how many cases there are, and their worth."""
        return self.effect(dict.fromkeys(self.ids, 0.0))

    def effect(self, values: Mapping[str, float]) -> Effect:
        """Make an effect of a value for each of some cases; of at least one."""
        return Effect(
            differences=tuple(values.values()),
            weights=self.weights_of(values),
            groups=self.groups_of(values),
            at_every_look=self.at_every_look,
        )


def cases_of(tasks: Sequence[Task], commit: str | None) -> Cases:
    """Return tasks as cases; `commit` is the one of those that name none."""
    return Cases(
        ids=tuple(task.id for task in tasks),
        weights={task.id: task.weight for task in tasks},
        groups=group_tasks(tasks, commit),
    )


def paired(own: Figures, reference: Figures, cases: Cases, *, relative: bool) -> Pairs:
    """Pair the figures of two arms for one metric. The figures are those of trials that count, by
    case."""
    both = dict.fromkeys(case for case in cases.ids if own.get(case) and reference.get(case))
    zeros = dict.fromkeys(it for it in both if relative and min(*own[it], *reference[it]) <= 0)
    compared = [case for case in both if case not in zeros]
    return Pairs(
        relative=relative,
        own={case: middle(own[case], relative=relative) for case in compared},
        reference={case: middle(reference[case], relative=relative) for case in compared},
        unpaired=tuple(case for case in cases.ids if case not in both),
        zeros=tuple(zeros),
        weights=cases.weights_of(compared),
        groups=cases.groups_of(compared),
        at_every_look=cases.at_every_look,
    )


def middle(values: Sequence[float], *, relative: bool) -> float:
    """Return what stands for the runs of a case. Logarithms have heavy tails, so their median; the
    median of shares would be the vote of a majority."""
    if not relative:
        return fmean(values)
    half, is_odd = divmod(len(values), 2)
    logs = [math.log(value) for value in sorted(values)[half - 1 + is_odd : half + 1]]
    return logs[0] if is_odd else (logs[0] + logs[1]) / 2
