"""What of a key an answer names."""

import pytest

from swarm_bench.core.ports import Missing
from swarm_bench.source.key_measures import ROOM, compute_measures, keys_of, share_elsewhere

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
