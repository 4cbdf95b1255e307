"""The metrics of two sections that have columns of their own: calls by tool, and the overhead of a
mode. The sections compute them, by key."""

from swarm_bench.core.metric import Metric, Style

TOOLS = (
    Metric(
        key="calls",
        title="Calls per trial",
        unit="calls",
        style=Style.WHOLE,
        definition="Median over the trials, 0 for one that made none (tool_calls).",
    ),
    Metric(
        key="failed",
        title="Failed calls",
        unit="calls",
        style=Style.WHOLE,
        definition="Calls that came back with an error, summed over the trials (tool_failures).",
    ),
    Metric(
        key="empty",
        title="Empty answers",
        unit="answers",
        style=Style.WHOLE,
        definition="Answers without an error that have nothing in them, summed over the trials "
        "(tool_answers).",
    ),
    Metric(
        key="error_texts",
        title="Error texts",
        unit="answers",
        style=Style.WHOLE,
        definition="Answers that are error texts and do not say so otherwise, summed over the "
        "trials (tool_answers).",
    ),
    Metric(
        key="seconds_per_call",
        title="Time per call",
        unit="seconds",
        style=Style.SECONDS,
        definition="Time in which a call was open, from the call to its result, divided by the "
        "calls of all trials (tool_seconds): two calls of half a second made together "
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
        "trials (tool_result_tokens).",
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
        definition="Names, descriptions and schemas of these tools, counted by us (tool_tokens).",
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
        definition="Of the first request, as the agent reports it (prompt_cost); it is in no "
        "other figure.",
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
