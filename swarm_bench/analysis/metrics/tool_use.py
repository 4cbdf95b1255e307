"""The metrics of what the retrieval tool was asked."""

from swarm_bench.analysis.metrics.aggregates import (
    counter,
    index_seconds,
    share,
    total,
    total_of_calls,
)
from swarm_bench.analysis.metrics.measure import Measure, metric
from swarm_bench.core.report.report import Style
from swarm_bench.core.session.records import Treatment, TrialRecord


def _used(trial: TrialRecord) -> bool | None:
    if trial.retrieval in {None, Treatment.UNKNOWN}:
        return None
    return trial.retrieval is Treatment.USED


RETRIEVAL = (
    Measure(
        metric=metric(
            "tool_used",
            "Trials that used the tool",
            "% of trials",
            Style.PERCENT,
            "Trials in which a call of a tool of the mode that retrieves was answered without an "
            "error (retrieval: used).",
        ),
        of=share(_used),
        tool_only=True,
    ),
    Measure(
        metric=metric(
            "mcp_calls",
            "Tool calls over MCP",
            "calls",
            Style.WHOLE,
            "Calls of MCP tools in the transcripts, summed over the agents (mcp_calls).",
        ),
        of=total("mcp_calls"),
        tool_only=True,
    ),
    Measure(
        metric=metric(
            "tool_failures",
            "Failed tool calls",
            "calls",
            Style.WHOLE,
            "Calls of any tool, built-in ones too, that came back with an error, summed over the "
            "agents (tool_failures).",
        ),
        of=total_of_calls("tool_failures"),
    ),
    Measure(
        metric=metric(
            "local_queries",
            "Local query events",
            "events",
            Style.WHOLE,
            "Queries that .canopy/feedback.db recorded while the agents ran (query_events).",
        ),
        of=counter("feedback", "query_events"),
        probe="feedback",
    ),
    Measure(
        metric=metric(
            "local_expands",
            "Local expand events",
            "events",
            Style.WHOLE,
            "Expansions of a handle that .canopy/feedback.db recorded (expand_events).",
        ),
        of=counter("feedback", "expand_events"),
        probe="feedback",
    ),
    Measure(
        metric=metric(
            "service_queries",
            "Service /query calls",
            "requests",
            Style.WHOLE,
            "The service's counter of queries, which includes its evidence packs (queries).",
        ),
        of=counter("service", "queries"),
        probe="service",
    ),
    Measure(
        metric=metric(
            "service_packs",
            "Service /evidence_pack calls",
            "requests",
            Style.WHOLE,
            "Evidence packs among them; only the embedded canopy counts them (evidence_packs).",
        ),
        of=counter("service", "evidence_packs"),
        probe="service",
    ),
    Measure(
        metric=metric(
            "service_expands",
            "Service /expand calls",
            "requests",
            Style.WHOLE,
            "Requests to expand, each for one or more handles (expands).",
        ),
        of=counter("service", "expands"),
        probe="service",
    ),
    Measure(
        metric=metric(
            "index_time",
            "Indexing time",
            "seconds",
            Style.SECONDS,
            "What a service, a mode's prepare or a warm index takes before the agents start, "
            "without its warm_up; of a copied one what the first took. Canopy's cold standalone "
            "index: from its first to its last change while the agents run, so it is part of their "
            "time (index_seconds).",
        ),
        of=index_seconds(),
        tool_only=True,
    ),
)
