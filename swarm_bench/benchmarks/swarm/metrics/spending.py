"""The metrics of tokens and cost, and of what interrupts their spending."""

from swarm_bench.analysis.aggregates import read_field, sum_by_name
from swarm_bench.benchmarks.swarm.metrics.effort import SPENDING
from swarm_bench.core.metric import Better, Column, How, Metric, Row, Style
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause


def _is_out_of_turns(trial: TrialRecord) -> bool | None:
    return None if trial.cause is None else trial.cause is Cause.MAX_TURNS


SPENDING_METRICS = (
    Metric(
        key="total_tokens",
        title="Reported tokens",
        unit="tokens",
        style=Style.WHOLE,
        definition="Reported tokens: input_tokens + cache_create + output_tokens.",
        better=Better.LOWER,
        read=read_field("total_tokens"),
        spent=True,
        row=Row(
            table=SPENDING,
            how=How.TOTAL,
            title="Total reported tokens",
            definition="Input + cache creation + output, summed over the agents (total_tokens).",
        ),
        column=Column(title="Reported Tokens"),
        page="Reported tokens (input + cache_create + output)",
    ),
    Metric(
        key="effective_tokens",
        title="Effective tokens",
        phrase="used {} tokens",
        unit="tokens",
        style=Style.WHOLE,
        definition="total_tokens + cache_read.",
        better=Better.LOWER,
        read=read_field("effective_tokens"),
        spent=True,
        row=Row(
            table=SPENDING,
            how=How.TOTAL,
            title="Total effective tokens (includes cache read)",
            definition="Reported tokens + cache read, summed over the agents (effective_tokens).",
        ),
        column=Column(title="Effective Tokens"),
        page="Effective tokens (reported + cache_read)",
    ),
    Metric(
        key="all_in_tokens",
        title="All-in tokens",
        unit="tokens",
        style=Style.WHOLE,
        definition="effective_tokens with sub-agents and compactions.",
        better=Better.LOWER,
        read=read_field("all_in_tokens"),
        spent=True,
        row=Row(
            table=SPENDING,
            how=How.TOTAL,
            title="Total all-in tokens (with sub-agents and compactions)",
            definition="Effective tokens with the requests of sub-agents and of context "
            "compactions, summed over the agents (all_in_tokens).",
        ),
    ),
    Metric(
        key="cache_read",
        title="Cache read",
        unit="tokens",
        style=Style.WHOLE,
        definition="Sent and read from the prompt cache.",
        read=read_field("cache_read"),
        spent=True,
        row=Row(
            table=SPENDING,
            how=How.TOTAL,
            title="Total cache-read tokens",
            definition="Tokens read from the provider's prompt cache, summed over the agents "
            "(cache_read).",
        ),
        page="Cache read",
    ),
    Metric(
        key="input_tokens",
        title="Input tokens",
        unit="tokens",
        style=Style.WHOLE,
        definition="Sent; neither read from nor written to the prompt cache.",
        better=Better.LOWER,
        read=read_field("input_tokens"),
        spent=True,
        page="Input tokens",
    ),
    Metric(
        key="output_tokens",
        title="Output tokens",
        unit="tokens",
        style=Style.WHOLE,
        definition="Produced by the model.",
        better=Better.LOWER,
        read=read_field("output_tokens"),
        spent=True,
        page="Output tokens",
    ),
    Metric(
        key="cost",
        title="Cost",
        phrase="cost {}",
        unit="US dollars",
        style=Style.DOLLARS,
        definition="As the agent reports it, or by a price table; see cost_estimated.",
        better=Better.LOWER,
        read=read_field("cost"),
        spent=True,
        row=Row(
            table=SPENDING,
            how=How.TOTAL,
            title="Total cost",
            definition="As the agents report it, summed over them (cost).",
        ),
        column=Column(title="Cost", style=Style.CENTS),
        page="Cost",
    ),
    Metric(
        key="tokens_per_agent",
        title="Avg effective tokens/agent",
        unit="tokens",
        style=Style.WHOLE,
        definition="Mean effective tokens of the agents that report them, without decimals.",
        better=Better.LOWER,
        read=read_field("effective_tokens"),
        spent=True,
        row=Row(table=SPENDING, how=How.WHOLE_MEAN),
    ),
    Metric(
        key="result_lines",
        title="Output lines",
        unit="lines",
        style=Style.WHOLE,
        definition="Lines of the answer, without line breaks at its end.",
        read=read_field("result_lines"),
        spent=True,
        row=Row(
            table=SPENDING,
            how=How.TOTAL,
            title="Total output lines",
            definition="Lines of the answers, summed over the agents (result_lines).",
        ),
        column=Column(title="Lines"),
        page="Result lines",
    ),
    Metric(
        key="compacted",
        title="Compactions",
        unit="0 or 1",
        style=Style.WHOLE,
        definition="1 when requests reached the budget. No compaction of a context.",
        better=Better.LOWER,
        read=read_field("compacted"),
        row=Row(
            table=SPENDING,
            how=How.NUMBER,
            definition="Trials whose requests reached the budget, with or without an answer "
            "(compacted). The name is the one canopy's script uses; it is no compaction of a "
            "context.",
        ),
        page="Compacted",
    ),
    Metric(
        key="compactions",
        title="Context compactions",
        unit="compactions",
        style=Style.WHOLE,
        definition="Times that the agent summarised its context: true compactions.",
        better=Better.LOWER,
        read=read_field("compactions"),
        row=Row(
            table=SPENDING,
            how=How.TOTAL,
            definition="Times that the agents summarised their context to continue, as they report "
            "it (compactions in the record).",
        ),
    ),
    Metric(
        key="retries",
        title="Provider retries",
        unit="requests",
        style=Style.WHOLE,
        definition="Requests that the program made again after a provider's error.",
        better=Better.LOWER,
        read=read_field("retries"),
        row=Row(
            table=SPENDING,
            how=How.TOTAL,
            definition="Requests that the agents made again after an error of the provider "
            "(retries).",
        ),
    ),
    Metric(
        key="permission_denials",
        title="Permission denials",
        unit="calls",
        style=Style.WHOLE,
        definition="Tool calls that the agents' programs refused to make (permission_denials).",
        better=Better.LOWER,
        read=sum_by_name("permission_denials"),
        row=Row(table=SPENDING, how=How.TOTAL),
    ),
    Metric(
        key="out_of_turns",
        title="Turn limit errors",
        unit="true or false",
        style=Style.WHOLE,
        definition="Trials that the turn limit ended before they had an answer (error_max_turns).",
        better=Better.LOWER,
        read=_is_out_of_turns,
        row=Row(table=SPENDING, how=How.NUMBER),
    ),
)
