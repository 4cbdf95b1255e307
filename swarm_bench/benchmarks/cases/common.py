"""The figures that every benchmark of models has."""

from operator import attrgetter

from swarm_bench.core.metric import Better, Column, How, Metric, Row, Style

_TOKENS = "Tokens"
_TIME = "Time and cost"

TIMED_OUT = Metric(
    key="timed_out",
    title="Timed out",
    unit="true or false",
    style=Style.PERCENT,
    better=Better.LOWER,
    definition="Answers whose program took longer than it may.",
    read=lambda record: _is_timed_out((record.scores or {}).get("end")),
    row=Row(table=_TIME, how=How.SHARE),
)
"""Of benchmarks that run code and have the score `end`."""
JUDGE_METRICS = (
    Metric(
        key="judge_requests",
        title="Judge's requests",
        unit="requests",
        style=Style.WHOLE,
        better=Better.LOWER,
        definition="To the judge, in a run.",
        read=attrgetter("judge_requests"),
        row=Row(table=_TIME, how=How.TOTAL),
    ),
    Metric(
        key="judge_tokens",
        title="Judge's tokens",
        unit="tokens",
        style=Style.WHOLE,
        better=Better.LOWER,
        definition="Of these requests and their answers, as the judge's provider counts them.",
        read=attrgetter("judge_tokens"),
        row=Row(table=_TIME, how=How.TOTAL),
    ),
    Metric(
        key="judge_cost",
        title="Judge's cost",
        unit="US dollars",
        style=Style.DOLLARS,
        better=Better.LOWER,
        definition="Of these requests, from a price table; it is not in the cost of the answers.",
        read=attrgetter("judge_cost"),
        row=Row(table=_TIME, how=How.TOTAL),
    ),
)
"""Of benchmarks that have a judge."""
COMMON_METRICS = (
    Metric(
        key="input_tokens",
        title="Input tokens",
        unit="tokens",
        style=Style.WHOLE,
        better=Better.LOWER,
        definition="Of the prompt, as the provider counts them.",
        read=attrgetter("input_tokens"),
        row=Row(table=_TOKENS, how=How.MEAN),
    ),
    Metric(
        key="output_tokens",
        title="Output tokens",
        unit="tokens",
        style=Style.WHOLE,
        better=Better.LOWER,
        definition="Of the answer, as the provider counts them.",
        read=attrgetter("output_tokens"),
        row=Row(table=_TOKENS, how=How.MEAN),
        column=Column(title="Output tokens"),
    ),
    Metric(
        key="cut",
        title="Cut answers",
        unit="true or false",
        style=Style.PERCENT,
        better=Better.LOWER,
        definition="Answers that ended at the limit of tokens, or were too long to be stored.",
        read=lambda record: None if record.finish is None else record.finish == "length",
        row=Row(table=_TOKENS, how=How.SHARE),
    ),
    Metric(
        key="wall_seconds",
        title="Time",
        phrase="took {}",
        unit="seconds",
        style=Style.SECONDS,
        better=Better.LOWER,
        definition="Of the request that was answered; waiting for a provider is not counted.",
        read=attrgetter("wall_seconds"),
        row=Row(table=_TIME, how=How.MEDIAN),
        column=Column(title="Time"),
    ),
    Metric(
        key="cost",
        title="Cost",
        phrase="cost {}",
        unit="US dollars",
        style=Style.DOLLARS,
        better=Better.LOWER,
        definition="Of all answers of a run, from a price table, or as an agent program states it.",
        read=attrgetter("cost"),
        row=Row(table=_TIME, how=How.TOTAL),
    ),
    Metric(
        key="retries",
        title="Retries",
        unit="requests",
        style=Style.WHOLE,
        better=Better.LOWER,
        definition="Requests of a run that were made again, since the provider was busy or failed.",
        read=attrgetter("retries"),
        row=Row(table=_TIME, how=How.TOTAL),
    ),
)


def _is_timed_out(end: object) -> bool | None:
    return end in ("timeout", "time") if isinstance(end, str) else None
