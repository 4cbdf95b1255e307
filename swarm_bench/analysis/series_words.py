"""What a series says in words."""

from collections.abc import Sequence

from swarm_bench.analysis.head import place_and_state
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report import Fact, Report
from swarm_bench.core.series import SeriesRow

_COSTS = {
    "call_seconds": ("a call of the tool takes", "as long"),
    "wall_seconds": ("an agent takes", "as long"),
    "index_seconds": ("indexing takes", "as long"),
    "effective_tokens": ("an agent spends", "the tokens"),
}
_COUNTS = {"failed_calls": "failed calls", "unanswered": "trials without an answer"}


def sentence(mode: str, rows: Sequence[SeriesRow], sizes: Sequence[int]) -> str:
    """The largest swarms against the smallest; empty with one size, or without figures."""
    said = [
        f"{_COSTS[row.metric.key][0]} {ratio:.2f} times {_COSTS[row.metric.key][1]}"
        for row in rows
        if row.metric.key in _COSTS and (ratio := row.cells[-1].ratio) is not None
    ]
    said += [
        f"there are {row.cells[-1].value:g} {_COUNTS[row.metric.key]} instead of "
        f"{row.cells[0].value:g}"
        for row in rows
        if row.metric.key in _COUNTS
        and None not in (row.cells[0].value, row.cells[-1].value)
        and row.cells[0].value != row.cells[-1].value
    ]
    if len(sizes) < 2 or not said:
        return ""
    return (
        f"{mode}: where {sizes[-1]} agents share a workspace instead of {sizes[0]}, "
        f"{', '.join(said)}."
    )


def facts(selections: Sequence[Selection], sizes: Sequence[int]) -> tuple[tuple[Fact, ...], ...]:
    experiment = selections[0].data.experiment
    if experiment is None:
        return ()
    return (
        (Fact(label="Repository", value=place_and_state(experiment.repository)),),
        (
            Fact(label="Agents in a workspace", value=", ".join(map(str, sizes))),
            Fact(label="Trials", value=f"{experiment.trials_per_mode} per mode and run"),
            Fact(label="Runs", value=", ".join(map(str, _runs(selections)))),
        ),
        (
            Fact(label="Agent", value=experiment.agent.label),
            Fact(label="Model", value=experiment.model or "the agent's default"),
            Fact(
                label="Tasks",
                value=f"{experiment.suite} ({experiment.tasks_asked} asked, the same in each size)",
            ),
        ),
    )


def warnings(
    selections: Sequence[Selection], reports: Sequence[Report], sizes: Sequence[int]
) -> tuple[str, ...]:
    """What each session warns of is told in its own summary."""
    found = []
    for size, selection, report in zip(sizes, selections, reports, strict=True):
        absent = sum(selection.data.planned.values()) - len(selection.trials)
        if absent > 0:
            found.append(f"Swarms of {size}: trials that have not been run: {absent}.")
        if report.warnings:
            found.append(
                f"Swarms of {size}: warnings in the session's own summary: {len(report.warnings)}; "
                f"read agents-{size}/summary.md before its figures."
            )
    if len(_runs(selections)) > 1:
        found.append("The sizes have different numbers of runs; go on with --continue.")
    return tuple(found)


def _runs(selections: Sequence[Selection]) -> list[int]:
    """The numbers of runs that differ."""
    runs = (one.data.experiment.runs for one in selections if one.data.experiment)
    return list(dict.fromkeys(runs))
