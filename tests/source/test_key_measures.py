"""What an answer finds that is always the same."""

from collections.abc import Sequence

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarm_bench.core.ports import Missing
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.source.key_measures import (
    ROOM,
    compute_measures,
    constant_recall,
    keys_of,
    ndcg_at,
    recall_at,
    reciprocal_rank,
    share_elsewhere,
)


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


ALONE = Missing("no other task asks for anything else")


def test_what_is_found() -> None:
    assert compute_measures("file", ["x.py", "a.py", "y.py", "b.py"], ("a.py", "b.py", "c.py")) == {
        "file_recall": pytest.approx(2 / 3),
        "file_precision": 0.5,
        "file_f1": pytest.approx(4 / 7),
        "files_all_found": False,
        "file_first_rank": 2,
        "file_ndcg": pytest.approx(0.4982, abs=1e-4),
        "file_recall_elsewhere": ALONE,
    }


def test_a_whole_answer() -> None:
    assert compute_measures("symbol", ["a", "b"], {"b", "a"}) == {
        "symbol_recall": 1.0,
        "symbol_precision": 1.0,
        "symbol_f1": 1.0,
        "symbols_all_found": True,
        "symbol_first_rank": 1,
        "symbol_ndcg": 1.0,
        "symbol_recall_elsewhere": ALONE,
    }


def test_an_answer_that_names_nothing_found_nothing() -> None:
    assert compute_measures("file", [], ("a.py",)) == {
        "file_recall": 0.0,
        "file_precision": Missing("the answer names no file"),
        "file_f1": 0.0,
        "files_all_found": False,
        "file_first_rank": Missing("it names no right file"),
        "file_ndcg": 0.0,
        "file_recall_elsewhere": ALONE,
    }


def test_naming_everything_finds_little() -> None:
    many = [f"{number}.py" for number in range(500)]
    measures = compute_measures("file", many, ("400.py", "5.py"))
    assert measures["file_recall"] == 0.5
    assert measures["file_precision"] == pytest.approx(1 / 500)
    assert measures["file_first_rank"] == 6
    assert compute_measures("file", many, ("400.py",))["file_recall"] == 0
    last = many[ROOM]
    assert compute_measures("file", many, (last,))["file_recall"] == 1
    assert compute_measures("file", many, (many[ROOM + 1],))["files_all_found"] is False


def test_what_is_found_of_other_keys_is_without_what_the_own_key_has() -> None:
    others = [(("a.py", "b.py"), 1.0), (("c.py", "d.py"), 3.0), (("a.py",), 50.0)]
    assert share_elsewhere(["a.py", "c.py"], ("a.py",), others) == pytest.approx(1.5 / 4)
    assert share_elsewhere(["b.py"], ("a.py",), others) == pytest.approx(1 / 4)
    assert share_elsewhere(["b.py"], ("a.py",), others[2:]) == ALONE


def test_only_the_first_names_count_elsewhere_too() -> None:
    many = [f"{number}.py" for number in range(500)]
    others = [((many[ROOM],), 1.0), ((many[ROOM + 1],), 1.0)]
    assert compute_measures("file", many, ("400.py",), others)["file_recall_elsewhere"] == 0.5


def test_the_keys_are_those_that_are_given() -> None:
    assert keys_of("file") == tuple(compute_measures("file", ["a"], ("a",)))


NAMES = [f"{number}.py" for number in range(15)]


@settings(deadline=None)
@given(st.permutations(NAMES), st.integers(0, 15), st.sets(st.sampled_from(NAMES), min_size=1))
def test_they_are_those_of_trec_eval(
    order: Sequence[str], answered: int, relevant: set[str]
) -> None:
    ranked = order[:answered]
    measures = {
        **{f"R@{k}": recall_at(ranked, relevant, k) for k in (1, 5, 10)},
        "RR": reciprocal_rank(ranked, relevant),
        "nDCG@10": ndcg_at(ranked, relevant, 10),
    }
    # A list that is empty would be no answer to be measured, so there is one more name in each.
    run = {"q": {"other": -1.0, **{name: 100.0 - i for i, name in enumerate(ranked)}}}
    judged = {"q": dict.fromkeys(relevant, 1)}
    named = [ir_measures.parse_measure(name) for name in measures]
    expected = ir_measures.calc_aggregate(named, judged, run)
    assert {str(measure): value for measure, value in expected.items()} == pytest.approx(measures)
