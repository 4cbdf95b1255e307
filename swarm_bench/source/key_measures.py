"""How much of what a right answer names is in the list of what an answer names, how good that list
is if it is ranked, and what an answer finds that is the same whatever is asked.

The measures of ranked lists are those of trec_eval, with every right answer worth the same:
`recall`, `recip_rank` and `ndcg_cut` (https://github.com/usnistgov/trec_eval). A list names nothing
twice. There is at least one right answer; without one nothing can be said, and nobody asks.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from swarm_bench.core.metric import KeyPart
from swarm_bench.core.ports import Missing, Score
from swarm_bench.core.session.tasks import Task, build_question

ELSEWHERE = "_elsewhere"
"""Ending of the key of what an answer finds of the keys of other tasks."""
ROOM = 5
"""How many names an answer may have beside the right ones: what it names after them does not count
as found, or an answer that names everything would find everything."""


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


def constant_recall(
    tasks: Collection[Task],
    part: KeyPart,
    *,
    shared_only: bool = False,
    max_names: int | None = None,
) -> float | None:
    """Return the recall, over the tasks by their weight, of the best list that the keys allow:
    greedy, and as many names as can count. `None` where no key has that part.

    With few tasks such a list finds much, although nobody could make it without their keys. With
    `shared_only` it has names that several questions ask for, which somebody could come to know;
    with `most`, so many names at most.
    """
    weighed = [(frozenset(vars(task.key)[part]), task.weight) for task in tasks if task.key]
    keys = [(key, weight) for key, weight in weighed if key]
    if not keys:
        return None
    names = _select_frequent(tasks, part, least=2 if shared_only else 1)
    room = 0 if part == "facts" else ROOM  # an answer may match as many facts as it likes
    best = list(_best(keys, names, room))[:max_names]
    recalled = sum(
        weight * len(key.intersection(best[: room + len(key)])) / len(key) for key, weight in keys
    )
    return recalled / sum(weight for _, weight in keys)


def _select_frequent(tasks: Collection[Task], part: KeyPart, least: int) -> set[str]:
    """Return the names in the keys of so many questions; copies of a task ask one."""
    questions = defaultdict[str, set[tuple[str, str | None]]](set)
    for task in tasks:
        for name in vars(task.key)[part] if task.key else ():
            questions[name].add((build_question(task), task.commit))
    return {name for name, askers in questions.items() if len(askers) >= least}


def _best(
    keys: Sequence[tuple[frozenset[str], float]], names: set[str], room: int
) -> Iterator[str]:
    """Yield names, each time the one that adds most to what is found at its position."""
    for position in range(room + max(len(key) for key, _ in keys)):
        gains = defaultdict[str, float](float)
        for key, weight in keys:
            for name in key & names if position < room + len(key) else ():
                gains[name] += weight / len(key)
        if not gains:
            return
        best = min(gains, key=lambda name: (-gains[name], name))
        names = names - {best}
        yield best
