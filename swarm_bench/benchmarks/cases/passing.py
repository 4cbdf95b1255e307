"""The figures that every benchmark of models has, and those of benchmarks whose answers pass or
fail: pass@k, unbiased (Chen et al. 2021)."""

from collections.abc import Callable, Sequence
from math import comb
from operator import attrgetter
from typing import Any

from swarm_bench.benchmarks.cases.role import of_score
from swarm_bench.core.metric import Better, Column, How, Metric, Row, Style
from swarm_bench.core.status import Status

PASSED = "passed"
"""The key of the score."""
_NO_ANSWER = (Status.AGENT_FAILED, Status.BUDGET_REACHED)


def pass_at(k: int) -> Callable[[Sequence[float]], float | None]:
    """Return the estimate of the chance that one of k answers passes, from all answers to a case;
    `None` for fewer than k."""

    def of(passed: Sequence[float]) -> float | None:
        answers, right = len(passed), int(sum(passed))
        return 1 - comb(answers - right, k) / comb(answers, k) if answers >= k else None

    return of


def pass_metrics(*ks: int) -> tuple[Metric, ...]:
    """Declare pass@k for several k."""
    return tuple(_metric(k) for k in ks)


def of_answer(key: str) -> Callable[[Any], float | None]:
    """Read a share of success by its key. An answer that a model does not give has none, be it that
    the request is too long for it, that it takes too long, or that its server refuses."""
    scored = of_score(key)

    def read(record: Any) -> float | None:
        gave_none = record.scores is None and record.status in _NO_ANSWER
        return 0.0 if gave_none else scored(record)

    return read


def answer_share(key: str, title: str, definition: str, **more: Any) -> Metric:
    """Declare a share of success, the score `key` of a record, by which arms are compared; `more`
    are fields of the metric, also in the place of these."""
    fields = {"read": of_answer(key), "compared": True, **more}
    return Metric(
        key=key,
        title=title,
        unit="0 to 1",
        style=Style.FRACTION,
        better=Better.HIGHER,
        definition=definition,
        relative=False,
        **fields,
    )


def _metric(k: int) -> Metric:
    return Metric(
        key=f"pass_at_{k}",
        title=f"pass@{k}",
        phrase="solved {} of the cases at the first try" if k == 1 else "",
        unit="0 to 1",
        style=Style.FRACTION,
        better=Better.HIGHER,
        definition=f"Chance that at least one of {k} answers passes, over cases.",
        read=of_answer(PASSED),
        of_case=None if k == 1 else pass_at(k),
        relative=False,
        compared=k == 1,
        column=Column(title="Passed") if k == 1 else None,
    )


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
"""Metric of benchmarks that run code and have the score `end`."""
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
"""Metrics of benchmarks that have a judge."""
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
