"""How much of what a right answer names is in the list of what an answer names."""

from collections.abc import Collection, Iterable, Sequence

from swarm_bench.core.ports import Missing, Score
from swarm_bench.source.ranking import ndcg_at, reciprocal_rank

ELSEWHERE = "_elsewhere"
"""Ends the key of what an answer finds of the keys of other tasks."""
ROOM = 5
"""How many names an answer may have beside the right ones: what it names after them does not count
as found, or whoever names everything would find everything."""


def compute_measures(
    kind: str,
    answer_names: Sequence[str],
    right: Collection[str],
    other_keys: Iterable[tuple[Collection[str], float]] = (),
) -> dict[str, Score | Missing]:
    """Return the measures of a list without repetitions, which names what it holds in this order,
    by keys that begin with `kind`; `right` is not empty, and `others` is what the other tasks ask
    for, with their weights."""
    ranked = answer_names[: ROOM + len(right)]
    hits = len(set(ranked) & set(right))
    recall = hits / len(right)
    precision = hits / len(answer_names) if answer_names else None
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
        f"{kind}_recall{ELSEWHERE}": share_elsewhere(ranked, right, other_keys),
    }


def keys_of(kind: str) -> tuple[str, ...]:
    """Return the keys that `compute_measures` gives."""
    return tuple(compute_measures(kind, (), ("",)))


def share_elsewhere(
    answer_names: Collection[str],
    right: Collection[str],
    other_keys: Iterable[tuple[Collection[str], float]],
) -> float | Missing:
    """Return the share of what other tasks ask for that is named, by their weight, without what
    this one asks for too: an answer that has read its question finds little of it."""
    foreign = [(set(names).difference(right), weight) for names, weight in other_keys]
    shares = [
        (len(names.intersection(answer_names)) / len(names), weight)
        for names, weight in foreign
        if names
    ]
    if not shares:
        return Missing("no other task asks for anything else")
    return sum(share * weight for share, weight in shares) / sum(weight for _, weight in shares)
