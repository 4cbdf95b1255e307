import re

import pytest

from swarm_bench.core.ports import ScoreContext
from swarm_bench.scoring.references import References

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
