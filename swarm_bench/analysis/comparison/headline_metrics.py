"""The metrics that a headline compares, by their keys, and their values."""

from collections.abc import Iterable, Mapping, Sequence

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.readings import USE, read_column, select_results
from swarm_bench.analysis.selection import Selection, Trials
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.ratios import Column
from swarm_bench.core.session.records import Treatment

TIMES = ("wall_seconds", "duration_s")
REQUESTS, TURNS = "requests", "num_turns"
SPENDING = (REQUESTS, TURNS, "total_tokens", "effective_tokens", "cost", "result_lines")
"""Metrics that depend on the decisions of a model, or of fixed rules in the place of one."""
RATIOS = (*TIMES, *SPENDING)


_DOLLARS = "US dollars"


def select_billed(metrics: Iterable[Metric], selection: Selection) -> tuple[Metric, ...]:
    """Leave out dollars where there is no bill, but for those that a verdict is asked on. The
    records keep them, and exports show them."""
    primary = selection.data.experiment.primary
    return tuple(
        metric
        for metric in metrics
        if not selection.fixed_rules or metric.unit != _DOLLARS or metric.key == primary
    )


def list_headline_metrics(selection: Selection) -> tuple[Metric, ...]:
    """List the metrics to compare: what fixed rules spent says nothing of a tool."""
    return (
        list_time_metrics(selection)
        if selection.fixed_rules
        else (*list_time_metrics(selection), *list_spending_metrics(selection))
    )


def list_time_metrics(selection: Selection) -> tuple[Metric, ...]:
    """List the metrics of time, and those of packages that do not depend on a model's decisions."""
    return (*selection.metrics.named(TIMES), *_list_package_metrics(selection, is_spent=False))


@once
def list_spending_metrics(selection: Selection) -> tuple[Metric, ...]:
    """List what is spent, with requests or turns, whichever can be compared."""
    compared_trials = (
        trial for mode in selection.modes for trial in selection.get_arm(mode).compared_trials
    )
    pairs = {(trial.requests is None, trial.num_turns is None) for trial in compared_trials}
    present = pairs - {(True, True)}
    has_requests = bool(present) and not any(missing for missing, _ in present)
    omitted_key = TURNS if has_requests else REQUESTS
    keys = [key for key in SPENDING if key != omitted_key]
    metrics = (*selection.metrics.named(keys), *_list_package_metrics(selection, is_spent=True))
    return select_billed(metrics, selection)


@once
def select_trials(selection: Selection, side: Column) -> Trials:
    """Return the trials that are compared in a column."""
    trials = selection.get_arm(side.mode).compared_trials
    return tuple(t for t in trials if not side.as_used or t.retrieval is Treatment.USED)


@once
def select_rows(selection: Selection, side: Column) -> list[int]:
    """Return the numbers of these trials among those of the mode that count."""
    uses = read_column(selection, side.mode, USE)
    results = select_results(selection, side.mode)
    return [row for row in results if not side.as_used or uses[row] is Treatment.USED]


@once
def read_values(selection: Selection, side: Column) -> Mapping[str, Sequence[float | None]]:
    """Read the metrics that can be compared, by key with a value for each trial."""
    rows = select_rows(selection, side)
    reads = {
        m.key: m.read
        for m in (*list_time_metrics(selection), *list_spending_metrics(selection))
        if m.read
    }
    columns = {key: read_column(selection, side.mode, read) for key, read in reads.items()}
    return {key: [values[row] for row in rows] for key, values in columns.items()}


def _list_package_metrics(selection: Selection, *, is_spent: bool) -> tuple[Metric, ...]:
    return tuple(metric for metric in selection.metrics.compared if metric.spent is is_spent)
