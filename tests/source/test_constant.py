"""What an answer finds that is always the same."""

import pytest

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.source.constant import constant_recall
from swarm_bench.source.key_measures import ROOM


def task(number: int, *files: str, prompt: str = "", weight: float = 1.0) -> Task:
    asks = prompt or f"Where is {number}?"
    key = AnswerKey(files=files, symbols=tuple(f"{file}::f" for file in files))
    return Task(id=f"t{number}", title="t", prompt=asks, key=key, weight=weight)


@pytest.mark.parametrize("number", [1, 2, 6, 8, 30])
def test_nobody_knows_files_that_one_question_asks_for(number: int) -> None:
    assert constant_recall([task(n, f"{n}.py") for n in range(number)], "files") == 0


@pytest.mark.parametrize(
    ("files", "each", "found"), [(1, 2, 1), (3, 10, 1), (6, 2, 1), (10, 3, 0.6), (15, 2, 0.4)]
)
def test_as_many_names_count_as_of_any_answer(files: int, each: int, found: float) -> None:
    tasks = [task(n, f"{n % files}.py") for n in range(files * each)]
    assert constant_recall(tasks, "files") == pytest.approx(found)
    assert constant_recall(tasks, "symbols") == pytest.approx(found)


def test_copies_of_a_task_ask_one_question() -> None:
    copies = [task(n, f"{n % 2}.py", prompt=f"Where is {n % 2}?") for n in range(30)]
    assert constant_recall(copies, "files") == 0


def test_the_best_list_goes_by_weight() -> None:
    """Eight files are asked for twice, and there is room for six and for seven."""
    pairs = [task(n, f"{n % 8}.py", weight=4 if n % 8 == 7 else 1) for n in range(16)]
    assert constant_recall(pairs, "files") == pytest.approx((ROOM * 2 + 8) / 22)
    wide = task(16, "0.py", "only.py")
    assert constant_recall([*pairs, wide], "files") == pytest.approx((ROOM * 2 + 8 + 0.5) / 23)


def test_without_keys_there_is_none() -> None:
    assert constant_recall([], "files") is None
    assert constant_recall([Task(id="a", title="a", prompt="a")], "files") is None
