"""The metrics of the retrieval tool: what it was asked, what it showed of the key's files, its
calls by tool, the overhead of its mode, and what only a sweep over sizes of swarms shows. Sections
and the sweep compute the last three, by key."""

from swarm_bench.analysis.aggregates import read_counter, read_field, sum_by_name
from swarm_bench.benchmarks.swarm.metrics.answers import read_score
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
            definition="Calls of MCP tools in the transcripts, summed over the agents.",
        ),
        tool_only=True,
    ),
    Metric(
        key="tool_failures",
        title="Failed tool calls",
        unit="calls",
        style=Style.WHOLE,
        definition="Calls of any tool, built-in ones too, that came back with an error, summed "
        "over the agents.",
        better=Better.LOWER,
        read=sum_by_name("tool_failures"),
        row=Row(table=RETRIEVAL, how=How.TOTAL),
    ),
    Metric(
        key="local_queries",
        title="Local query events",
        unit="events",
        style=Style.WHOLE,
        definition="Queries that .canopy/feedback.db recorded while the agents ran.",
        read_swarm=read_counter(FeedbackProbe.name, "query_events"),
        row=Row(table=RETRIEVAL, how=How.TOTAL),
        probe=FeedbackProbe.name,
    ),
    Metric(
        key="local_expands",
        title="Local expand events",
        unit="events",
        style=Style.WHOLE,
        definition="Expansions of a handle that .canopy/feedback.db recorded.",
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
        definition="Evidence packs among them; only the embedded canopy counts them.",
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
            "start, without its warm-up call; of a copied one what the first took. Canopy's cold "
            "standalone index: from its first to its last change while the agents run, so it is "
            "part of their time.",
        ),
        tool_only=True,
    ),
)

TOOLS = (
    Metric(
        key="calls",
        title="Calls per trial",
        unit="calls",
        style=Style.WHOLE,
        definition="Median over the trials, 0 for one that made none.",
    ),
    Metric(
        key="failed",
        title="Failed calls",
        unit="calls",
        style=Style.WHOLE,
        definition="Calls that came back with an error, summed over the trials.",
    ),
    Metric(
        key="empty",
        title="Empty answers",
        unit="answers",
        style=Style.WHOLE,
        definition="Answers without an error that have nothing in them, summed over the trials.",
    ),
    Metric(
        key="error_texts",
        title="Error texts",
        unit="answers",
        style=Style.WHOLE,
        definition="Answers that are error texts and do not say so otherwise, summed over the "
        "trials.",
    ),
    Metric(
        key="seconds_per_call",
        title="Time per call",
        unit="seconds",
        style=Style.SECONDS,
        definition="Time in which a call was open, from the call to its result, divided by the "
        "calls of all trials: two calls of half a second made together "
        "count as a quarter each.",
    ),
    Metric(
        key="seconds",
        title="Time per trial",
        unit="seconds",
        style=Style.SECONDS,
        definition="Time in which a call of the tool was open, the median over the trials.",
    ),
    Metric(
        key="tokens",
        title="Tokens returned per trial",
        unit="tokens",
        style=Style.WHOLE,
        definition="What the results put before the model, counted by us, the median over the "
        "trials.",
    ),
)
OVERHEAD = (
    Metric(
        key="tools",
        title="Tools",
        unit="tools",
        style=Style.WHOLE,
        definition="Tools of all servers of the mode.",
    ),
    Metric(
        key="tool_tokens",
        title="Tool descriptions",
        unit="tokens",
        style=Style.WHOLE,
        definition="Names, descriptions and schemas of these tools, counted by us.",
    ),
    Metric(
        key="server_instruction_tokens",
        title="Server instructions",
        unit="tokens",
        style=Style.WHOLE,
        definition="What the servers tell a model about themselves, counted by us.",
    ),
    Metric(
        key="mode_instruction_tokens",
        title="Mode's instructions",
        unit="tokens",
        style=Style.WHOLE,
        definition="What stands before every task, counted by us.",
    ),
    Metric(
        key="prompt_tokens",
        title="First request",
        unit="tokens",
        style=Style.WHOLE,
        definition="All input of the one request that an empty task makes, as the agent "
        "reports it.",
    ),
    Metric(
        key="prompt_difference",
        title="More than the reference",
        unit="tokens",
        style=Style.WHOLE,
        definition="The first request without that of the reference.",
    ),
    Metric(
        key="prompt_cost",
        title="Its cost",
        unit="US dollars",
        style=Style.DOLLARS,
        definition="Of the first request, as the agent reports it; it is in no other figure.",
    ),
    Metric(
        key="server_seconds",
        title="Server answered after",
        unit="seconds",
        style=Style.SECONDS,
        definition="From its start until it had answered initialize and tools/list; of several "
        "servers the slowest.",
    ),
)

SWEEPING = (
    Metric(
        key="call_seconds",
        title="Time per call",
        unit="seconds",
        style=Style.SECONDS,
        definition="Of the mode's tools, from a call to its result; the median over trials.",
        better=Better.LOWER,
        tool_only=True,
    ),
    Metric(
        key="failed_calls",
        title="Failed calls",
        unit="calls",
        style=Style.WHOLE,
        definition="Of the mode's tools, in all trials but contaminated ones.",
        better=Better.LOWER,
        tool_only=True,
    ),
    Metric(
        key="unanswered",
        title="Trials without an answer",
        unit="trials",
        style=Style.WHOLE,
        definition="Trials that did not complete, for whatever reason.",
        better=Better.LOWER,
    ),
    Metric(
        key="hit_rate",
        title="Query cache hits",
        unit="percent",
        style=Style.PERCENT,
        definition="Of the queries that the service counted, those it answered from its cache.",
        better=Better.HIGHER,
        probe=ServiceMetricsProbe.name,
    ),
)

SEEING = "What the agents saw"
_SHARES = (
    ("seen_recall", "Key's files seen", "Share of the key's files that a tool call showed."),
    (
        "retrieved_precision",
        "Relevant part of what was seen",
        "Share of the files that tool calls showed that are in the key.",
    ),
)
_FIRST = (
    ("seen_first_turn", "Turns to the first right file", "turns", Style.AVERAGE),
    ("seen_first_call", "Tool calls to the first right file", "calls", Style.AVERAGE),
    ("seen_first_seconds", "Time to the first right file", "seconds", Style.SECONDS),
    ("seen_first_tokens", "Tokens to the first right file", "tokens", Style.WHOLE),
)

SEEING_METRICS = (
    *(
        Metric(
            key=key,
            title=title,
            unit="0 to 1",
            style=Style.FRACTION,
            definition=f"{definition} The mean over tasks by their weight.",
            better=Better.HIGHER,
            read=read_score(key),
            relative=False,
            row=Row(table=SEEING, how=How.TASK_MEAN),
            keyed="files",
        )
        for key, title, definition in _SHARES
    ),
    *(
        Metric(
            key=key,
            title=title,
            unit=unit,
            style=style,
            definition="Until a tool call had shown a file of the key; the median. A trial in "
            "which none did is counted as missing.",
            better=Better.LOWER,
            read=read_score(key),
            relative=False,
            row=Row(table=SEEING, how=How.MEDIAN),
            keyed="files",
        )
        for key, title, unit, style in _FIRST
    ),
    Metric(
        key="seen_not_named",
        title="Seen but left out",
        unit="files",
        style=Style.AVERAGE,
        definition="Files of the key that a tool call showed and the answer does not name: the "
        "mean over tasks.",
        better=Better.LOWER,
        read=read_score("seen_not_named"),
        relative=False,
        row=Row(table=SEEING, how=How.TASK_MEAN),
        keyed="files",
    ),
)
