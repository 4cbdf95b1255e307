"""Scores of an answer, by all scorers, none of which can spoil those of another."""

from collections.abc import Sequence
from dataclasses import dataclass

from swarm_bench.core.ports import Score, ScoreContext, Scorer


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What the scorers gave."""

    keys: dict[str, Score]
    """Keys of the record."""
    troubles: tuple[str, ...]
    """A sentence for each scorer that failed."""


def score(scorers: Sequence[Scorer], context: ScoreContext) -> Scored:
    """Have every scorer look at the answer, and say how much of it none looked at."""
    unscored = len(context.text) - len(context.beginning)
    keys: dict[str, Score] = {"unscored_characters": unscored} if unscored > 0 else {}
    troubles = []
    for scorer in scorers:
        try:
            keys.update(scorer.score(context))
        except Exception as error:  # noqa: BLE001  # a scorer may raise anything: others score
            name = type(scorer).__name__
            troubles.append(f"{name} failed: {type(error).__name__}: {error}")
    return Scored(keys=keys, troubles=tuple(troubles))
