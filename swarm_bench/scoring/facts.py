"""Whether the answer says what a right answer says, and not everything."""

from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.source.facts import SECONDS, matching
from swarm_bench.source.key_measures import ELSEWHERE, share_elsewhere


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`fact_share`: the share of the key's patterns that match the answer, less the share of the
    other tasks' patterns that do, `fact_share_elsewhere`; not below 0. Whoever repeats the question
    or says everything has none: patterns that match the question do not count, neither the
    key's own nor those of other tasks."""

    name = "facts"
    version = 2
    keys = ("fact_share", f"fact_share{ELSEWHERE}")

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        if not context.key or not context.key.facts:
            return dict.fromkeys(self.keys, Missing("the key has no facts"))
        try:
            return dict(zip(self.keys, _shares(context, context.key.facts), strict=True))
        except TimeoutError:
            why = f"the patterns of the keys took longer than {SECONDS:g} s on this answer"
            return dict.fromkeys(self.keys, Missing(why))


def _shares(
    context: ScoreContext, facts: tuple[str, ...]
) -> tuple[float | Missing, float | Missing]:
    """Compute both scores. Raises `TimeoutError`."""
    others = [(task.key.facts, task.weight) for task in context.others if task.key]
    every = {*facts}.union(*(patterns for patterns, _ in others))
    repeated = matching(every, context.prompt)
    right = {*facts} - repeated
    if not right:
        return (Missing("each fact of the key stands in the question"),) * 2
    matched = matching(every - repeated, context.beginning)
    elsewhere = share_elsewhere(matched, {*facts, *repeated}, others)
    share = len(right & matched) / len(right)
    return share if isinstance(elsewhere, Missing) else max(0.0, share - elsewhere), elsewhere
