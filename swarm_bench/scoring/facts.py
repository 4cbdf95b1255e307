"""Whether the answer says what a right answer says, and not everything."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.source.facts import SECONDS, matching, perhaps_matching
from swarm_bench.source.key_measures import ELSEWHERE, share_elsewhere

MOST_COMPARED = 100
"""Other tasks whose facts are looked for in an answer: in a large suite, all would take seconds."""
LOOKED_AT = 1 << 16
"""Characters of an answer, from its beginning, in which facts are looked for: behind more text than
that, patterns would run out of time."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`fact_share`: the share of the key's patterns that match the answer, less the share of
    other tasks' patterns that do, `fact_share_elsewhere`; not below 0. Whoever repeats the question
    or says everything has none: patterns that match the question do not count, neither the
    key's own nor those of other tasks."""

    name = "facts"
    version = 3
    keys = ("fact_share", f"fact_share{ELSEWHERE}")

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        return dict(zip(self.keys, _shares(context), strict=True))


def _shares(context: ScoreContext) -> tuple[float | Missing, float | Missing]:
    """Compute both scores. Patterns of other tasks that take too long count as matched: otherwise
    whoever says everything at length would be right."""
    if not context.key or not context.key.facts:
        return (Missing("the key has no facts"),) * 2
    try:
        right = {*context.key.facts} - matching(context.key.facts, context.prompt)
        if not right:
            return (Missing("each fact of the key stands in the question"),) * 2
        share = len(matching(right, context.text[:LOOKED_AT])) / len(right)
    except TimeoutError:
        reason = f"the patterns of the key took longer than {SECONDS:g} s on this answer"
        return (Missing(reason),) * 2
    elsewhere = _elsewhere(context, right)
    return share if isinstance(elsewhere, Missing) else max(0.0, share - elsewhere), elsewhere


def _elsewhere(context: ScoreContext, right: set[str]) -> float | Missing:
    """Compute which share of the facts of other tasks the answer matches."""
    keys = [(task.key.facts, task.weight) for task in context.others if task.key and task.key.facts]
    keys = keys[:: math.ceil(len(keys) / MOST_COMPARED) or 1]
    foreign = set[str]().union(*(facts for facts, _ in keys)) - right
    repeated = perhaps_matching(foreign, context.prompt)
    matched = perhaps_matching(foreign - repeated, context.text[:LOOKED_AT])
    return share_elsewhere(matched, right | repeated, keys)
