"""Which passages there are, and which questions about them are asked."""

import pytest

from swarm_bench.datasets.making.made import UnsuitableCandidate
from swarm_bench.datasets.making.passages import Passages, find_passages
from swarm_bench.source.files import UNDECLARED
from tests.builders.trees import tree_of

BODY = "    first = a\n    second = first\n    return second\n"
SHORT = "def short_thing(a):\n    return a\n"
COMMIT = "0" * 40


def passages(texts: dict[str, str], seed: int = 0) -> Passages:
    return find_passages(tree_of(texts), COMMIT, seed, UNDECLARED)


def test_each_file_has_a_passage_at_most() -> None:
    texts = {
        f"shop/file{n}.py": f"X = {n}\n\n\ndef long_thing_{n}(a):\n{BODY}\n\n{SHORT}"
        f"def other_thing_{n}(a):\n{BODY}"
        for n in range(6)
    }
    texts |= {"shop/short.py": SHORT, "tests/test_it.py": f"def long_one(a):\n{BODY}", "a.md": "x"}
    drawn = passages(texts)
    assert sorted(it.path for it in drawn.passages) == [f"shop/file{n}.py" for n in range(6)]
    assert all("return a\n" in it.text for it in drawn.passages), "with the lines around it"
    assert [it.path for it in passages(texts).passages] == [it.path for it in drawn.passages]
    assert [it.path for it in passages(texts, 7).passages] != [it.path for it in drawn.passages]


def test_a_file_that_is_there_twice_is_not_asked_about() -> None:
    text = f"def long_thing(a):\n{BODY}"
    drawn = passages({"a.py": text, "b.py": text, "c.py": text.replace("thing", "other")})
    unfit = set()
    for passage in drawn.passages:
        try:
            drawn.check(passage)
        except UnsuitableCandidate:
            unfit.add(passage.path)
    assert unfit == {"a.py", "b.py"}


@pytest.mark.parametrize(
    "question",
    [
        "What in coupon_book.py lowers the sum that somebody pays?",
        "What in the coupon_book lowers the sum that somebody pays?",
        "Where is it that take_away lowers the sum somebody pays?",
        "Where does it take away something when somebody pays late?",
        "How does the class Redeemer lower the sum somebody pays?",
        "How does the redeemer lower the sum somebody pays late?",
        "Where does max_percentage limit what somebody can save?",
        "Where does a max percentage limit what somebody can save?",
        "Where does maxpercentage limit what somebody can save?",
        "Where does MAX-percentage's limit lower what somebody can save?",
        "Where does max\u0332_percentáge limit what somebody can save?",
        "Where does \uff4d\uff41\uff58percentage limit what somebody can save?",
        "Where is it that TAKEAWAY lowers the sum somebody pays?",
    ],
)
def test_names_of_the_passage_are_refused(question: str) -> None:
    code = f"class Redeemer:\n    def take_away(self, a):\n        max_percentage = 5\n{BODY}"
    drawn = passages({"shop/coupon_book.py": code, "shop/other.py": f"def idle_thing(a):\n{BODY}"})
    (passage,) = [it for it in drawn.passages if it.path == "shop/coupon_book.py"]
    with pytest.raises(UnsuitableCandidate):
        drawn.question(question, passage)


def test_letters_of_a_name_within_other_words_are_none() -> None:
    code = f"def in_put(self, a):\n    top_age = 5\n{BODY}"
    drawn = passages({"shop/own.py": code, "shop/other.py": f"def idle_thing(a):\n{BODY}"})
    (passage,) = [it for it in drawn.passages if it.path == "shop/own.py"]
    question = "Where do unstop agents get inputs that somebody pays for late?"
    assert drawn.question(question, passage) == question


def test_words_of_many_files_may_be_shared() -> None:
    """Two files, or a twentieth of them: a word that more have leads nowhere."""
    question = "Where is the customer told that the invoice of somebody is late?"
    code = f'def tell_them(a):\n    """Customer, invoice."""\n{BODY}'
    texts = {"own.py": code} | {f"f{n}.py": f"def do_thing_{n}(a):\n{BODY}" for n in range(60)}
    for others, fits in ((0, False), (2, False), (3, True)):
        for n in range(others):
            texts[f"f{n}.py"] = f"# customer invoice\ndef do_thing_{n}(a):\n{BODY}"
        drawn = passages(texts)
        (own,) = [it for it in drawn.passages if it.path == "own.py"]
        if fits:
            assert drawn.question(question, own) == question
        else:
            with pytest.raises(UnsuitableCandidate, match="rare"):
                drawn.question(question, own)
