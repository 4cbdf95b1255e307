"""What an answer finds that is the same whatever is asked."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from swarm_bench.core.metric import KeyPart
from swarm_bench.core.session.tasks import Task, build_question
from swarm_bench.source.key_measures import ROOM


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
