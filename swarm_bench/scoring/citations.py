"""Whether what the answer points to is there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.ports import Missing, Score, ScoreContext, Tree
from swarm_bench.source.definitions import Definition
from swarm_bench.source.naming import find_by_name, find_citations, find_definitions
from swarm_bench.source.references.reference import Reference

MOST_CITATIONS = 1_000
"""Of an answer, from its beginning."""
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
        citations = _select_distinct(find_citations(context))
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


def _select_distinct(references: tuple[Reference, ...]) -> list[Reference]:
    """Return the references without repetitions."""
    different: dict[tuple[object, ...], Reference] = {}
    for reference in references:
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
