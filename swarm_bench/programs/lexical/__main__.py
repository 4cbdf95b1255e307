"""`python -m swarm_bench.programs.lexical bm25|grep --root FOLDER`: an MCP server with one tool,
`search_code`. With `--build` it makes the index of bm25, and ends.
Both searches over the code files of a repository are plain: what any better tool must beat.
"""

import argparse
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

from swarm_bench.core.entry_points import own_version
from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.scout.grep import Query, counts
from swarm_bench.programs.scout.workspace_files import Files
from swarm_bench.programs.stdio_server import Answer, Server, serve_process
from swarm_bench.runtime.files import remove
from swarm_bench.text.bm25 import Bm25
from swarm_bench.text.ranking import is_code
from swarm_bench.text.terms import stem

FOLDER = ".bm25"
"""Holds the index, in the repository."""
_WORD = re.compile(r"[A-Za-z0-9_]{3,}")
_MOST_WORDS = 16
"""Words of a question that are looked for; each is a search of all files."""
_PATH_WEIGHT = 3.0
"""Weight of a word in the path of a file: as much as in about seven lines."""
_LINES = 3
"""Lines of a file that are shown."""
_LONGEST = 160
"""Characters of a line that is shown."""


class Search(Protocol):
    """A search of one repository."""

    description: str
    """Description that its tool has."""

    def lines(self, question: str, limit: int) -> Iterator[str]:
        """Yield what to look at, the best file first."""
        ...


class Bm25Search:
    """BM25 with an index in the repository, which is made when it is first needed. It stays as it
    is when files change."""

    description = (
        "Finds the files and the lines in them that fit a question best, by the words that they "
        "share (BM25). Ask in a sentence or in keywords, with names from the code where you know "
        "them. Returns a ranked list of paths with lines."
    )

    def __init__(self, root: Path) -> None:
        self._root = root
        self._file = root / FOLDER / "index.db"

    def lines(self, question: str, limit: int) -> Iterator[str]:
        """Yield a file and the lines of its best piece, the best file first."""
        for passage in self._index.passages(question, limit):
            yield f"- `{passage.path}:{passage.first}-{passage.last}`"

    def build(self) -> None:
        """Make the index, as a whole or not at all: other servers may do the same now."""
        self._file.parent.mkdir(exist_ok=True)
        (self._file.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        part = self._file.with_suffix(f".{os.getpid()}.part")
        try:
            Bm25(_texts(Files(self._root)), part).close()
            part.replace(self._file)
        finally:
            with suppress(OSError):
                remove(part)

    @cached_property
    def _index(self) -> Bm25:
        if not self._file.is_file():
            self.build()
        return Bm25.open_file(self._file)


class GrepSearch:
    """A search for each word of the question, with ripgrep where it is installed; the files are
    ranked by how rare the words are that they have."""

    description = (
        "Searches all files for the words of a question and ranks the files: rare words count "
        "most, and a word in a path more than one in a line. Returns paths with the first lines "
        "that have the rarest word."
    )

    def __init__(self, root: Path) -> None:
        self._files = Files(root)
        self._paths = [path for path in self._files.paths if is_code(path)]

    def lines(self, question: str, limit: int) -> Iterator[str]:
        """Yield a file and its first lines with the rarest word, the best file first."""
        query_terms = dict.fromkeys(stem(word.lower()) for word in _WORD.findall(question))
        hits = {word: self._counts(word) for word in [*query_terms][:_MOST_WORDS]}
        weights = {word: self._weigh(word, by_path) for word, by_path in hits.items()}
        scores = {
            path: sum(weights[word] * _weight(word, path, hits[word]) for word in hits)
            for path in self._paths
        }
        fitting = [path for path in self._paths if scores[path] > 0]
        for path in sorted(fitting, key=lambda path: (-scores[path], path))[:limit]:
            matching = [word for word in hits if path in hits[word]]
            yield from self._show_lines(path, max(matching, key=weights.__getitem__, default=None))

    def _counts(self, word: str) -> Mapping[str, int]:
        return counts(_query(word), self._files, self._paths)

    def _weigh(self, word: str, by_path: Mapping[str, int]) -> float:
        in_path = {path for path in self._paths if word in path.lower()}
        return math.log((1 + len(self._paths)) / (1 + len(in_path | by_path.keys())))

    def _show_lines(self, path: str, word: str | None) -> Iterator[str]:
        data = self._files.text(path)
        if word is None or data is None:  # only its path has a word
            yield f"- `{path}`"
            return
        numbered = _query(word).lines(data)
        for (number, line), _ in zip(numbered, range(_LINES), strict=False):
            yield f"- `{path}:{number}` {line.decode('utf-8', 'replace').strip()[:_LONGEST]}"


SEARCHES: Mapping[str, type[Bm25Search | GrepSearch]] = {"bm25": Bm25Search, "grep": GrepSearch}
"""Search engines by the name of the mode."""


def _query(word: str) -> Query:
    return Query.parse(re.escape(word), ignore_case=True)


def _weight(word: str, path: str, by_path: Mapping[str, int]) -> float:
    lines = by_path.get(path, 0)
    return (1 + math.log(lines) if lines else 0.0) + (_PATH_WEIGHT if word in path.lower() else 0.0)


def _texts(files: Files) -> Iterator[tuple[str, str]]:
    for path in files.paths:
        if is_code(path) and (data := files.text(path)) is not None:
            yield path, data.decode("utf-8", "replace")


DEFAULT_LIMIT, MAX_LIMIT = 10, 50
_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for, in words"},
        "limit": {
            "type": "integer",
            "description": f"The most files to return, {DEFAULT_LIMIT} if left out",
        },
    },
    "required": ["query"],
}


def main() -> None:
    """Serve until the input ends, or build an index."""
    parser = argparse.ArgumentParser(prog="swarm_bench.programs.lexical", allow_abbrev=False)
    parser.add_argument("search", choices=[*SEARCHES])
    parser.add_argument("--root", type=Path, required=True, help="repository to search")
    parser.add_argument("--build", action="store_true", help="make the index, and end")
    options = parser.parse_args()
    search = SEARCHES[options.search](options.root.resolve())
    if not options.build:
        serve_process(partial(server_of, options.search, search))
    elif isinstance(search, Bm25Search):
        search.build()


def server_of(name: str, search: Search) -> Server:
    """Make the server of a search."""

    def call(_tool: str, arguments: Mapping[str, Any]) -> Answer:
        query, limit = arguments.get("query"), arguments.get("limit", DEFAULT_LIMIT)
        if not isinstance(query, str) or not isinstance(limit, int):
            return Answer(text="Give query, a text, and perhaps limit, a number.", is_error=True)
        lines = search.lines(query, max(1, min(limit, MAX_LIMIT)))
        return Answer(text="\n".join(lines) or "No file has any of these words.")

    return Server(
        info={"name": f"swarm-bench {name}", "version": own_version()},
        tools=[ToolSpec(name="search_code", description=search.description, schema=_SCHEMA)],
        call=call,
    )


if __name__ == "__main__":
    main()
