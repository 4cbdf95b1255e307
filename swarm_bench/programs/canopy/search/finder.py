"""Finds nodes: one function per question that canopy's parameters can ask."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from swarm_bench.programs.canopy.errors import ToolError
from swarm_bench.programs.canopy.index.index_db import HANDLE_COLUMNS, Store, handle
from swarm_bench.programs.canopy.nodes import SYMBOLS, Handle, NodeType
from swarm_bench.programs.canopy.parameters import Search
from swarm_bench.programs.canopy.search.fulltext import combine, fts_query, phrase
from swarm_bench.programs.canopy.search.symbol_references import Reference, find_references
from swarm_bench.programs.globs import compile_glob
from swarm_bench.text.bm25 import Ranked, score_position
from swarm_bench.text.ranking import comes_later, is_code

_FROM = "FROM nodes JOIN files ON files.id = nodes.file_id"
_SYMBOLS = f"nodes.type IN ({', '.join(str(int(symbol)) for symbol in SYMBOLS)})"
_ORDER = "ORDER BY files.path, nodes.start"
# The order of the tables matters: the full-text table yields its rows by rank, and the join drops
# those of what is gone.
_NODES = (
    "SELECT nodes.id, files.id, files.path FROM texts CROSS JOIN nodes ON nodes.id = texts.rowid"
    " CROSS JOIN files ON files.id = nodes.file_id WHERE texts MATCH ? ORDER BY rank"
)
_AT_ONCE = 2
"""Nodes of a file that come before those of worse files."""


@dataclass(slots=True)
class _Candidate:
    """A file that may fit."""

    path: str
    nodes: list[int] = field(default_factory=list)
    """The best first."""
    score: float = 0.0
    is_later: bool = False


@dataclass(frozen=True, slots=True)
class Finder:
    """The searches in one index.

    Results come lazily, the best first where there is something to rank, in the order of paths
    and lines where there is not.
    """

    store: Store
    root: str

    def run(self, search: Search) -> list[Handle]:
        """List the handles of a search without a DSL text.

        Raises:
            ToolError: the kind needs a symbol, or the glob cannot be read.
        """
        handles = self.filter_by_glob(self._handles(search), search.glob)
        return list(islice(handles, search.limit))

    def filter_by_glob(self, handles: Iterable[Handle], glob: str | None) -> Iterator[Handle]:
        pattern = compile_glob(glob) if glob else None
        return (handle for handle in handles if pattern is None or pattern.match(handle.path))

    def _handles(self, search: Search) -> Iterator[Handle]:
        if search.kind != "any":
            return self._find_kind(search)
        if search.parent:
            return self.find_children(search.parent, search.symbol)
        if search.symbol:
            return self.find_symbol(search.symbol)
        if search.section:
            return self.find_section(search.section)
        if search.pattern:
            return self.find_text([search.pattern])
        return self.find_text(search.patterns, "AND" if search.match == "all" else "OR")

    def _find_kind(self, search: Search) -> Iterator[Handle]:
        if not search.symbol:
            raise ToolError(f"kind={search.kind} needs a symbol; give symbol, or omit kind")
        if search.kind == "definition":
            if search.parent:
                return self.find_children(search.parent, search.symbol)
            return self.find_definition(search.symbol)
        return self.find_referrers(search.symbol)

    def find_text(self, texts: Sequence[str], operator: str = "AND") -> Iterator[Handle]:
        """Find what has all of the texts (AND) or any of them (OR): two nodes of each file, the
        best file first and sources before tests and documents, and then the others. Files of code
        stand as bm25 ranks them; who asks for any text gets all that it finds, some of which have
        but a part of a name or a word in their path."""
        query = combine(texts, operator)
        if query is None:
            return
        best = self._rank(self._files_of(query), " ".join(texts), is_any=operator == "OR")
        for group in ([file for file in best if file.is_later is later] for later in (False, True)):
            for position in range(_AT_ONCE):
                for file in group:
                    yield from self._nodes(file.nodes[position : position + 1])
        for file in best:
            yield from self._nodes(file.nodes[_AT_ONCE:])

    def _files_of(self, query: str) -> "dict[int, _Candidate]":
        """Collect the files that have nodes which fit a full-text query, by their numbers."""
        files: dict[int, _Candidate] = {}
        for node, file, path in self._run(_NODES, query):
            files.setdefault(file, _Candidate(path)).nodes.append(node)
        return files

    def _rank(
        self, files: "dict[int, _Candidate]", question: str, *, is_any: bool
    ) -> "list[_Candidate]":
        """Put files in order, with those that only bm25 finds where `is_any`. What is no code
        stands by its best node."""
        code: list[_Candidate] = []
        for ranked in self._rank_by_words(question):
            file = files.pop(ranked.file, None)
            if file is None and is_any:
                file = self._file_of(ranked)
            if file is not None:
                file.score = ranked.score
                code.append(file)
        unranked = [file for file in files.values() if is_code(file.path)]
        texts = [file for file in files.values() if not is_code(file.path)]
        for position, file in enumerate(texts):
            file.score = score_position(position)
        for file in (all_files := [*texts, *code, *unranked]):
            file.is_later = comes_later(file.path, question)
        return sorted(all_files, key=lambda file: (file.is_later, -file.score))

    def _nodes(self, numbers: Iterable[int]) -> Iterator[Handle]:
        for number in numbers:
            yield from self._rows(f"SELECT {HANDLE_COLUMNS} {_FROM} WHERE nodes.id = ?", number)

    def _rank_by_words(self, question: str) -> list[Ranked]:
        try:
            return self.store.ranking().search(question)
        except sqlite3.Error as error:
            raise _as_tool_error(error) from error

    def _file_of(self, ranked: Ranked) -> "_Candidate | None":
        """Return a file with the first node in or around the piece of it that fits best; `None`
        where another server has just removed it."""
        sql = (
            f"SELECT files.path, nodes.id {_FROM}"
            " WHERE files.id = ? ORDER BY nodes.last_line < ?, nodes.start LIMIT 1"
        )
        rows = self._run(sql, ranked.file, ranked.first)
        return next((_Candidate(path, [node]) for path, node in rows), None)

    def _matching(self, query: str | None) -> Iterator[Handle]:
        """Find nodes that fit a full-text query, by rank."""
        if query is None:
            return
        sql = (
            f"SELECT {HANDLE_COLUMNS} FROM texts CROSS JOIN nodes ON nodes.id = texts.rowid"
            " CROSS JOIN files ON files.id = nodes.file_id WHERE texts MATCH ? ORDER BY rank"
        )
        yield from self._rows(sql, query)

    def find_definition(self, name: str) -> Iterator[Handle]:
        """Find functions, classes, structs and methods of exactly that name, in any case."""
        condition = f"WHERE nodes.name = ? COLLATE NOCASE AND {_SYMBOLS}"
        return self._rows(f"SELECT {HANDLE_COLUMNS} {_FROM} {condition} {_ORDER}", name)

    def find_symbol(self, name: str) -> Iterator[Handle]:
        """Find definitions; if there are none, symbols whose name has these words in it."""
        exact = list(self.find_definition(name))
        if exact:
            return iter(exact)
        query = fts_query(name)
        candidates = self._matching(f"name : ({query})" if query else None)
        return (handle for handle in candidates if handle.node.type in SYMBOLS)

    def find_section(self, heading: str) -> Iterator[Handle]:
        condition = "WHERE nodes.type = ? AND instr(lower(nodes.name), lower(?)) > 0"
        sql = f"SELECT {HANDLE_COLUMNS} {_FROM} {condition} {_ORDER}"
        return self._rows(sql, int(NodeType.SECTION), heading)

    def find_children(self, parent: str, name: str | None = None) -> Iterator[Handle]:
        condition = "WHERE nodes.parent = ? COLLATE NOCASE"
        if name is None:
            return self._rows(f"SELECT {HANDLE_COLUMNS} {_FROM} {condition} {_ORDER}", parent)
        condition += " AND nodes.name = ? COLLATE NOCASE"
        return self._rows(f"SELECT {HANDLE_COLUMNS} {_FROM} {condition} {_ORDER}", parent, name)

    def references(self, name: str) -> Iterator[Reference]:
        """Find calls and imports of a name."""
        return find_references(self.root, name, self._matching(_mention(name)), self.nodes_of)

    def find_referrers(self, name: str) -> Iterator[Handle]:
        """Yield the smallest nodes that call or import a name, each once."""
        yielded: set[str] = set()
        for reference in self.references(name):
            holder = reference.holder
            if holder is not None and holder.hex not in yielded:
                yielded.add(holder.hex)
                yield holder

    def nodes_of(self, path: str) -> list[Handle]:
        return list(self._rows(f"SELECT {HANDLE_COLUMNS} {_FROM} WHERE files.path = ?", path))

    def find_files(self, glob: str) -> Iterator[Handle]:
        """Find whole files, each as one chunk."""
        pattern = compile_glob(glob)
        sql = (
            "SELECT whole, path, ?, 0, size, 1, coalesce((SELECT max(last_line) FROM nodes"
            " WHERE nodes.file_id = files.id), 1), NULL, NULL, path"
            " FROM files WHERE tokens IS NOT NULL ORDER BY path"
        )
        return (
            handle for handle in self._rows(sql, int(NodeType.CHUNK)) if pattern.match(handle.path)
        )

    def handle(self, hex_: str) -> tuple[Handle, bytes] | None:
        """Look up the node or whole file with that id, and the hash of its file when it was
        indexed."""
        sql = f"SELECT {HANDLE_COLUMNS}, files.hash {_FROM} WHERE nodes.hex = ?"
        row = self.store.connection.execute(sql, (hex_,)).fetchone()
        if row is None:
            sql = (
                "SELECT whole, path, ?, 0, size, 1, 1, NULL, NULL, path, hash"
                " FROM files WHERE whole = ? AND tokens IS NOT NULL"
            )
            row = self.store.connection.execute(sql, (int(NodeType.CHUNK), hex_)).fetchone()
        return None if row is None else (handle(row[:-1]), row[-1])

    def _rows(self, sql: str, *parameters: object) -> Iterator[Handle]:
        return map(handle, self._run(sql, *parameters))

    def _run(self, sql: str, *parameters: object) -> Iterator[Any]:
        try:
            yield from self.store.connection.execute(sql, parameters)
        except sqlite3.Error as error:
            raise _as_tool_error(error) from error


def _as_tool_error(error: sqlite3.Error) -> ToolError:
    return ToolError(f"The index could not be searched ({error}); search again")


def _mention(name: str) -> str | None:
    """Build a full-text query for the texts that have the name in them."""
    glued = phrase(name)
    return f"body : {glued}" if glued else None
