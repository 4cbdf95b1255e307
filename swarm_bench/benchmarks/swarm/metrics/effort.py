"""The metrics of how agents end, and of the turns and calls that they take."""

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
        definition="Mean lines of the answers there are (result_lines).",
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
            definition="Mean turns of the agents that report them (num_turns).",
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
        "Code's num_turns also counts every tool result.",
        better=Better.LOWER,
        read=read_field("requests"),
        spent=True,
        row=Row(
            table=ANSWERS,
            how=How.MEAN,
            title="Avg model requests",
            definition="Mean requests of the main conversation, which the budget of turns is about "
            "(requests).",
        ),
    ),
    Metric(
        key="tool_calls",
        title="Tool calls",
        unit="calls",
        style=Style.WHOLE,
        definition="tool_calls, summed over the tools.",
        better=Better.LOWER,
        read=sum_over_tools("tool_calls"),
        spent=True,
    ),
    Metric(
        key="tool_result_tokens",
        title="Tool result tokens",
        unit="tokens",
        style=Style.WHOLE,
        definition="tool_result_tokens, summed over the tools.",
        better=Better.LOWER,
        read=sum_over_tools("tool_result_tokens"),
        spent=True,
    ),
    Metric(
        key="completed",
        title="Completed",
        unit="true or false",
        style=Style.AVERAGE,
        definition="Whether status is completed.",
        better=Better.HIGHER,
        read=lambda trial: trial.status is Status.COMPLETED,
        relative=False,
        of_failed=True,
    ),
)
