"""What plain BM25 finds."""

from pathlib import Path

import pytest

from swarm_bench.text.bm25 import LINES, Bm25, Passage

FILES = (
    ("app/sessions.py", "class SessionInterface:\n    def open_session(self): ...\n"),
    ("app/routing.py", "def add_rule(url): ...\n" + "x = 1\n" * 100 + "def converters(): ...\n"),
    ("app/helpers.py", "def url_for(endpoint):\n    return endpoint\n"),
    ("README.md", "Sessions, routing and converters."),
)


@pytest.fixture
def index() -> Bm25:
    return Bm25(FILES)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("Where is the interface of sessions?", "app/sessions.py"),  # parts of a name, stems
        ("SessionInterface", "app/sessions.py"),
        ("open_session", "app/sessions.py"),
        ("which converter is used", "app/routing.py"),
        ("helpers", "app/helpers.py"),  # only its path has the word
    ],
)
def test_the_file_with_the_words_of_a_question_comes_first(
    index: Bm25, question: str, path: str
) -> None:
    assert index.search(question, 10)[0] == path


def test_only_code_is_found(index: Bm25) -> None:
    assert "README.md" not in index.search("sessions routing converters", 10)


@pytest.mark.parametrize("path", ["a.mts", "a.cjs", "src/A.DART", "a.zig", "a.kts", "schema.sql"])
def test_code_in_every_language_is_found(path: str) -> None:
    assert Bm25([(path, "sessions")]).search("sessions", 10) == [path]


def test_a_limit_cuts_the_list(index: Bm25) -> None:
    assert len(index.search("url", 10)) == 2
    assert len(index.search("url", 1)) == 1


@pytest.mark.parametrize("question", ["", " ?!", "nothing_here", 'a" OR "b) NEAR(', "NOT AND *"])
def test_a_question_without_known_words_finds_nothing(index: Bm25, question: str) -> None:
    assert index.search(question, 10) == []


def test_the_piece_that_fits_best_is_named(index: Bm25) -> None:
    (best,) = index.passages("converters", 1)
    assert best == Passage(path="app/routing.py", first=LINES + 1, last=2 * LINES)


def test_files_that_fit_equally_well_stand_in_their_order() -> None:
    twins = [("b.py", "same"), ("a.py", "same")]
    assert Bm25(twins).search("same", 10) == ["b.py", "a.py"]


def test_an_index_can_stay_in_a_file(tmp_path: Path, index: Bm25) -> None:
    Bm25(FILES, tmp_path / "index.db").close()
    assert Bm25.open_file(tmp_path / "index.db").search("url", 10) == index.search("url", 10)
