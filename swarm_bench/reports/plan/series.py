"""The plan of a series of growing swarms."""

from collections.abc import Mapping

from swarm_bench.reports.plan.plan import Planned, cost, hours, render_plan


def render_series_plan(planned: Mapping[int, Planned]) -> str:
    """Write the plan of each size, and what they come to."""
    parts = [
        f"Swarms of {size}\n{'-' * len(f'Swarms of {size}')}\n{render_plan(plan)}\n"
        for size, plan in planned.items()
    ]
    remaining = sum(plan.remaining for plan in planned.values())
    done = sum(len(plan.rows) for plan in planned.values()) - remaining
    longest = hours(sum(plan.longest for plan in planned.values()))
    total = f"All sizes: {remaining} trials to run, {done} done; at most {longest}\n"
    paid = cost(next(iter(planned.values())), remaining)
    return "".join([*parts, total, f"Cost:      {paid}\n" if paid else ""])
