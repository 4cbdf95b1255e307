"""Where metrics are read: a key of a trial's record, or a counter of a swarm's."""

from math import isfinite
from operator import attrgetter

from swarm_bench.core.metric import ReadSwarm, ReadTrial
from swarm_bench.core.session.records import SwarmRecord, TrialRecord


def read_field(key: str) -> ReadTrial:
    """Read a figure under its key in the record."""
    return attrgetter(key)


def sum_by_name(key: str) -> ReadTrial:
    """Sum a figure that the record has by name."""

    def read(trial: TrialRecord) -> float | None:
        figures = getattr(trial, key)
        return None if figures is None else sum(figures.values())

    return read


def sum_over_tools(key: str) -> ReadTrial:
    """Sum a figure over the tools; `None` when it lacks a tool that was called."""

    def read(trial: TrialRecord) -> float | None:
        figures = getattr(trial, key)
        if figures is None or not (trial.tool_calls or {}).keys() <= figures.keys():
            return None
        return float(sum(figures.values()))

    return read


def read_counter(probe: str, key: str) -> ReadSwarm:
    """Read a retrieval tool's counter. Broken-off swarms have it too: their agents asked the same
    tool."""

    def read(swarm: SwarmRecord) -> float | None:
        return read_finite((swarm.difference.get(probe) or {}).get(key))

    return read


def read_finite(value: object) -> float | None:
    """Return a counter as a number; `None` for anything else that a tool may put there."""
    return value if isinstance(value, (int, float)) and isfinite(value) else None
