"""The metrics of time, tokens and cost."""

from swarm_bench.analysis.metrics.aggregates import (
    largest,
    number,
    total,
    total_of_calls,
    whole_mean,
)
from swarm_bench.analysis.metrics.measure import Measure, metric
from swarm_bench.core.report.report import Style
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause


def _compacted(trial: TrialRecord) -> bool | None:
    return None if trial.compacted is None else bool(trial.compacted)


def _out_of_turns(trial: TrialRecord) -> bool | None:
    return None if trial.cause is None else trial.cause is Cause.MAX_TURNS


SPENT = (
    Measure(
        metric=metric(
            "max_agent_time",
            "Max agent time",
            "seconds",
            Style.SECONDS,
            "The slowest agent, by the agents' own clocks (duration_s).",
        ),
        of=largest("duration_s"),
    ),
    Measure(
        metric=metric(
            "max_wall_time",
            "Max wall time",
            "seconds",
            Style.SECONDS,
            "The slowest agent by our clock, from the start of its process to the end of the last "
            "process it left (wall_seconds).",
        ),
        of=largest("wall_seconds"),
    ),
    Measure(
        metric=metric(
            "reported_tokens",
            "Total reported tokens",
            "tokens",
            Style.WHOLE,
            "Input + cache creation + output, summed over the agents (total_tokens).",
        ),
        of=total("total_tokens"),
    ),
    Measure(
        metric=metric(
            "effective_tokens",
            "Total effective tokens (includes cache read)",
            "tokens",
            Style.WHOLE,
            "Reported tokens + cache read, summed over the agents (effective_tokens).",
        ),
        of=total("effective_tokens"),
    ),
    Measure(
        metric=metric(
            "all_in_tokens",
            "Total all-in tokens (with sub-agents and compactions)",
            "tokens",
            Style.WHOLE,
            "Effective tokens with the requests of sub-agents and of context compactions, summed "
            "over the agents (all_in_tokens).",
        ),
        of=total("all_in_tokens"),
    ),
    Measure(
        metric=metric(
            "cache_read_tokens",
            "Total cache-read tokens",
            "tokens",
            Style.WHOLE,
            "Tokens read from the provider's prompt cache, summed over the agents (cache_read).",
        ),
        of=total("cache_read"),
    ),
    Measure(
        metric=metric(
            "cost",
            "Total cost",
            "US dollars",
            Style.DOLLARS,
            "As the agents report it, summed over them (cost).",
        ),
        of=total("cost"),
        dollars=True,
    ),
    Measure(
        metric=metric(
            "tokens_per_agent",
            "Avg effective tokens/agent",
            "tokens",
            Style.WHOLE,
            "Mean effective tokens of the agents that report them, without decimals.",
        ),
        of=whole_mean("effective_tokens"),
    ),
    Measure(
        metric=metric(
            "output_lines",
            "Total output lines",
            "lines",
            Style.WHOLE,
            "Lines of the answers, summed over the agents (result_lines).",
        ),
        of=total("result_lines"),
    ),
    Measure(
        metric=metric(
            "compactions",
            "Compactions",
            "trials",
            Style.WHOLE,
            "Trials whose requests reached the budget, with or without an answer (compacted). The "
            "name is the one canopy's script uses; it is no compaction of a context.",
        ),
        of=number(_compacted),
    ),
    Measure(
        metric=metric(
            "context_compactions",
            "Context compactions",
            "compactions",
            Style.WHOLE,
            "Times that the agents summarised their context to go on, as they report it "
            "(compactions in the record).",
        ),
        of=total("compactions"),
    ),
    Measure(
        metric=metric(
            "retries",
            "Provider retries",
            "requests",
            Style.WHOLE,
            "Requests that the agents made again after an error of the provider (retries).",
        ),
        of=total("retries"),
    ),
    Measure(
        metric=metric(
            "denials",
            "Permission denials",
            "calls",
            Style.WHOLE,
            "Tool calls that the agents' programs refused to make (permission_denials).",
        ),
        of=total_of_calls("permission_denials"),
    ),
    Measure(
        metric=metric(
            "out_of_turns",
            "Turn limit errors",
            "trials",
            Style.WHOLE,
            "Trials that the turn limit ended before they had an answer (error_max_turns).",
        ),
        of=number(_out_of_turns),
    ),
)
