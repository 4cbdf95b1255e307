"""Which files the answer mentions, which of them there are, and whether what it points to is there.

Two notions stand side by side. `references` counts as canopy's script does: every match of one
regular expression, which knows a dozen extensions, takes `Node.js` for a file and counts the same
path three times. `references_existing` asks the snapshot instead, whatever the extension.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from swarm_bench.core.ports import Missing, Score, ScoreContext, Tree
from swarm_bench.source.definitions import Definition
from swarm_bench.source.naming import find_by_name, find_citations, find_definitions
from swarm_bench.source.references.extraction import Reference
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of

# The script's expression is `[A-Za-z0-9_./-]+\.(ts|tsx|js|...)`. Its first part is greedy, so in
# each unbroken run of path characters it matches once: up to the last extension that has something
# before its dot. Looking for runs first gives the same matches, but in linear time.
_RUN = re.compile(r"[A-Za-z0-9_./-]+")
_EXTENSION = re.compile(r"\.(?:ts|tsx|js|jsx|rs|py|go|md|json|toml|ya?ml|sql|sh)")

_CODE_SPAN = re.compile(r"`([^`\n]{1,400})`")
_WORD = re.compile(r"""[^\s`"'<>()\[\]{},;|*=…“”‘’«»→←]+""")


@dataclass(frozen=True, kw_only=True)
class References:
    """`references`: matches of the script's expression, repetitions included.
    `references_distinct`: different mentions; a mention names a file of the snapshot or matches
    the expression. `references_existing`: those that name a file; `None` if the snapshot is not
    known. `grounded`: whether `references` reaches `grounded_at`.

    A mention names a file by its path, with or without `./` or the workspace's path before it, or
    by the end of the path from a `/` on (`login.py`, `auth/login.py`). A name with neither `.` nor
    `/` (`Makefile`) must stand in a code span, else every word would be a candidate.
    """

    grounded_at: int = 3
    name = "references"
    version = 1
    keys = ("references", "references_distinct", "references_existing", "grounded")

    def score(self, context: ScoreContext) -> Mapping[str, Score]:
        if not context.text:
            return dict.fromkeys(self.keys)
        references = sum(1 for _ in _script_matches(context.beginning))
        snapshot = snapshot_of(context.files, context.workspace)
        mentions = dict(_mentions(snapshot.mark(context.beginning), snapshot))
        return {
            "references": references,
            "references_distinct": len(mentions),
            "references_existing": sum(mentions.values()) if context.files else None,
            "grounded": references >= self.grounded_at,
        }


def _script_matches(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        if "." in run and (match := _script_match(run)):
            yield match


def _script_match(run: str) -> str:
    end = 0
    for extension in _EXTENSION.finditer(run, 1):
        end = extension.end()
    return run[:end]


def _mentions(text: str, snapshot: Snapshot) -> Iterator[tuple[str, bool]]:
    """Yield mentions in the order of the text, and whether each names a file of the snapshot."""
    position = 0
    for span in _CODE_SPAN.finditer(text):
        path = snapshot.relative(snapshot.marks.unmark(span[1].strip()))
        if not snapshot.has(path):
            continue
        yield from _mentions_in(text[position : span.start()], snapshot)
        yield path, True
        position = span.end()
    yield from _mentions_in(text[position:], snapshot)


def _mentions_in(text: str, snapshot: Snapshot) -> Iterator[tuple[str, bool]]:
    for run in _WORD.findall(text):
        word = run.rstrip(".,:!?")
        if "." in word or "/" in word:
            yield from _check_paths(word, snapshot)


@lru_cache(maxsize=20_000)
def _check_paths(word: str, snapshot: Snapshot) -> tuple[tuple[str, bool], ...]:
    """Look a word up. Kept between calls: the answers of a session name the same files."""
    return tuple(_mention_in(word, snapshot))


def _mention_in(word: str, snapshot: Snapshot) -> Iterator[tuple[str, bool]]:
    for candidate in (word, re.split("[:#]", word, maxsplit=1)[0]):
        path = snapshot.relative(snapshot.marks.unmark(candidate))
        # Behind `:` or `#` stand line numbers: `app.py:12-40`, `app.py#L12`.
        if ("." in path or "/" in path) and snapshot.has(path):
            yield path, True
            return
    for run in _RUN.findall(word):
        match = _script_match(run)
        if match:
            path = snapshot.relative(match)
            yield path, snapshot.has(path)


MOST_CITATIONS = 1_000
"""Most citations of an answer, from its beginning."""
_PART = re.compile(r"[\w$]")
"""A character of a name."""
_NEAR = 2
"""Lines by which an answer may miss a symbol."""
_UNREAD = Missing("the repository cannot be read")


@dataclass(frozen=True, kw_only=True)
class Citations:
    """`citations`: places that the answer points to, each a path with the lines and the
    symbol that it gives. `citations_invented`: those whose file is not in the repository.
    `lines_invented`: those with a line behind the end of the file. `symbols_misplaced`: those whose
    symbol does not occur in the file, or not at the lines that are given. `invented_share`: the
    share of the three among all."""

    name = "citations"
    version = 1
    keys = (
        "citations",
        "citations_invented",
        "lines_invented",
        "symbols_misplaced",
        "invented_share",
    )

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        if not context.files:
            return dict.fromkeys(self.keys, Missing("the files of the repository are not known"))
        citations = list_citations(context)
        invented = [citation for citation in citations if citation.path is None]
        exact = [
            citation
            for citation in citations
            if citation.path and (citation.first_line or citation.symbol)
        ]
        counts: dict[str, Score | Missing] = {
            "citations": len(citations),
            "citations_invented": len(invented),
        }
        if exact and context.tree is None:
            return dict.fromkeys(self.keys, _UNREAD) | counts
        read = _Read(context.tree)
        beyond = {citation for citation in exact if not read.has_lines(citation)}
        misplaced = [
            citation
            for citation in exact
            if citation not in beyond and not read.has_symbol(citation)
        ]
        wrong = len(invented) + len(beyond) + len(misplaced)
        nothing = Missing("the answer points to nothing")
        return counts | {
            "lines_invented": len(beyond),
            "symbols_misplaced": len(misplaced),
            "invented_share": wrong / len(citations) if citations else nothing,
        }


def list_citations(context: ScoreContext) -> list[Reference]:
    """Return what an answer points to, without repetitions."""
    different: dict[tuple[object, ...], Reference] = {}
    for reference in find_citations(context):
        location = reference.path or reference.mention
        key = (location, reference.first_line, reference.last_line, reference.symbol)
        different.setdefault(key, reference)
        if len(different) == MOST_CITATIONS:
            break
    return list(different.values())


class _Read:
    """What was read of a repository. What is too large to be looked at is taken to be right."""

    def __init__(self, tree: Tree | None) -> None:
        self._tree = tree
        self._texts: dict[str, str | None] = {}

    def has_lines(self, citation: Reference) -> bool:
        """Tell whether the file is as long as the lines that are given."""
        text = self._text_of(citation)
        if citation.first_line is None or text is None:
            return True
        number = text.count("\n") + (text[-1:] not in ("", "\n"))
        return 0 < citation.first_line <= (citation.last_line or citation.first_line) <= number

    def has_symbol(self, citation: Reference) -> bool:
        """Tell whether the symbol occurs in the file, at the lines if there are any: by its name,
        or around them by its definition."""
        text = self._text_of(citation)
        if citation.symbol is None or text is None:
            return True
        own_name = re.split(r"\.|::|#", citation.symbol)[-1]
        if citation.first_line is None:
            return _has_name(text, own_name)
        first = citation.first_line - _NEAR
        last = (citation.last_line or citation.first_line) + _NEAR
        lines = text.split("\n", last)[max(0, first - 1) : last]
        return any(_has_name(line, own_name) for line in lines) or any(
            definition.first_line <= last and definition.last_line >= first
            for definition in self._definitions_of(citation)
        )

    def _definitions_of(self, citation: Reference) -> list[Definition]:
        by_name = find_definitions(self._tree, citation.path or "") if self._tree else {}
        return find_by_name(by_name, citation.symbol or "")

    def _text_of(self, citation: Reference) -> str | None:
        path = citation.path or ""
        if path not in self._texts:
            source = self._tree.read(path) if self._tree else None
            self._texts[path] = None if source is None else source.decode("utf-8", "replace")
        return self._texts[path]


def _has_name(text: str, name: str) -> bool:
    """Tell whether a name stands in a text, not as a part of a longer one."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _PART.match(text[max(0, at - 1) : at]) and not _PART.match(text[end : end + 1]):
            return True
        at = text.find(name, at + 1)
    return False
