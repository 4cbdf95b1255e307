"""Whether the answer says what a right answer says."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import regex

from swarm_bench.core.ports import Missing, Score, ScoreContext

SECONDS = 5.0
"""For all patterns of a key: they come from a file, and can be made to take for ever."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`fact_share`: the share of the key's patterns that match the answer, whatever the case of
    letters."""

    name = "facts"
    version = 1
    keys = ("fact_share",)

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        patterns = context.key.facts if context.key else ()
        if not patterns:
            return {"fact_share": Missing("the key has no facts")}
        try:
            return {"fact_share": matching(patterns, context.beginning) / len(patterns)}
        except TimeoutError:
            why = f"the key's patterns took longer than {SECONDS:g} s on this answer"
            return {"fact_share": Missing(why)}


def matching(patterns: tuple[str, ...], text: str) -> int:
    """Count the patterns that match a text; none match an answer that was not given. Raises
    `TimeoutError`."""
    if not text.strip():
        return 0
    end = time.monotonic() + SECONDS
    return sum(
        regex.search(
            pattern,
            text,
            regex.IGNORECASE,
            timeout=max(0.001, end - time.monotonic()),
            concurrent=True,
        )
        is not None
        for pattern in patterns
    )
