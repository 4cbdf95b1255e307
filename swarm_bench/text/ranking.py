"""Order in which files are looked at."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from swarm_bench.text.languages import language_of
from swarm_bench.text.terms import Term

_NAMES_OF_TESTS = r"(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*_test\.\w+|[^/]*\.(?:test|spec)\.\w+)$"
"""Fewer than what `source/files.py` asks no questions about: a source that comes late is a fault,
and `commands/test.py` may be one."""
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|__tests__|fixtures?|examples?|benchmarks?)/|" + _NAMES_OF_TESTS
)
_VENDORED = re.compile(
    r"(?:^|/)(?:vendor|_vendor|node_modules|third_party|dist|build|locale)/|"
    r"\.min\.|\.lock$|-lock\.|\.svg$|\.csv$|\.jsonl?$"
)
_OF_TESTS = re.compile(
    r"(?:^|/)(?:tests|__tests__|spec|fixtures|src/test)/|^test/|" + _NAMES_OF_TESTS
)
"""Narrower than `_TESTS`: in packages, folders called `test` or `benchmarks` hold sources too."""
_ASKS_FOR_TESTS = re.compile(r"\b(?:tests?|tested|testing|fixtures?|specs?)\b", re.IGNORECASE)
_ASKS_FOR_PROSE = re.compile(
    r"\b(?:docs?|documented|documentation|readme|changelog|guides?|tutorials?|manuals?)\b",
    re.IGNORECASE,
)
RELATED = "(related)"
"""Under this name `rank` takes the hits of words that are often near the terms."""
_RELATED_WEIGHT = 0.4
_PROSE = frozenset({".md", ".rst", ".txt", ".adoc", ".html"})


def rank(terms: Sequence[Term], hits: Mapping[str, Mapping[str, int]]) -> list[tuple[str, float]]:
    """Score files, best first; equal scores in order of the path.

    `hits` gives lines by file for every term. A file gains for each term it mentions, more for a
    rare term and little for many lines, and most when its own name has the term.
    """
    paths = sorted({path for by_path in hits.values() for path in by_path})
    scored = [(path, _score(path, terms, hits, len(paths))) for path in paths]
    return sorted(scored, key=lambda item: (-item[1], item[0]))


def is_code(path: str) -> bool:
    """Tell whether the file name ends like one of a programming language, or of queries."""
    return language_of(path) is not None or path.lower().endswith(".sql")


def is_prose(path: str) -> bool:
    """Tell whether the file name ends like one of texts for people."""
    return PurePosixPath(path).suffix.lower() in _PROSE


def comes_later(path: str, question: str) -> bool:
    """Tell whether a file comes after the sources: it is a test or a text for people, and the
    question asks for none, or it is neither of these nor code."""
    if _OF_TESTS.search(path):
        return not _ASKS_FOR_TESTS.search(question)
    if is_prose(path):
        return not _ASKS_FOR_PROSE.search(question)
    return not is_code(path)


def _score(
    path: str, terms: Sequence[Term], hits: Mapping[str, Mapping[str, int]], files: int
) -> float:
    total = 0.0
    for term in terms:
        total += term.weight * (_rate_mentions(path, hits.get(term.word, {}), files))
        total += term.weight * _rate_path(path, term)
    total += _RELATED_WEIGHT * _rate_mentions(path, hits.get(RELATED, {}), files)
    return total * _rate_kind(path)


def _rate_mentions(path: str, hits: Mapping[str, int], files: int) -> float:
    lines = hits.get(path, 0)
    return (1 + math.log(lines) / 2) * math.log(1 + files / (1 + len(hits))) if lines else 0.0


def _rate_path(path: str, term: Term) -> float:
    """Return 3 when the file's name begins a word with the term, 1.5 when one of its folders
    does."""
    folder, _, name = path.lower().rpartition("/")
    roots = [root.lower() for root in term.roots]
    if any(_begins_word(name, root) for root in roots):
        return 3.0
    return 1.5 if any(_begins_word(folder, root) for root in roots) else 0.0


def _begins_word(text: str, root: str) -> bool:
    end = r"(?![a-z])" if len(root) < 5 else ""
    return re.search(rf"(?<![a-z]){re.escape(root)}s?{end}", text) is not None


def _rate_kind(path: str) -> float:
    if _VENDORED.search(path):
        return 0.2
    if _TESTS.search(path):
        return 0.4
    if is_prose(path):
        return 0.5
    return 1.0 if is_code(path) else 0.6
