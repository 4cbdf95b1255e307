"""The plan of a series of growing swarms."""

from collections.abc import Mapping

from swarm_bench.analysis.planning.planned import Planned, cost_entries, describe, entry, hours
from swarm_bench.core.report.plan import Entry, Plan


def describe_sizes(planned: Mapping[int, Planned]) -> tuple[Plan, ...]:
    """Describe the plan of each size."""
    return tuple(describe(session, f"Swarms of {size}") for size, session in planned.items())


def together(planned: Mapping[int, Planned]) -> tuple[Entry, ...]:
    """Say what the plans of all sizes come to."""
    remaining = sum(session.remaining for session in planned.values())
    done = sum(len(session.rows) for session in planned.values()) - remaining
    longest = hours(sum(session.longest for session in planned.values()))
    total = entry("All sizes", f"{remaining} trials to run, {done} done; at most {longest}")
    return (total, *cost_entries(next(iter(planned.values())), remaining))
