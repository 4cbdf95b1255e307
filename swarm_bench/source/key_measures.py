"""How much of what a right answer names is in the list of what an answer names."""

from collections.abc import Collection, Sequence

from swarm_bench.core.ports import Missing, Score
from swarm_bench.source.ranking import ndcg_at, reciprocal_rank

ROOM = 5
"""How many names an answer may have beside the right ones: what it names after them does not count
as found, or whoever names everything would find everything."""


def measures_of(
    kind: str, named: Sequence[str], right: Collection[str]
) -> dict[str, Score | Missing]:
    """Return the measures of a list without repetitions, which names what it holds in this order,
    by keys that begin with `kind`; `right` is not empty."""
    ranked = named[: ROOM + len(right)]
    hits = len(set(ranked) & set(right))
    recall = hits / len(right)
    precision = hits / len(named) if named else None
    rank = reciprocal_rank(ranked, right)
    return {
        f"{kind}_recall": recall,
        f"{kind}_precision": Missing(f"the answer names no {kind}")
        if precision is None
        else precision,
        f"{kind}_f1": 2 * recall * precision / (recall + precision) if precision else 0.0,
        f"{kind}s_all_found": hits == len(right),
        f"{kind}_first_rank": round(1 / rank) if rank else Missing(f"it names no right {kind}"),
        f"{kind}_ndcg": ndcg_at(ranked, right, ROOM + len(right)),
    }


def keys_of(kind: str) -> tuple[str, ...]:
    """Return the keys that `measures_of` gives."""
    return tuple(measures_of(kind, (), ("",)))
