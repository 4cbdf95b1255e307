"""The index on disk: `.canopy/index.db`, SQLite with a full-text table of the nodes, which has the
parts of names in camel case beside each text, and those by which bm25 ranks files of code.

The full-text tables keep no text of their own. They cannot forget a row, so rows of what is gone
stay in them and are dropped when results are joined with `nodes`; numbers are never used twice.
When such rows are in the majority the index is rebuilt.
"""

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.programs.canopy.errors import ToolError
from swarm_bench.programs.canopy.index.discovery import Stamp
from swarm_bench.programs.canopy.index.loading import Parsed
from swarm_bench.programs.canopy.nodes import (
    Handle,
    Node,
    NodeType,
    handle_hex,
    preview,
    token_count,
)
from swarm_bench.text.bm25 import TABLES, Ranking, name_parts
from swarm_bench.text.ranking import is_code

APPLICATION_ID = 0x5B43414E
LAYOUT = 4
BUSY_SECONDS = 30.0

SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {LAYOUT};
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, hash BLOB NOT NULL, tokens INTEGER, whole TEXT NOT NULL
);
CREATE INDEX files_whole ON files (whole);
CREATE TABLE nodes (
    id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL, hex TEXT NOT NULL, type INTEGER NOT NULL,
    start INTEGER NOT NULL, end INTEGER NOT NULL, first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL, name TEXT, parent TEXT, preview TEXT NOT NULL
);
CREATE INDEX nodes_file ON nodes (file_id);
CREATE INDEX nodes_hex ON nodes (hex);
CREATE INDEX nodes_name ON nodes (name COLLATE NOCASE) WHERE name IS NOT NULL;
CREATE INDEX nodes_parent ON nodes (parent COLLATE NOCASE) WHERE parent IS NOT NULL;
CREATE VIRTUAL TABLE texts
    USING fts5 (name, body, parts, content='', tokenize='porter unicode61');
INSERT INTO texts (texts, rank) VALUES ('rank', 'bm25(4.0, 1.0, 1.0)');
{TABLES}
"""

HANDLE_COLUMNS = (
    "nodes.hex, files.path, nodes.type, nodes.start, nodes.end, nodes.first_line,"
    " nodes.last_line, nodes.name, nodes.parent, nodes.preview"
)
RETRY_SECONDS = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedFile:
    """A file as the index has it."""

    id: int
    stamp: Stamp
    hash: bytes


class Store:
    """One connection to the index. Only the holder of the lock may call what writes."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.connection = sqlite3.connect(
            file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._inode: int | None = None

    def is_current(self) -> bool:
        """Tell whether the file still exists: a clean-up may remove it under a running server."""
        current = inode(self.file)
        if self._inode is None:
            # SQLite makes the file with the first statement and not when it is opened.
            self._inode = current
        return current is not None and current == self._inode

    def close(self) -> None:
        self.connection.close()

    def is_ready(self) -> bool:
        """Tell whether the tables exist.

        Raises:
            ToolError: the file is another program's index.
            sqlite3.DatabaseError: the file is damaged.
        """
        self.connection.execute("PRAGMA synchronous = NORMAL")
        # In one statement: another server may be making the tables right now.
        application, layout, tables = self.connection.execute(
            "SELECT (SELECT application_id FROM pragma_application_id),"
            " (SELECT user_version FROM pragma_user_version),"
            " (SELECT count(*) FROM sqlite_master)"
        ).fetchone()
        if tables and application != APPLICATION_ID:
            raise ToolError(
                f"{self.file} was written by another program; remove it to let this one index"
            )
        return bool(tables) and layout == LAYOUT

    def create(self) -> None:
        write_ahead(self.connection, BUSY_SECONDS)
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def version(self) -> int:
        """Return a number that changes when another connection has written."""
        (number,) = self.connection.execute("PRAGMA data_version").fetchone()
        return int(number)

    def indexed_files(self) -> dict[str, IndexedFile]:
        rows = self.connection.execute("SELECT path, id, size, mtime_ns, hash FROM files")
        return {
            path: IndexedFile(id=id_, stamp=Stamp(size, mtime), hash=digest)
            for path, id_, size, mtime, digest in rows
        }

    def sizes(self) -> list[tuple[str, int]]:
        """List path and tokens of each file; one that is no text has none."""
        return self.connection.execute("SELECT path, coalesce(tokens, 0) FROM files").fetchall()

    def forget(self, file_ids: Iterable[int]) -> None:
        ids = [(file_id,) for file_id in file_ids]
        self.connection.executemany("DELETE FROM nodes WHERE file_id = ?", ids)
        self.connection.executemany("DELETE FROM files WHERE id = ?", ids)

    def touch(self, file_id: int, stamp: Stamp) -> None:
        """Store a new stamp for the same content."""
        self.connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?",
            (stamp.size, stamp.mtime_ns, file_id),
        )

    def next_node(self) -> int:
        """Return the first node number that was never used, not even by a node that is gone."""
        (last,) = self.connection.execute("SELECT max(id) FROM texts_docsize").fetchone()
        return int(last or 0) + 1

    def add(self, parsed: Parsed, first: int) -> int:
        """Write one file and its nodes, numbered from `first`; the next free number."""
        cursor = self.connection.execute(
            "INSERT INTO files (path, size, mtime_ns, hash, tokens, whole)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            _file_row(parsed),
        )
        nodes = list(enumerate(parsed.nodes or (), first))
        file_id = cursor.lastrowid
        text = _text(parsed.source, 0, len(parsed.source)) if nodes else ""
        parts = [name_parts(line) for line in text.split("\n")]
        self.connection.executemany(
            "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((number, file_id, *_node_row(parsed, node)) for number, node in nodes),
        )
        self.connection.executemany(
            "INSERT INTO texts (rowid, name, body, parts) VALUES (?, ?, ?, ?)",
            (
                (
                    number,
                    node.name or "",
                    _text(parsed.source, node.start, node.end),
                    " ".join(filter(None, parts[node.first_line - 1 : node.last_line])),
                )
                for number, node in nodes
            ),
        )
        if parsed.nodes is not None and is_code(parsed.path) and file_id:
            self.ranking().add(file_id, parsed.path, text)
        return first + len(nodes)

    def ranking(self) -> Ranking:
        """Return what ranks the files of code, as the index is now."""
        return Ranking(self.connection, "files")

    def note(self, key: str, value: int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def read_note(self, key: str) -> int | None:
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else int(row[0])

    def is_mostly_dead(self) -> bool:
        """Tell whether most rows of the full-text table belong to nodes that are gone."""
        query = "SELECT (SELECT count(*) FROM texts_docsize), (SELECT count(*) FROM nodes)"
        rows, alive = self.connection.execute(query).fetchone()
        return bool(rows > 1_000 and rows > 2 * alive)

    def clear(self) -> None:
        self.connection.execute("DELETE FROM nodes")
        self.connection.execute("DELETE FROM files")
        for table in ("texts", "whole", "piece"):
            self.connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")

    def checkpoint(self) -> None:
        """Move everything into index.db, so that its time of change says when indexing ended."""
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def totals(self) -> tuple[int, int]:
        """Count the files that could be indexed, and their tokens."""
        query = "SELECT count(*), coalesce(sum(tokens), 0) FROM files WHERE tokens IS NOT NULL"
        files, tokens = self.connection.execute(query).fetchone()
        return int(files), int(tokens)

    def size(self) -> int:
        """Return the bytes of the database."""
        (pages,) = self.connection.execute("PRAGMA page_count").fetchone()
        (page,) = self.connection.execute("PRAGMA page_size").fetchone()
        return int(pages) * int(page)


def handle(row: tuple[str, str, int, int, int, int, int, str | None, str | None, str]) -> Handle:
    """Build a handle from a row of HANDLE_COLUMNS."""
    hex_, path, type_, start, end, first, last, name, parent, text = row
    node = Node(
        type=NodeType(type_),
        start=start,
        end=end,
        first_line=first,
        last_line=last,
        name=name,
        parent=parent,
    )
    return Handle(hex=hex_, path=path, node=node, preview=text)


def _file_row(parsed: Parsed) -> tuple[object, ...]:
    size = len(parsed.source)
    tokens = None if parsed.nodes is None else token_count(size)
    file_hex = handle_hex(parsed.path, NodeType.CHUNK, 0, size)
    return (parsed.path, parsed.stamp.size, parsed.stamp.mtime_ns, parsed.hash, tokens, file_hex)


def _node_row(parsed: Parsed, node: Node) -> tuple[object, ...]:
    return (
        handle_hex(parsed.path, node.type, node.start, node.end),
        int(node.type),
        node.start,
        node.end,
        node.first_line,
        node.last_line,
        node.name,
        node.parent,
        preview(parsed.source, node.start, node.end),
    )


def _text(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode("utf-8", "replace")


def write_ahead(connection: sqlite3.Connection, seconds: float) -> None:
    """Give the database a write-ahead log, so that readers do not wait for the writer.

    SQLite's own waiting does not cover this: of several servers that make a file together, one
    finds it locked at once.

    Raises:
        sqlite3.OperationalError: it was still locked after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(RETRY_SECONDS)


def inode(file: Path) -> int | None:
    """Return what tells a file from one that replaced it; None when there is none."""
    try:
        return file.stat().st_ino
    except OSError:
        return None
