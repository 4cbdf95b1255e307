"""How hard a task is."""

import pytest

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.difficulty import (
    Difficulty,
    Grep,
    build_index,
    difficulty,
    greps,
    identifiers,
)
from tests.builders.trees import tree_of

DECOYS = {f"decoy_{n}.py": "# round the totals of coupons upwards\n" * 9 for n in range(6)}
CART = "def total_of(cart):\n    return ceil(cart)\n"
TREE = {**DECOYS, "shop/cart.py": CART, **{f"m{n}.py": "run()\n" for n in range(9)}}


def _difficulty(prompt: str, keywords: str = "", by_keywords: bool = True) -> Difficulty:
    tree = tree_of(TREE)
    key = AnswerKey(files=("shop/cart.py",))
    with build_index(tree) as index:
        task = Task(id="a", title="A", prompt=prompt, keywords=keywords, key=key)
        return difficulty(index, tree, task, by_keywords=by_keywords)


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("Round coupon totals upwards, e.g. in a cart", ""),
        ("Round `coupon` in total_of and in Cart.total()", "coupon total_of Cart total"),
        ("Let maxColumns be what --max-columns says, run() too", "maxColumns max-columns run"),
        ("shop.cart.price loses a_b and toHTTP", "shop cart price a_b toHTTP"),
    ],
)
def test_names_are_what_is_no_plain_word(prompt: str, names: str) -> None:
    assert identifiers(prompt) == frozenset(names.split())


def test_a_task_is_hard_where_no_search_finds_it() -> None:
    hard = _difficulty("Round coupon totals upwards")
    assert (hard.is_listed, hard.is_hard) == (False, True)
    assert hard.sentence == 7, "behind the six that repeat the words"
    assert hard.keywords is None


def test_what_a_grep_lists_is_not_hard() -> None:
    named = _difficulty("Round coupon totals upwards like `total_of`")
    assert (named.is_listed, named.is_hard) == (True, False)
    assert not _difficulty("Round coupon totals upwards like `total_o`").is_listed


def test_what_bm25_has_among_the_first_five_is_not_hard() -> None:
    first = _difficulty("Return the ceil of a cart", keywords="coupons")
    assert first.sentence == 1
    assert first.keywords == 101
    assert not first.is_hard


def test_keywords_are_searched_for_where_that_is_wanted() -> None:
    assert _difficulty("Return the ceil of a cart", "coupons", by_keywords=False).keywords is None


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("Where is the ceil of a CART?", Grep(files=1, rank=1)),
        ("Round the totals of a cart", Grep(files=7, rank=7)),  # six have more of the words
        ("Totals, or a cart", Grep(files=7, rank=7)),  # and six as many
        ("Round the totals of coupons", Grep(files=6, rank=None)),
        ("Where is it?", Grep(files=0, rank=None)),
    ],
)
def test_one_grep_for_the_words_lists_files(prompt: str, shown: Grep) -> None:
    task = Task(id="a", title="A", prompt=prompt, key=AnswerKey(files=("shop/cart.py",)))
    assert greps(tree_of(TREE), [task]) == {"a": shown}
