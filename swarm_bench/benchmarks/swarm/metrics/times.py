"""The metrics of time and memory."""

from swarm_bench.analysis.aggregates import read_field, sum_over_tools
from swarm_bench.core.metric import Better, Column, How, Metric, Row, Style

SPENDING = "Time, tokens and cost"

TIMES = (
    Metric(
        key="duration_s",
        title="Agent's own time",
        unit="seconds",
        style=Style.SECONDS,
        definition="duration_ms in seconds.",
        better=Better.LOWER,
        read=read_field("duration_s"),
        row=Row(
            table=SPENDING,
            how=How.LARGEST,
            title="Max agent time",
            definition="The slowest agent, by the agents' own clocks (duration_s).",
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
            "of the last process it left (wall_seconds).",
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
        definition="tool_seconds, summed over the tools.",
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
