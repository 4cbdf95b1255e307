"""What an answer finds that is the same whatever is asked."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from swarm_bench.core.session.tasks import Task
from swarm_bench.source.key_measures import ROOM


def constant_recall(tasks: Collection[Task], part: Literal["files", "symbols"]) -> float | None:
    """Return the recall, over the tasks by their weight, of the best list that the keys allow:
    greedy, and as many names as can count. `None` where no key has that part.

    A name that a single question asks for is not in the list: nobody has it who does not know the
    key of that very question, and with few tasks such a list would find nearly everything.
    """
    weighed = [(frozenset(vars(task.key)[part]), task.weight) for task in tasks if task.key]
    keys = [(key, weight) for key, weight in weighed if key]
    if not keys:
        return None
    names = list(_best(keys, _asked_for_again(tasks, part)))
    recalled = sum(
        weight * len(key.intersection(names[: ROOM + len(key)])) / len(key) for key, weight in keys
    )
    return recalled / sum(weight for _, weight in keys)


def _asked_for_again(tasks: Collection[Task], part: str) -> set[str]:
    """Return the names in the keys of several questions; copies of a task ask one."""
    questions = defaultdict[str, set[tuple[str, str | None]]](set)
    for task in tasks:
        for name in vars(task.key)[part] if task.key else ():
            questions[name].add((task.prompt, task.commit))
    return {name for name, asked in questions.items() if len(asked) > 1}


def _best(keys: Sequence[tuple[frozenset[str], float]], names: set[str]) -> Iterator[str]:
    """Yield names, each time the one that adds most to what is found at its position."""
    for position in range(ROOM + max(len(key) for key, _ in keys)):
        gains = defaultdict[str, float](float)
        for key, weight in keys:
            for name in key & names if position < ROOM + len(key) else ():
                gains[name] += weight / len(key)
        if not gains:
            return
        best = min(gains, key=lambda name: (-gains[name], name))
        names = names - {best}
        yield best
