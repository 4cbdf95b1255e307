"""Which tasks are asked of those that can be made."""

from collections import Counter

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.made import hard_first, pick


def _task(id: str) -> Task:
    """Make a task whose key has a file for each letter of the id before its number."""
    files = tuple(letter for letter in id if letter.isalpha())
    return Task(id=id, title=id, prompt=id, key=AnswerKey(files=files), tags=("kind",))


def _picked(ids: str, most: int = 9, per_file: int = 1) -> list[str]:
    return [task.id for task in pick(map(_task, ids.split()), most, Counter(), per_file)]


def test_hard_ones_come_first_and_both_are_tagged() -> None:
    ordered = hard_first(map(_task, ["a", "b!", "c", "d!"]), lambda task: "!" in task.id)
    assert [(task.id, *task.tags) for task in ordered] == [
        ("b!", "kind", "hard"),
        ("d!", "kind", "hard"),
        ("a", "kind", "easier"),
        ("c", "kind", "easier"),
    ]


def test_no_file_is_asked_about_twice() -> None:
    assert _picked("a1 a2 ab b1 cb d") == ["a1", "b1", "d"]
    assert _picked("a1 a2 ab b1 b2 d", per_file=2) == ["a1", "a2", "b1", "b2", "d"]
    assert _picked("a b c", most=2) == ["a", "b"]


def test_files_that_others_ask_about_count() -> None:
    asked = Counter(["a"])
    assert [task.id for task in pick(map(_task, ["a1", "b1"]), 9, asked)] == ["b1"]
    assert asked == {"a": 1, "b": 1}
