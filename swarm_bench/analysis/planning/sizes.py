"""The plan of a series of growing swarms."""

from collections.abc import Mapping

from swarm_bench.analysis.planning.planned import (
    PlannedSession,
    describe_cost,
    describe_plan,
    format_hours,
    make_entry,
)
from swarm_bench.core.report.plan import Entry, Plan


def describe_sizes(planned: Mapping[int, PlannedSession]) -> tuple[Plan, ...]:
    """Describe the plan of each size."""
    return tuple(describe_plan(session, f"Swarms of {size}") for size, session in planned.items())


def describe_together(planned: Mapping[int, PlannedSession]) -> tuple[Entry, ...]:
    """Say what the plans of all sizes come to."""
    remaining = sum(session.remaining for session in planned.values())
    done = sum(len(session.rows) for session in planned.values()) - remaining
    longest = format_hours(sum(session.longest for session in planned.values()))
    total = make_entry("All sizes", f"{remaining} trials to run, {done} done; at most {longest}")
    return (total, *describe_cost(next(iter(planned.values())), remaining))
