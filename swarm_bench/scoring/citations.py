"""Whether what the answer points to is there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.ports import Missing, Score, ScoreContext, Tree
from swarm_bench.source.definitions import Definition
from swarm_bench.source.naming import cited, defined_in, is_called
from swarm_bench.source.references.reference import Reference

MOST_CITATIONS = 1_000
"""Of an answer, from its beginning."""
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
        citations = _different(cited(context))
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


def _different(references: tuple[Reference, ...]) -> list[Reference]:
    """Return the references without repetitions."""
    different: dict[tuple[object, ...], Reference] = {}
    for reference in references:
        where = reference.path or reference.mention
        key = (where, reference.first_line, reference.last_line, reference.symbol)
        different.setdefault(key, reference)
        if len(different) == MOST_CITATIONS:
            break
    return list(different.values())


class _Read:
    """What was read of a repository. What is too large to be looked at is taken to be right."""

    def __init__(self, tree: Tree | None) -> None:
        self._tree = tree
        self._lines: dict[str, list[str] | None] = {}

    def has_lines(self, citation: Reference) -> bool:
        """Tell whether the file is as long as the lines that are given."""
        lines = self._lines_of(citation)
        if citation.first_line is None or lines is None:
            return True
        number = len(lines) - (lines[-1] == "")
        return 0 < citation.first_line <= (citation.last_line or citation.first_line) <= number

    def has_symbol(self, citation: Reference) -> bool:
        """Tell whether the symbol occurs in the file, at the lines if there are any: by its name,
        or around them by its definition."""
        lines = self._lines_of(citation)
        if citation.symbol is None or lines is None:
            return True
        own_name = re.escape(re.split(r"\.|::|#", citation.symbol)[-1])
        word = re.compile(rf"(?<![\w$]){own_name}(?![\w$])")
        if citation.first_line is None:
            return any(map(word.search, lines))
        first = citation.first_line - _NEAR
        last = (citation.last_line or citation.first_line) + _NEAR
        return any(map(word.search, lines[max(0, first - 1) : last])) or any(
            is_called(definition, citation.symbol)
            for definition in self._definitions_of(citation)
            if definition.first_line <= last and definition.last_line >= first
        )

    def _definitions_of(self, citation: Reference) -> tuple[Definition, ...]:
        return defined_in(self._tree, citation.path) if self._tree and citation.path else ()

    def _lines_of(self, citation: Reference) -> list[str] | None:
        path = citation.path or ""
        if path not in self._lines:
            source = self._tree.read(path) if self._tree else None
            text = None if source is None else source.decode("utf-8", "replace")
            self._lines[path] = None if text is None else text.split("\n")
        return self._lines[path]
