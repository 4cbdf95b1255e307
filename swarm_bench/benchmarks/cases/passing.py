"""Figures of benchmarks whose answers pass or fail: pass@k, unbiased (Chen et al. 2021)."""

from collections.abc import Callable, Sequence
from math import comb
from typing import Any

from swarm_bench.benchmarks.cases.role import of_score
from swarm_bench.core.metric import Better, Column, Metric, Style
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
