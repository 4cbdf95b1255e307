"""Which files are looked at first."""

from swarm_bench.text.ranking import RELATED, rank
from swarm_bench.text.terms import terms_of

TERMS = terms_of("Find the authentication middleware")


def order(hits: dict[str, dict[str, int]]) -> list[str]:
    return [path for path, _ in rank(TERMS, hits)]


def test_several_terms_count_more_than_many_lines() -> None:
    hits = {"authentication": {"a.py": 3, "b.py": 30}, "middleware": {"a.py": 2}}
    assert order(hits) == ["a.py", "b.py"]


def test_a_file_named_after_a_term_comes_first() -> None:
    hits = {"authentication": {"a.py": 5, "auth.py": 5, "author.py": 5}}
    assert order(hits) == ["auth.py", "a.py", "author.py"]


def test_code_comes_before_tests_prose_and_vendored_files() -> None:
    paths = ("node_modules/x.js", "docs/x.md", "x.py", "tests/x.py")
    assert order({"authentication": dict.fromkeys(paths, 5)})[0] == "x.py"
    assert order({"authentication": dict.fromkeys(paths, 5)})[-1] == "node_modules/x.js"


def test_related_words_are_weak_evidence() -> None:
    assert order({"authentication": {"a.py": 1}, RELATED: {"b.py": 9}}) == ["a.py", "b.py"]


def test_equal_files_stand_by_path() -> None:
    assert order({"authentication": {"b.py": 1, "a.py": 1}}) == ["a.py", "b.py"]
