"""Turns the trials of a mode in one run into one value, and the values of the runs into a figure.

Nothing missing becomes 0: a value that was not given is left out and counted as missing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from statistics import fmean, median
from typing import Any

from swarm_bench.analysis.selection import Slice
from swarm_bench.core.report.report import Figure
from swarm_bench.core.session.records import SwarmRecord, TrialRecord


@dataclass(frozen=True)
class Value:
    """What one run gives, and how many trials or swarms it lacks."""

    value: float | None
    missing: int


Aggregate = Callable[[Slice], Value]
Check = Callable[[TrialRecord], bool | None]
"""`None` when the trial does not tell."""


def over_runs(values: Iterable[Value]) -> Figure:
    """The median over runs, with the range."""
    values = list(values)
    known = [value.value for value in values if value.value is not None]
    missing = sum(value.missing for value in values)
    if not known:
        return Figure(value=None, missing=missing)
    return Figure(
        value=median(known), low=min(known), high=max(known), runs=len(known), missing=missing
    )


def total(key: str) -> Aggregate:
    """Sum over the agents."""
    return _reduced(key, sum)


def total_of_calls(key: str) -> Aggregate:
    """Sum over the agents and over the tools of each."""
    return _reduced(key, lambda calls: sum(sum(by_tool.values()) for by_tool in calls))


def largest(key: str) -> Aggregate:
    return _reduced(key, max)


def mean(key: str) -> Aggregate:
    return _reduced(key, fmean)


def whole_mean(key: str) -> Aggregate:
    """The mean without its decimals, as canopy's script divides."""
    return _reduced(key, lambda values: sum(values) // len(values))


def _reduced(key: str, reduce: Callable[[list[Any]], float]) -> Aggregate:
    def aggregate(part: Slice) -> Value:
        given = [getattr(trial, key) for trial in part.trials]
        known = [value for value in given if value is not None]
        return Value(
            value=reduce(known) if known else None,
            missing=len(given) - len(known) + part.absent,
        )

    return aggregate


def share(check: Check) -> Aggregate:
    """Trials that pass, of those that tell."""
    return _checked(check, fmean)


def number(check: Check) -> Aggregate:
    """How many trials pass."""
    return _checked(check, sum)


def _checked(check: Check, reduce: Callable[[list[bool]], float]) -> Aggregate:
    def aggregate(part: Slice) -> Value:
        told = [verdict for trial in part.trials if (verdict := check(trial)) is not None]
        answers = [trial for trial in part.trials if trial.result_lines is not None]
        if answers and all(check(trial) is None for trial in answers):
            # Only trials without an answer told, and they say no to anything.
            told = []
        return Value(
            value=reduce(told) if told else None,
            missing=len(part.trials) - len(told) + part.absent,
        )

    return aggregate


def counter(probe: str, key: str) -> Aggregate:
    """Sum of a retrieval counter over the swarms of the run, broken-off ones included: their
    agents asked the same tool."""
    return _from_swarms(lambda swarm: (swarm.difference.get(probe) or {}).get(key), sum)


def index_seconds() -> Aggregate:
    """The typical indexing of the run; in most runs there is one."""
    return _from_swarms(lambda swarm: swarm.index_seconds, median)


def _from_swarms(
    read: Callable[[SwarmRecord], Any], reduce: Callable[[list[float]], float]
) -> Aggregate:
    def aggregate(part: Slice) -> Value:
        known: list[float] = []
        covered: set[int] = set()
        for swarm in part.swarms:
            value = finite(read(swarm))
            if value is not None:
                known.append(value)
                covered.update(swarm.agents)
        uncovered = sum(trial.agent not in covered for trial in part.trials)
        return Value(value=reduce(known) if known else None, missing=uncovered + part.absent)

    return aggregate


def finite(value: object) -> float | None:
    """A counter as a number; `None` for anything else that a tool may put there."""
    return value if isinstance(value, (int, float)) and isfinite(value) else None
