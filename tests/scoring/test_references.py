import re
from dataclasses import replace

import pytest

from swarm_bench.core.ports import Missing, ScoreContext
from swarm_bench.scoring.references import MOST_CITATIONS, Citations, References
from tests.builders.golden import Sentences
from tests.scoring.trees import context

FILES = frozenset(
    {
        "src/auth/login.py",
        "src/App.tsx",
        "web/app/[slug]/page.tsx",
        "native/engine.cpp",
        "docs/über uns.md",
        "Makefile",
        ".github/workflows/ci.yml",
        "README.md",
    }
)
SCRIPT = re.compile(
    r"[A-Za-z0-9_./-]+\.(?:ts|tsx|js|jsx|rs|py|go|md|json|toml|ya?ml|sql|sh)", re.ASCII
)


def score(text: str, files: frozenset[str] = FILES) -> dict[str, object]:
    return dict(References().score(ScoreContext(text=text, workspace="/space/w", files=files)))


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("src/a.py and b.rs", 2),
        ("a.py a.py a.py", 3),
        ("Node.js, Next.js and Vue.js", 3),
        ("App.tsx", 1),
        ("x.pyc", 1),
        ("a.py.b.rs.txt", 1),
        (".ts", 0),
        ("..ts", 1),
        ("a.java b.cpp", 0),
        ("a.yml b.yaml", 2),
        ("a.py,b.py:c.py", 3),
        ("https://example.com/x/app.py", 1),
        ("über/ä.py", 0),
        ("nothing here", 0),
    ],
)
def test_references_are_the_matches_of_the_script(text: str, references: int) -> None:
    assert score(text)["references"] == references
    assert references == len(SCRIPT.findall(text))


@pytest.mark.parametrize(
    "mention",
    [
        "src/auth/login.py",
        "./src/auth/login.py",
        "/space/w/src/auth/login.py",
        "auth/login.py",
        "login.py",
        "`src/auth/login.py:12-40`",
        "src/auth/login.py#L7.",
        "(see **src/App.tsx**)",
        "`src/App.tsx:App`",
        "[page](src/App.tsx)",
        "`web/app/[slug]/page.tsx`",
        "native/engine.cpp,",
        "`docs/über uns.md`",
        "`Makefile`",
        ".github/workflows/ci.yml",
        "login.py+other",
    ],
)
def test_a_mention_names_a_file_of_the_snapshot(mention: str) -> None:
    scores = score(f"It is in {mention} as one sees")
    assert (scores["references_existing"], scores["references_distinct"]) == (1, 1)


@pytest.mark.parametrize(
    "mention",
    [
        "gin.py",
        "src/auth/logout.py",
        "/elsewhere/src/auth/login.py",
        "Makefile",
        "src/auth",
        "e.g.",
    ],
)
def test_what_is_not_there_does_not_exist(mention: str) -> None:
    assert score(f"It is in {mention} as one sees")["references_existing"] == 0


def test_the_same_file_named_alike_counts_once() -> None:
    scores = score("src/auth/login.py ./src/auth/login.py /space/w/src/auth/login.py invented.py")
    assert scores == {
        "references": 4,
        "references_distinct": 2,
        "references_existing": 1,
        "grounded": True,
    }


def test_grounded_needs_three_references() -> None:
    assert score("a.py b.py")["grounded"] is False
    assert score("a.py b.py c.py")["grounded"] is True


def test_an_unknown_snapshot_is_not_an_empty_one() -> None:
    scores = score("a.py b.py", files=frozenset())
    assert (scores["references_distinct"], scores["references_existing"]) == (2, None)


def test_no_answer_gives_no_figures() -> None:
    assert set(score("").values()) == {None}


@pytest.mark.parametrize(
    "piece", ["a", ".", "`", "a.", "a.py", "`a", "a:", "/", "./", "\n", ".ts/"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Were it quadratic, a megabyte would outlast the time limit of the test."""
    score(piece * (1_000_000 // len(piece)))


def test_a_name_that_is_no_word_is_one_mention_of_a_file() -> None:
    files = frozenset({"app/[id]/page.tsx", "src/my tool.py", "src/früh.py"})
    text = "- app/[id]/page.tsx:3\n- `src/my tool.py`, src/my tool.py and src/fru\u0308h.py"
    scores = score(text, files)
    assert (scores["references_distinct"], scores["references_existing"]) == (3, 3)


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
