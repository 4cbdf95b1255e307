"""How good a ranked list is: the measures of trec_eval, with every right answer worth the same.

A list names nothing twice. There is at least one right answer; without one nothing can be said, and
nobody asks. https://github.com/usnistgov/trec_eval has the definitions: `recall`, `recip_rank` and
`ndcg_cut`.
"""

import math
from collections.abc import Collection, Sequence


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of what is relevant that is among the first `k`."""
    return len(set(ranked[:k]) & set(relevant)) / len(relevant)


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return one divided by the rank of the first that is relevant; 0 without one."""
    return next((1 / rank for rank, item in enumerate(ranked, start=1) if item in relevant), 0.0)


def ndcg_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the discounted gain of the first `k`, divided by that of the best order."""
    gain = sum(_discount_rank(rank) for rank, item in enumerate(ranked[:k]) if item in relevant)
    return gain / sum(_discount_rank(rank) for rank in range(min(k, len(relevant))))


def _discount_rank(rank: int) -> float:
    """Weigh a rank, counted from 0."""
    return 1 / math.log2(rank + 2)
