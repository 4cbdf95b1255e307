"""Whether the answer says what a right answer says, and not everything."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.source.facts import SECONDS, matching
from swarm_bench.source.key_measures import ELSEWHERE, share_elsewhere

MOST_COMPARED = 100
"""Other tasks whose facts are looked for in an answer: in a large suite, all would take seconds."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`fact_share`: the share of the key's patterns that match the answer, less the share of
    other tasks' patterns that do, `fact_share_elsewhere`; not below 0. Whoever repeats the question
    or says everything has none: patterns that match the question do not count, neither the
    key's own nor those of other tasks."""

    name = "facts"
    version = 2
    keys = ("fact_share", f"fact_share{ELSEWHERE}")

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        return dict(zip(self.keys, _shares(context), strict=True))


def _shares(context: ScoreContext) -> tuple[float | Missing, float | Missing]:
    """Compute both scores. Patterns of other tasks that take too long say nothing of this one."""
    if not context.key or not context.key.facts:
        return (Missing("the key has no facts"),) * 2
    try:
        right = {*context.key.facts} - matching(context.key.facts, context.prompt)
        if not right:
            return (Missing("each fact of the key stands in the question"),) * 2
        share = len(matching(right, context.beginning)) / len(right)
    except TimeoutError:
        return (_too_slow("the key"),) * 2
    try:
        elsewhere = _elsewhere(context, right)
    except TimeoutError:
        elsewhere = _too_slow("other keys")
    return share if isinstance(elsewhere, Missing) else max(0.0, share - elsewhere), elsewhere


def _elsewhere(context: ScoreContext, right: set[str]) -> float | Missing:
    """Compute which share of the facts of other tasks the answer matches. Raises `TimeoutError`."""
    others = [(it.key.facts, it.weight) for it in context.others if it.key and it.key.facts]
    others = others[:: math.ceil(len(others) / MOST_COMPARED) or 1]
    foreign = set[str]().union(*(facts for facts, _ in others)) - right
    repeated = matching(foreign, context.prompt)
    matched = matching(foreign - repeated, context.beginning)
    return share_elsewhere(matched, right | repeated, others)


def _too_slow(whose: str) -> Missing:
    return Missing(f"the patterns of {whose} took longer than {SECONDS:g} s on this answer")
