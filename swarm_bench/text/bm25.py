"""Ranks the files of a repository by BM25: the full-text search of SQLite, told what a word is in
code.

A question is compared with whole files and with pieces of them, and a file counts by its places in
both orders. Tried on what the commits of flask, gin, express and zod changed, asked by their first
lines: names in camel case taken apart, word stems and paths each find more; stop words find less.
"""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.text.ranking import is_code

LINES = 60
"""Lines of a piece."""
MAX_WORDS = 64
"""Words of a question that count; more only cost time."""
_RANKED = 100
"""Files and pieces that are put in order; no caller asks for as many files."""
_RATED = 1000
"""Files or pieces that are enough to rate."""
_SMOOTHING = 10
"""How little the first place counts more than the second one; 60 is usual for longer lists."""
_PIECES = 2**20
"""Numbers of pieces that belong to one file."""
_WORD = re.compile(r"[^\W_]+")
_MIXED = re.compile(r"(?<![A-Za-z0-9])[A-Z]*[a-z0-9]+[A-Z][A-Za-z0-9]*")
_IS_MIXED = re.compile(r"[A-Z](?<=[a-z0-9].)").search
"""Tells lines with a name in camel case, a tenth of all, from the others in a third of the time."""
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
TABLES = """
    CREATE VIRTUAL TABLE whole USING fts5(path, text, content='', tokenize='porter unicode61');
    CREATE VIRTUAL TABLE piece USING fts5(path, text, content='', tokenize='porter unicode61');
"""
"""Tables that a database needs for a `Ranking`."""
_FILES = "CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT);"


@dataclass(frozen=True, kw_only=True)
class Passage:
    """The piece of a file that fits a question best."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A file that fits a question, by its number."""

    file: int
    score: float
    first: int
    """Line of the piece that fits best."""


class Ranking:
    """Ranks files by the words of their texts, which stand in `TABLES` of a database; the files
    themselves, with `id` and `path`, in a table of it that is named. The texts of a file that is
    removed from this one stay, and are not found."""

    def __init__(self, database: sqlite3.Connection, files: str) -> None:
        self._database = database
        self._files = files
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, number: int, path: str, text: str) -> None:
        """Index a text under a number that was never used."""
        path_words, lines = _split(path), [_split(line) for line in text.split("\n")]
        insert = "INSERT INTO {} (rowid, path, text) VALUES (?, ?, ?)"
        self._database.execute(insert.format("whole"), (number, path_words, "\n".join(lines)))
        self._database.executemany(
            insert.format("piece"),
            (
                (
                    number * _PIECES + start // LINES,
                    path_words,
                    "\n".join(lines[start : start + LINES]),
                )
                for start in range(0, len(lines), LINES)
            ),
        )

    def search(self, question: str) -> list[Ranked]:
        """Return the files that fit a question, the best first."""
        terms = _extract_terms(question)
        pieces: dict[int, int] = {}
        for piece in self._rank("piece", f"/ {_PIECES}", terms):
            pieces.setdefault(piece // _PIECES, piece % _PIECES)
        scores: defaultdict[int, float] = defaultdict(float)
        for files in (self._rank("whole", "", terms), pieces):
            for position, file in enumerate(files):
                scores[file] += score_position(position)
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [
            Ranked(file=file, score=score, first=pieces.get(file, 0) * LINES + 1)
            for file, score in best
        ]

    def _rank(self, table: str, per_file: str, terms: Sequence[str]) -> list[int]:
        """Return the numbers of what fits, the best first; a word in a path counts three times.
        What most have weighs nothing, and is not looked for. Only what has one of the rarest words
        is rated, which takes a third of the time."""
        (total,) = self._database.execute(f"SELECT count(*) FROM {table}_docsize").fetchone()
        rare = [word for word in terms if 2 * self._count_matches(table, word) <= total] or terms
        if not rare:
            return []
        select = (
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? "  # + keeps it from looking up each
            f"AND +rowid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?) "
            f"AND +rowid {per_file} IN (SELECT id FROM {self._files}) "
            f"ORDER BY bm25({table}, 3.0, 1.0), rowid LIMIT {_RANKED}"
        )
        queries = " OR ".join(rare), " OR ".join(self._rarest(table, rare))
        return [row[0] for row in self._database.execute(select, queries)]

    def _rarest(self, table: str, rare: Sequence[str]) -> list[str]:
        """Choose the rarest words, as many as it takes to have enough to rate."""
        rarest, number = list[str](), 0
        for word in sorted(rare, key=lambda word: self._count_matches(table, word)):
            if number >= _RATED:
                break
            rarest.append(word)
            number += self._count_matches(table, word)
        return rarest

    def _count_matches(self, table: str, word: str) -> int:
        """Count what has a word; questions share their commonest ones."""
        if (table, word) not in self._counts:
            select = f"SELECT count(*) FROM {table} WHERE {table} MATCH ?"
            self._counts[table, word] = self._database.execute(select, (word,)).fetchone()[0]
        return self._counts[table, word]


class Bm25:
    """An index of the code files among those that it is made of."""

    def __init__(self, files: Iterable[tuple[str, str]], database: Path | None = None) -> None:
        """Index paths and texts, in memory or in a file that does not exist yet. Files that fit
        equally well are found in the order that they are given in."""
        self._use(sqlite3.connect(database or ":memory:", isolation_level=None))
        self._database.executescript(f"BEGIN; {_FILES} {TABLES}")
        for number, (path, text) in enumerate(files, start=1):
            if is_code(path):
                self._database.execute("INSERT INTO file VALUES (?, ?)", (number, path))
                self._ranking.add(number, path, text)
        self._database.execute("COMMIT")

    @classmethod
    def open_file(cls, database: Path) -> "Bm25":
        """Open an index that was made in a file."""
        index = cls.__new__(cls)
        index._use(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True))
        return index

    def _use(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._ranking = Ranking(database, "file")

    def close(self) -> None:
        self._database.close()

    def search(self, question: str, limit: int) -> list[str]:
        """Return the paths that fit a question, the best first."""
        return [passage.path for passage in self.passages(question, limit)]

    def passages(self, question: str, limit: int) -> list[Passage]:
        """Return the best piece of each file that fits a question, the best file first."""
        return [self._passage(ranked) for ranked in self._ranking.search(question)[:limit]]

    def _passage(self, ranked: Ranked) -> Passage:
        select = "SELECT path FROM file WHERE id = ?"
        (path,) = self._database.execute(select, (ranked.file,)).fetchone()
        return Passage(path=path, first=ranked.first, last=ranked.first + LINES - 1)


def score_position(position: int) -> float:
    """Rate a place in an order, counted from 0."""
    return 1 / (_SMOOTHING + position)


def _split(text: str) -> str:
    """Put its parts behind each name in camel case; others are taken apart by SQLite."""
    if not _IS_MIXED(text):
        return text
    return _MIXED.sub(lambda name: f"{name[0]} {' '.join(_HUMP.findall(name[0]))}", text)


def name_parts(text: str) -> str:
    """List the parts of the names in camel case that a text has; of a line, since most have
    none."""
    if not _IS_MIXED(text):
        return ""
    return " ".join(part for name in _MIXED.findall(text) for part in _HUMP.findall(name))


def _extract_terms(question: str) -> list[str]:
    """List the words of a question as a query has them: any of them may occur."""
    distinct = dict.fromkeys(word.lower() for word in _WORD.findall(_split(question)))
    return [f'"{word}"' for word in [*distinct][:MAX_WORDS]]
