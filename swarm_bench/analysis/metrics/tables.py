"""The metrics of the summary, table by table."""

from swarm_bench.analysis.metrics.answers import ANSWERS
from swarm_bench.analysis.metrics.measure import Measure, metric
from swarm_bench.analysis.metrics.rehearsal import REHEARSAL
from swarm_bench.analysis.metrics.spending import SPENT
from swarm_bench.analysis.metrics.tool_use import RETRIEVAL
from swarm_bench.analysis.selection import Selection, compares, once
from swarm_bench.core.report.report import Metric, Style

TABLES: tuple[tuple[str, tuple[Measure, ...]], ...] = (
    ("Time, tokens and cost", SPENT),
    ("Answers", ANSWERS),
    ("Retrieval", RETRIEVAL),
    ("Rehearsal", REHEARSAL),
)

TIMES: tuple[Metric, ...] = (
    metric("wall_seconds", "Wall time", "ratio", Style.SECONDS, "wall_seconds of a trial."),
    metric("duration_s", "Agent's own time", "ratio", Style.SECONDS, "duration_s of a trial."),
)
REQUESTS = metric(
    "requests",
    "Requests",
    "ratio",
    Style.WHOLE,
    "requests of a trial, those of the main conversation, where all trials that are compared have "
    "them; else it is the next one.",
)
TURNS = metric(
    "num_turns",
    "Turns (agents' own count)",
    "ratio",
    Style.WHOLE,
    "num_turns of a trial: in some agents every result of a tool is one.",
)
SPENDING: tuple[Metric, ...] = (
    REQUESTS,
    TURNS,
    metric("total_tokens", "Reported tokens", "ratio", Style.WHOLE, "total_tokens of a trial."),
    metric(
        "effective_tokens", "Effective tokens", "ratio", Style.WHOLE, "effective_tokens of a trial."
    ),
    metric("cost", "Cost", "ratio", Style.DOLLARS, "cost of a trial."),
    metric("result_lines", "Output lines", "ratio", Style.WHOLE, "result_lines of a trial."),
)
"""What whoever thinks decides: a model, or fixed rules in the place of one."""

RATIOS = (*TIMES, *SPENDING)
"""The key is the key of the record."""


def of_headline(selection: Selection) -> tuple[Metric, ...]:
    """The metrics that a headline may compare: what fixed rules spent says nothing of a tool."""
    return TIMES if selection.fixed_rules else (*TIMES, *spending(selection))


@once
def spending(selection: Selection) -> tuple[Metric, ...]:
    """With requests or turns, whichever can be compared."""
    counted = [
        trial
        for trial in selection.trials
        if compares(trial) and (trial.requests, trial.num_turns) != (None, None)
    ]
    known = bool(counted) and all(trial.requests is not None for trial in counted)
    return tuple(metric for metric in SPENDING if metric is not (TURNS if known else REQUESTS))


INDEXING = metric(
    "index_seconds",
    "Indexing per swarm",
    "seconds",
    Style.SECONDS,
    "index_seconds of a swarm, the median over the mode's swarms; no ratio, since the baseline has "
    "none. Before the agents started (the mode's warm_up included) it is in no agent's time; while "
    "they ran it is part of it. Copied: swarms that got the index of an earlier one.",
)
