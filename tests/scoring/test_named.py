"""Files and symbols of an answer, compared with those of its key."""

from dataclasses import replace

import pytest

from swarm_bench.core.ports import Missing
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.scoring.key_coverage import NamedFiles, NamedSymbols
from swarm_bench.testing.contracts import check_scorer
from tests.builders.golden import Sentences
from tests.scoring.trees import context

CART = ("shop/cart.py",)
TOTAL = ("shop/cart.py::Cart.total",)


def test_the_files_of_an_answer() -> None:
    text = "It is in `web/app.ts:1` and [the cart](/srv/clone/shop/cart.py#L3); see cart.py, no.py."
    scores = NamedFiles().score(context(text, files=(*CART, "shop/basket.py")))
    assert scores["file_recall"] == 0.5
    assert scores["file_precision"] == 0.5
    assert scores["file_first_rank"] == 2
    assert scores["files_all_found"] is False


def test_listing_everything_is_no_good_answer() -> None:
    files = [f"src/{number}.py" for number in range(300)]
    text = "\n".join(f"- `{file}`" for file in files)
    answer = context(text, files=("src/250.py",))
    scores = NamedFiles().score(replace(answer, files=frozenset(files)))
    assert scores["file_recall"] == 0
    assert scores["file_ndcg"] == 0


def test_what_an_answer_finds_of_other_keys() -> None:
    basket = AnswerKey(files=("shop/basket.py",), symbols=("shop/basket.py::Basket.add",))
    others = (Task(id="b", title="b", prompt="b", key=basket), Task(id="c", title="c", prompt="c"))
    asked = context("It is in shop/cart.py.", files=CART, symbols=TOTAL, others=others)
    assert NamedFiles().score(asked)["file_recall_elsewhere"] == 0
    every = replace(asked, text="In shop/cart.py: total(). `Basket.add` is in shop/basket.py.")
    assert NamedFiles().score(every)["file_recall_elsewhere"] == 1
    assert NamedSymbols().score(every)["symbol_recall_elsewhere"] == 1


def test_no_answer_has_found_nothing() -> None:
    scores = NamedFiles().score(context("", files=CART))
    assert (scores["file_recall"], scores["files_all_found"]) == (0.0, False)
    assert isinstance(scores["file_precision"], Missing)


@pytest.mark.parametrize(
    ("text", "recall", "precision"),
    [
        ("`Cart.total` in shop/cart.py adds up.", 1.0, 1.0),
        ("See `shop/cart.py::Cart.total`.", 1.0, 1.0),
        ("In shop/cart.py, `total()` adds up and `checkout()` calls it.", 1.0, 0.5),
        ("`Cart.total` adds up.", 0.0, None),
        ("In shop/basket.py there is no `total`.", 0.0, None),
        ("In shop/cart.py and shop/basket.py there is `add`.", 0.0, None),
    ],
)
def test_the_symbols_of_an_answer(text: str, recall: float, precision: float | None) -> None:
    scores = NamedSymbols().score(context(text, symbols=TOTAL))
    assert scores["symbol_recall"] == recall
    stated = scores["symbol_precision"]
    assert (None if isinstance(stated, Missing) else stated) == precision


def test_a_name_that_is_tied_to_its_file_is_that_of_the_file() -> None:
    key = ("shop/basket.py::Basket.add",)
    text = "`add` in shop/basket.py does nothing; `shop/cart.py` has another."
    assert NamedSymbols().score(context(text, symbols=key))["symbols_all_found"] is True


def test_what_cannot_be_computed_is_missing(golden: Sentences) -> None:
    unknown = replace(context("x", files=CART), files=frozenset())
    for scores in (
        NamedFiles().score(context("x")),
        NamedFiles().score(unknown),
        NamedSymbols().score(context("x", symbols=TOTAL, read=False)),
        NamedSymbols().score(context("x")),
    ):
        (missing,) = set(scores.values())
        assert isinstance(missing, Missing)
        golden(missing.why)


def test_they_keep_the_contract() -> None:
    check_scorer(NamedFiles())
    check_scorer(NamedSymbols())
