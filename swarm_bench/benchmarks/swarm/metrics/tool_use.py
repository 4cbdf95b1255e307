"""The metrics of what the retrieval tool was asked."""

from swarm_bench.analysis.aggregates import read_counter, read_field, sum_by_name
from swarm_bench.core.metric import Better, How, Metric, Row, Style
from swarm_bench.core.session.records import Treatment, TrialRecord
from swarm_bench.retrieval.probes.feedback import FeedbackProbe
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe

RETRIEVAL = "Retrieval"


def _is_used(trial: TrialRecord) -> bool | None:
    if trial.retrieval in {None, Treatment.UNKNOWN}:
        return None
    return trial.retrieval is Treatment.USED


TOOL_USE = (
    Metric(
        key="tool_used",
        title="Trials that used the tool",
        unit="true or false",
        style=Style.AVERAGE,
        definition="Trials in which a call of a tool of the mode that retrieves was answered "
        "without an error (retrieval: used).",
        read=_is_used,
        relative=False,
        row=Row(table=RETRIEVAL, how=How.SHARE),
        tool_only=True,
    ),
    Metric(
        key="mcp_calls",
        title="Tool calls over MCP",
        unit="calls",
        style=Style.WHOLE,
        definition="Calls of MCP tools in the transcript.",
        read=read_field("mcp_calls"),
        row=Row(
            table=RETRIEVAL,
            how=How.TOTAL,
            definition="Calls of MCP tools in the transcripts, summed over the agents (mcp_calls).",
        ),
        tool_only=True,
    ),
    Metric(
        key="tool_failures",
        title="Failed tool calls",
        unit="calls",
        style=Style.WHOLE,
        definition="Calls of any tool, built-in ones too, that came back with an error, summed "
        "over the agents (tool_failures).",
        better=Better.LOWER,
        read=sum_by_name("tool_failures"),
        row=Row(table=RETRIEVAL, how=How.TOTAL),
    ),
    Metric(
        key="local_queries",
        title="Local query events",
        unit="events",
        style=Style.WHOLE,
        definition="Queries that .canopy/feedback.db recorded while the agents ran (query_events).",
        read_swarm=read_counter(FeedbackProbe.name, "query_events"),
        row=Row(table=RETRIEVAL, how=How.TOTAL),
        probe=FeedbackProbe.name,
    ),
    Metric(
        key="local_expands",
        title="Local expand events",
        unit="events",
        style=Style.WHOLE,
        definition="Expansions of a handle that .canopy/feedback.db recorded (expand_events).",
        read_swarm=read_counter(FeedbackProbe.name, "expand_events"),
        row=Row(table=RETRIEVAL, how=How.TOTAL),
        probe=FeedbackProbe.name,
    ),
    Metric(
        key="service_queries",
        title="Service /query calls",
        unit="requests",
        style=Style.WHOLE,
        definition="The service's counter of queries, which includes its evidence packs (queries).",
        read_swarm=read_counter(ServiceMetricsProbe.name, "queries"),
        row=Row(table=RETRIEVAL, how=How.TOTAL),
        probe=ServiceMetricsProbe.name,
    ),
    Metric(
        key="service_packs",
        title="Service /evidence_pack calls",
        unit="requests",
        style=Style.WHOLE,
        definition="Evidence packs among them; only the embedded canopy counts them "
        "(evidence_packs).",
        read_swarm=read_counter(ServiceMetricsProbe.name, "evidence_packs"),
        row=Row(table=RETRIEVAL, how=How.TOTAL),
        probe=ServiceMetricsProbe.name,
    ),
    Metric(
        key="service_expands",
        title="Service /expand calls",
        unit="requests",
        style=Style.WHOLE,
        definition="Requests to expand, each for one or more handles (expands).",
        read_swarm=read_counter(ServiceMetricsProbe.name, "expands"),
        row=Row(table=RETRIEVAL, how=How.TOTAL),
        probe=ServiceMetricsProbe.name,
    ),
    Metric(
        key="index_seconds",
        title="Indexing per swarm",
        unit="seconds",
        style=Style.SECONDS,
        definition="Service: from the request to index until ready. Standalone: from the first to "
        "the last change of the index while the agents ran, whose time includes it; of a "
        "preparation how long it took before they started.",
        better=Better.LOWER,
        read_swarm=lambda swarm: swarm.index_seconds,
        row=Row(
            table=RETRIEVAL,
            how=How.MEDIAN,
            title="Indexing time",
            definition="What a service, a mode's prepare or a warm index takes before the agents "
            "start, without its warm_up; of a copied one what the first took. Canopy's cold "
            "standalone index: from its first to its last change while the agents run, so it is "
            "part of their time (index_seconds).",
        ),
        tool_only=True,
    ),
)
