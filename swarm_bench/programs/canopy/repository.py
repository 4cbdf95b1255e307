"""One repository: its index, its feedback, and what both servers do with them."""

import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from swarm_bench.programs.canopy.defaults import SCHEMA_VERSION
from swarm_bench.programs.canopy.errors import HandleNotFound, ToolError
from swarm_bench.programs.canopy.index.feedback import Feedback
from swarm_bench.programs.canopy.index.indexing import Index, Refreshed
from swarm_bench.programs.canopy.index.loading import content_hash, load
from swarm_bench.programs.canopy.memory import Memory
from swarm_bench.programs.canopy.nodes import Handle, normal_hex
from swarm_bench.programs.canopy.parameters import Search
from swarm_bench.programs.canopy.result_json import Json, SearchResult
from swarm_bench.programs.canopy.search.dsl import evaluate, parse_dsl
from swarm_bench.programs.canopy.search.finder import Finder
from swarm_bench.programs.canopy.search.fulltext import terms

LOOKING_SHARE = 0.1
"""The part of the time that may go into looking for edited files."""

_AGES = ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """An expanded handle."""

    handle: Handle
    text: str


class Canopy:
    """A repository with its index. Not safe for threads: the service gives each a lock."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.index = Index(root)
        self.feedback = Feedback(root / ".canopy" / "feedback.db")
        self.memory = Memory()
        self._next_look = 0.0

    def close(self) -> None:
        self.index.close()
        self.feedback.close()

    def refresh(self) -> Refreshed:
        """Pick up what changed on disk, unless a look a moment ago found no change."""
        if time.monotonic() < self._next_look and self.index.is_open():
            return Refreshed()
        result = self.index.refresh()
        self._next_look = time.monotonic() + result.looking * (1 / LOOKING_SHARE - 1)
        return result

    def find(self, search: Search) -> SearchResult:
        """Run one search; nothing is recorded.

        Raises:
            ToolError: it cannot be run like that.
        """
        finder = self._finder()
        if not search.dsl:
            handles = finder.run(search)
            return SearchResult(handles=handles, matches=len(handles))
        expression = parse_dsl(search.dsl)
        if expression.word == "references":
            references = list(islice(finder.references(expression.texts[0]), 2 * search.limit))
            first = references[: search.limit]
            cut = len(references) > len(first)
            return SearchResult(
                handles=[], references=first, truncated=cut, matches=len(references)
            )
        handles = list(islice(evaluate(expression, finder), 2 * search.limit))
        first_handles = handles[: search.limit]
        return SearchResult(
            handles=first_handles, truncated=len(handles) > len(first_handles), matches=len(handles)
        )

    def find_any(self, search: Search) -> tuple[Search, SearchResult]:
        """Search for any of a pattern's words instead of all."""
        wider = any_word(search)
        return wider, self.find(wider)

    def record_query(self, text: str, result: SearchResult, indexed: int = 0) -> None:
        """Write the query to feedback.db and remember it for later expansions."""
        event = self.feedback.record_query(
            text, result.handles, indexed=indexed, tokens=result.tokens
        )
        if event is not None:
            for handle in result.handles:
                self.memory.shown_by[handle.id] = event

    def expand(self, handle_id: str) -> Content:
        """Read the text of a handle, whose id may have either form.

        Raises:
            HandleNotFound: nothing has that id.
            ToolError: it is no id, or its file changed or cannot be read.
        """
        hex_ = normal_hex(handle_id)
        if hex_ is None:
            raise ToolError(f"{handle_id!r} is no handle id; use the ids of a query's answer")
        row = self._finder().handle(hex_)
        if row is None:
            raise HandleNotFound(f"Handle {handle_id} was not found; query again")
        handle, digest = row
        try:
            source = load(str(self.root), handle.path)
        except OSError as error:
            raise ToolError(f"{handle.path} cannot be read ({error.strerror})") from error
        if source is None or content_hash(source) != digest:
            raise ToolError(f"{handle.path} changed since it was indexed; query again")
        text = source[handle.node.start : handle.node.end].decode("utf-8", "replace")
        return Content(handle=handle, text=text)

    def record_expansions(self, handles: list[Handle], *, automatic: bool = False) -> None:
        shown_by = self.memory.shown_by
        self.feedback.record_expansions(
            ((handle, shown_by.get(handle.id)) for handle in handles), automatic=automatic
        )
        if not automatic:  # automatic ones do not move to the end of later suggestions
            for handle in handles:
                self.memory.expanded[handle.id] = True

    def status(self) -> Json:
        store = self.index.store()
        files, tokens = store.totals()
        is_checkout = (self.root / ".git").exists()
        return {
            "files_indexed": files,
            "total_tokens": tokens,
            "schema_version": SCHEMA_VERSION,
            "index_size_bytes": store.size(),
            "last_indexed": _age(store.read_note("last_indexed")) if files else None,
            "repo_root": str(self.root),
            "file_discovery": "git" if is_checkout else "walk",
            "feedback": self.feedback.stats(),
        }

    def _finder(self) -> Finder:
        return Finder(self.index.store(), str(self.root))


def any_word(search: Search) -> Search:
    """Turn the search for a pattern into one for any of its words."""
    patterns = tuple(terms(search.pattern or ""))
    return Search(patterns=patterns, glob=search.glob, limit=search.limit)


def _age(moment: int | None) -> str | None:
    if moment is None:
        return None
    seconds = max(0, int(time.time()) - moment)
    size, unit = next(((size, unit) for size, unit in _AGES if seconds >= size), _AGES[-1])
    return f"{seconds // size} {unit} ago"
