"""The metrics of how agents end, of the turns, calls, time and memory that they take, and of what
the programs asked of the rehearsal server."""

from swarm_bench.analysis.aggregates import read_field, sum_over_tools
from swarm_bench.core.metric import Better, Column, How, Metric, Row, Style
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Status

ANSWERS = "Answers"
_ENDED_WELL = {None, Status.COMPLETED}


def has_succeeded(trial: TrialRecord) -> bool | None:
    """Whether the trial ended by itself with an answer of more than one line."""
    if trial.status not in _ENDED_WELL or (trial.result_lines or 0) <= 1:
        return False
    return None if trial.compacted is None else not trial.compacted


EFFORT = (
    Metric(
        key="success_rate",
        title="Success rate (non-empty, not compacted)",
        phrase="gave an answer in {} of the trials",
        unit="true or false",
        style=Style.AVERAGE,
        definition="Trials that ended by themselves with an answer of more than one line, in fewer "
        "turns than the budget. It says nothing about whether the answer is right.",
        better=Better.HIGHER,
        read=has_succeeded,
        relative=False,
        row=Row(table=ANSWERS, how=How.SHARE),
    ),
    Metric(
        key="avg_output_lines",
        title="Avg output lines",
        unit="lines",
        style=Style.AVERAGE,
        definition="Mean lines of the answers there are.",
        read=read_field("result_lines"),
        row=Row(table=ANSWERS, how=How.MEAN),
    ),
    Metric(
        key="num_turns",
        title="Turns (agents' own count)",
        unit="turns",
        style=Style.WHOLE,
        definition="Turns, as the agent counts them (swarm-bench docs agents).",
        better=Better.LOWER,
        read=read_field("num_turns"),
        spent=True,
        row=Row(
            table=ANSWERS,
            how=How.MEAN,
            title="Avg turns used",
            definition="Mean turns of the agents that report them.",
        ),
        column=Column(title="Turns"),
        page="Turns",
    ),
    Metric(
        key="requests",
        title="Requests",
        unit="requests",
        style=Style.WHOLE,
        definition="Requests of the main conversation. The budget of turns is about them; Claude "
        "Code's own count of turns also has every tool result.",
        better=Better.LOWER,
        read=read_field("requests"),
        spent=True,
        row=Row(
            table=ANSWERS,
            how=How.MEAN,
            title="Avg model requests",
            definition="Mean requests of the main conversation, which the budget of turns counts.",
        ),
    ),
    Metric(
        key="tool_calls",
        title="Tool calls",
        unit="calls",
        style=Style.WHOLE,
        definition="Calls, summed over the tools.",
        better=Better.LOWER,
        read=sum_over_tools("tool_calls"),
        spent=True,
    ),
    Metric(
        key="tool_result_tokens",
        title="Tool result tokens",
        unit="tokens",
        style=Style.WHOLE,
        definition="Tokens of the results, counted by us, summed over the tools.",
        better=Better.LOWER,
        read=sum_over_tools("tool_result_tokens"),
        spent=True,
    ),
    Metric(
        key="completed",
        title="Completed",
        unit="true or false",
        style=Style.AVERAGE,
        definition="Whether the trial completed.",
        better=Better.HIGHER,
        read=lambda trial: trial.status is Status.COMPLETED,
        relative=False,
        of_failed=True,
    ),
)

_TABLE = "Rehearsal"

REHEARSAL = (
    Metric(
        key="rehearsal_requests",
        title="Model requests/agent",
        unit="requests",
        style=Style.WHOLE,
        definition="Answers that the agent asked the server for.",
        read=read_field("rehearsal_requests"),
        row=Row(
            table=_TABLE,
            how=How.MEAN,
            definition="Mean number of answers that an agent asked the server for, those of "
            "sub-agents and titles included.",
        ),
        rehearsal_only=True,
    ),
    Metric(
        key="rehearsal_request_tokens",
        title="First request",
        unit="tokens",
        style=Style.WHOLE,
        definition="The first request that offered tools.",
        read=read_field("rehearsal_request_tokens"),
        row=Row(
            table=_TABLE,
            how=How.WHOLE_MEAN,
            definition="Mean size of an agent's first request that offered tools: system prompt, "
            "tools and task.",
        ),
        rehearsal_only=True,
    ),
    Metric(
        key="rehearsal_tool_tokens",
        title="Tools, in every request",
        unit="tokens",
        style=Style.WHOLE,
        definition="The descriptions of all tools that were offered.",
        read=read_field("rehearsal_tool_tokens"),
        row=Row(
            table=_TABLE,
            how=How.WHOLE_MEAN,
            definition="Mean size of the descriptions of all tools that were offered.",
        ),
        rehearsal_only=True,
    ),
    Metric(
        key="rehearsal_mcp_tokens",
        title="The mode's MCP tools, in every request",
        unit="tokens",
        style=Style.WHOLE,
        definition="The descriptions of the tools of the mode's MCP servers.",
        read=read_field("rehearsal_mcp_tokens"),
        row=Row(
            table=_TABLE,
            how=How.WHOLE_MEAN,
            definition="Of them, those of the mode's MCP servers.",
        ),
        rehearsal_only=True,
        tool_only=True,
    ),
    Metric(
        key="rehearsal_faults",
        title="Faults played",
        unit="requests",
        style=Style.WHOLE,
        definition="Requests to the server that were answered with a fault.",
        read=read_field("rehearsal_faults"),
        row=Row(
            table=_TABLE,
            how=How.TOTAL,
            definition="Requests that were answered with a fault, summed over the agents.",
        ),
        rehearsal_only=True,
    ),
)

SPENDING = "Time, tokens and cost"

TIMES = (
    Metric(
        key="duration_s",
        title="Agent's own time",
        unit="seconds",
        style=Style.SECONDS,
        definition="The time that the agent itself reports.",
        better=Better.LOWER,
        read=read_field("duration_s"),
        row=Row(
            table=SPENDING,
            how=How.LARGEST,
            title="Max agent time",
            definition="The slowest agent, by the agents' own clocks.",
        ),
        column=Column(title="Duration"),
        page="Duration",
    ),
    Metric(
        key="wall_seconds",
        title="Wall time",
        phrase="took {}",
        unit="seconds",
        style=Style.SECONDS,
        definition="From the start of the agent's own process to its end, by our clock.",
        better=Better.LOWER,
        read=read_field("wall_seconds"),
        row=Row(
            table=SPENDING,
            how=How.LARGEST,
            title="Max wall time",
            definition="The slowest agent by our clock, from the start of its process to the end "
            "of the last process it left.",
        ),
    ),
    Metric(
        key="api_seconds",
        title="Time waiting for the model",
        unit="seconds",
        style=Style.SECONDS,
        definition="Time the agent waited for its model, as it measures it.",
        better=Better.LOWER,
        read=read_field("api_seconds"),
    ),
    Metric(
        key="tool_seconds",
        title="Time in tools",
        unit="seconds",
        style=Style.SECONDS,
        definition="Time in which a call was open, summed over the tools.",
        better=Better.LOWER,
        read=sum_over_tools("tool_seconds"),
    ),
    Metric(
        key="cpu_seconds",
        title="CPU time",
        unit="seconds",
        style=Style.SECONDS,
        definition="Sampled over the process tree; short processes can be missing.",
        better=Better.LOWER,
        read=read_field("cpu_seconds"),
    ),
    Metric(
        key="peak_memory_bytes",
        title="Peak memory",
        unit="bytes",
        style=Style.WHOLE,
        definition="Largest sampled sum over the process tree.",
        better=Better.LOWER,
        read=read_field("peak_memory_bytes"),
    ),
)
