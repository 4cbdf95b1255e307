"""The plan of a series of growing swarms."""

from collections.abc import Mapping

from swarm_bench.reports.plan.plan import Planned, cost, hours, render_plan


def render_series_plan(planned: Mapping[int, Planned]) -> str:
    """The plan of each size, and what they come to."""
    parts = [
        f"Swarms of {size}\n{'-' * len(f'Swarms of {size}')}\n{render_plan(one)}\n"
        for size, one in planned.items()
    ]
    left = sum(one.left for one in planned.values())
    done = sum(len(one.rows) for one in planned.values()) - left
    longest = hours(sum(one.longest for one in planned.values()))
    total = f"All sizes: {left} trials to run, {done} done; at most {longest}\n"
    paid = cost(next(iter(planned.values())), left)
    return "".join([*parts, total, f"Cost:      {paid}\n" if paid else ""])
