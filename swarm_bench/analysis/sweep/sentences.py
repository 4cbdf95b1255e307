"""What a series says in words."""

from collections.abc import Mapping, Sequence

from swarm_bench.analysis.sections.head import describe_repository
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import join, quantify
from swarm_bench.core.report.document import Fact
from swarm_bench.core.report.report import Report
from swarm_bench.core.report.series import SeriesRow, Sizes

_COSTS = {
    "call_seconds": ("a call of the tool takes", "as long"),
    "wall_seconds": ("an agent takes", "as long"),
    "index_seconds": ("indexing takes", "as long"),
    "effective_tokens": ("an agent spends", "the tokens"),
}
DESCRIPTIVE = (
    "This is descriptive: nothing is tested, and the sizes ran one after the other, so whatever "
    "changed meanwhile (a busier machine, a slower provider) is in it too."
)
_QUALITY = {"file_recall": "recall is"}
_COUNTS = {"failed_calls": "failed calls", "unanswered": "trials without an answer"}


def write_sentence(mode: str, rows: Sequence[SeriesRow], sizes: Sizes, *, qualified: bool) -> str:
    """Compare the largest swarms with the smallest; empty with one size, or without figures."""
    clauses = [
        f"{_COSTS[row.metric.key][0]} {ratio:.2f} times {_COSTS[row.metric.key][1]}"
        for row in rows
        if row.metric.key in _COSTS and (ratio := row.cells[-1].ratio) is not None
    ]
    clauses += [
        f"there are {row.cells[-1].value:g} {_COUNTS[row.metric.key]} instead of "
        f"{row.cells[0].value:g}"
        for row in rows
        if row.metric.key in _COUNTS
        and None not in (row.cells[0].value, row.cells[-1].value)
        and row.cells[0].value != row.cells[-1].value
    ]
    clauses += [
        f"{title} {row.cells[-1].value:.2f} instead of {row.cells[0].value:.2f}"
        for row in rows
        if (title := _QUALITY.get(row.metric.key))
        and None not in (row.cells[0].value, row.cells[-1].value)
        and row.cells[0].value != row.cells[-1].value
    ]
    if len(sizes) < 2 or not clauses:
        return ""
    return (
        f"{mode}: where {sizes[-1]} agents share a workspace instead of {sizes[0]}, "
        f"{join(clauses)}." + (" Caveats: see the headline." if qualified else "")
    )


def make_facts(selections: Mapping[int, Selection]) -> tuple[tuple[Fact, ...], ...]:
    experiment = next(iter(selections.values())).data.experiment
    sizes = [
        f"{size} (not run)" if size not in selections else str(size)
        for size in sorted({*selections, *_find_planned(selections)})
    ]
    return (
        (Fact(label="Repository", value=describe_repository(experiment.repository)),),
        (
            Fact(label="Agents in a workspace", value=", ".join(sizes)),
            Fact(label="Trials", value=f"{experiment.trials_per_mode} per mode and run"),
            Fact(label="Runs", value=", ".join(map(str, _list_runs(selections)))),
        ),
        (
            Fact(label="Agent", value=experiment.agent.label),
            Fact(label="Model", value=experiment.model_label),
            Fact(
                label="Tasks",
                value=f"{experiment.suite} ({experiment.tasks_asked} asked, the same in each size)",
            ),
        ),
    )


def list_warnings(
    selections: Mapping[int, Selection], reports: Sequence[Report]
) -> tuple[str, ...]:
    """Say what is missing, and where each session's own warnings stand."""
    sentences = [
        f"{quantify(size, 'agent')}: not run; --continue runs it."
        for size in sorted(_find_planned(selections) - {*selections})
    ]
    for (size, selection), report in zip(selections.items(), reports, strict=True):
        absent = sum(selection.data.planned.values()) - len(selection.trials)
        if absent > 0:
            sentences.append(f"Swarms of {size}: trials that have not been run: {absent}.")
        if report.warnings:
            sentences.append(
                f"Swarms of {size}: warnings in the session's own summary: {len(report.warnings)}; "
                f"read agents-{size}/summary.md before its figures."
            )
    if len(_list_runs(selections)) > 1:
        sentences.append(
            "The sizes have different numbers of runs; add the missing ones with --continue."
        )
    return tuple(sentences)


def _find_planned(selections: Mapping[int, Selection]) -> set[int]:
    """Return the sizes that any session of the series was started with."""
    experiments = (selection.data.experiment for selection in selections.values())
    agent_settings = (experiment.settings.get("agents") for experiment in experiments)
    return {size for setting in agent_settings if setting for size in setting.value}


def _list_runs(selections: Mapping[int, Selection]) -> list[int]:
    """List the different numbers of runs."""
    runs = (selection.data.experiment.runs for selection in selections.values())
    return list(dict.fromkeys(runs))
