"""Whether what an answer points to is there."""

from dataclasses import replace

import pytest

from swarm_bench.core.ports import Missing
from swarm_bench.scoring.citations import MOST_CITATIONS, Citations
from tests.builders.golden import Sentences
from tests.scoring.trees import context


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("See shop/cart.py.", (1, 0, 0, 0)),
        ("See shop/cart.py, shop/cart.py and `./shop/cart.py`.", (1, 0, 0, 0)),
        ("See shop/cart.py:3 and shop/cart.py:6-7.", (2, 0, 0, 0)),
        ("See shop/nothing.py.", (1, 1, 0, 0)),
        ("See shop/cart.py:999.", (1, 0, 1, 0)),
        ("See shop/cart.py:3-999.", (1, 0, 1, 0)),
        ("`Cart.total` in shop/cart.py", (1, 0, 0, 0)),
        ("`Cart.pay` in shop/cart.py", (1, 0, 0, 1)),
        ("See `shop/cart.py::Basket`.", (1, 0, 0, 1)),
        ("`serve` in web/app.ts", (1, 0, 0, 0)),
        ("Nothing is there.", (0, 0, 0, 0)),
    ],
)
def test_what_is_there(text: str, counts: tuple[int, ...], golden: Sentences) -> None:
    scores = Citations().score(context(text))
    keys = ("citations", "citations_invented", "lines_invented", "symbols_misplaced")
    assert tuple(scores[key] for key in keys) == counts
    number, *wrong = counts
    if number:
        assert scores["invented_share"] == sum(wrong) / number
    else:
        assert isinstance(scores["invented_share"], Missing)
        golden(scores["invented_share"].why)


def test_a_symbol_is_looked_for_at_its_lines() -> None:
    there = "- `shop/cart.py:6` — `Cart.total`"
    assert Citations().score(context(there))["symbols_misplaced"] == 0
    elsewhere = "- `shop/cart.py:2` — `checkout`"
    assert Citations().score(context(elsewhere))["symbols_misplaced"] == 1


def test_without_the_repository_only_paths_can_be_judged(golden: Sentences) -> None:
    scores = Citations().score(context("See shop/cart.py:3 and no/x.py.", read=False))
    assert (scores["citations"], scores["citations_invented"]) == (2, 1)
    assert isinstance(scores["lines_invented"], Missing)
    golden(scores["lines_invented"].why)
    assert isinstance(scores["invented_share"], Missing)
    paths = Citations().score(context("See shop/cart.py and no/x.py.", read=False))
    assert paths["invented_share"] == 0.5
    unknown = replace(context("See shop/cart.py."), files=frozenset())
    assert isinstance(Citations().score(unknown)["citations"], Missing)


def test_very_many_citations_are_cut() -> None:
    many = " ".join(f"made/{number}.py" for number in range(MOST_CITATIONS + 50))
    assert Citations().score(context(many))["citations"] == MOST_CITATIONS
