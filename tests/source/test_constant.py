"""What an answer finds that is always the same."""

import pytest

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.source.constant import constant_recall
from swarm_bench.source.key_measures import ROOM


def task(number: int, *files: str, prompt: str = "", weight: float = 1.0) -> Task:
    asks = prompt or f"Where is {number}?"
    key = AnswerKey(files=files, symbols=tuple(f"{file}::f" for file in files))
    return Task(id=f"t{number}", title="t", prompt=asks, key=key, weight=weight)


@pytest.mark.parametrize(("number", "found"), [(1, 1), (6, 1), (8, 6 / 8), (30, 6 / 30)])
def test_a_list_that_is_made_of_the_keys_finds_as_many_as_count(number: int, found: float) -> None:
    tasks = [task(n, f"{n}.py") for n in range(number)]
    assert constant_recall(tasks, "files") == pytest.approx(found)
    assert constant_recall(tasks, "files", shared_only=True) == 0


@pytest.mark.parametrize(("most", "found"), [(1, 1 / 6), (2, 2 / 6), (6, 1), (None, 1)])
def test_it_has_no_more_names_than_asked_for(most: int | None, found: float) -> None:
    tasks = [task(n, f"{n % 6}.py") for n in range(12)]
    recall = constant_recall(tasks, "files", shared_only=True, max_names=most)
    assert recall == pytest.approx(found)


def test_a_fact_that_most_tasks_ask_for_is_a_constant_answer() -> None:
    keys = [AnswerKey(facts=("storage" if n < 24 else f"layer {n}",)) for n in range(30)]
    tasks = [
        Task(id=f"t{n}", title="t", prompt=f"Which layer is {n}?", key=key)
        for n, key in enumerate(keys)
    ]
    assert constant_recall(tasks, "facts", shared_only=True) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("files", "each", "found"), [(1, 2, 1), (3, 10, 1), (6, 2, 1), (10, 3, 0.6), (15, 2, 0.4)]
)
def test_as_many_names_count_as_of_any_answer(files: int, each: int, found: float) -> None:
    tasks = [task(n, f"{n % files}.py") for n in range(files * each)]
    assert constant_recall(tasks, "files") == pytest.approx(found)
    assert constant_recall(tasks, "symbols") == pytest.approx(found)


def test_copies_of_a_task_ask_one_question() -> None:
    copies = [task(n, f"{n % 2}.py", prompt=f"Where is {n % 2}{n * '?'}") for n in range(30)]
    assert constant_recall(copies, "files", shared_only=True) == 0


def test_the_best_list_goes_by_weight() -> None:
    """Eight files are asked for twice, and there is room for six and for seven."""
    pairs = [task(n, f"{n % 8}.py", weight=4 if n % 8 == 7 else 1) for n in range(16)]
    assert constant_recall(pairs, "files") == pytest.approx((ROOM * 2 + 8) / 22)
    wide = task(16, "0.py", "only.py")
    shared = constant_recall([*pairs, wide], "files", shared_only=True)
    assert shared == pytest.approx((ROOM * 2 + 8 + 0.5) / 23)


def test_without_keys_there_is_none() -> None:
    assert constant_recall([], "files") is None
    assert constant_recall([Task(id="a", title="a", prompt="a")], "files") is None
