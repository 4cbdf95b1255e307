"""The grammars of programming languages, and queries over what they parse."""

import threading
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

from tree_sitter import Language, Node, Parser, Query, QueryCursor


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where the parser of a language is."""

    module: str
    entry: str = "language"


PYTHON = Grammar("tree_sitter_python")
JAVASCRIPT = Grammar("tree_sitter_javascript")
TYPESCRIPT = Grammar("tree_sitter_typescript", "language_typescript")
TSX = Grammar("tree_sitter_typescript", "language_tsx")
GO = Grammar("tree_sitter_go")
RUST = Grammar("tree_sitter_rust")

GRAMMARS = {
    "py": PYTHON,
    "rs": RUST,
    "go": GO,
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), JAVASCRIPT),
    **dict.fromkeys(("ts", "mts", "cts"), TYPESCRIPT),
    "tsx": TSX,
}
"""By file ending."""
WIDEST = 10_000
"""Parts of one node."""


def parsed(grammar: Grammar, source: bytes) -> Node:
    """Return the root of a source text, whatever is broken in it."""
    return _parser(grammar, threading.get_ident()).parse(source).root_node


def matches(grammar: Grammar, query: str, root: Node) -> list[dict[str, list[Node]]]:
    """Run a query of the grammar: what each match captured, by name."""
    cursor = _cursor(grammar, query, threading.get_ident())
    return [captures for _, captures in cursor.matches(root)]


def is_wide(root: Node) -> bool:
    """Tell whether it is a table of data, or no source at all: a query over it would take time in
    proportion to the square of its widest node."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.child_count > WIDEST:
            return True
        if node.descendant_count > WIDEST:
            waiting += node.children
    return False


def grammar_of(path: str) -> Grammar | None:
    return GRAMMARS.get(path.rpartition(".")[2])


@lru_cache(maxsize=16)
def _language(grammar: Grammar) -> Language:
    return Language(getattr(import_module(grammar.module), grammar.entry)())


@lru_cache(maxsize=64)
def _parser(grammar: Grammar, _thread: int) -> Parser:
    """Make one per thread: a parser works without the interpreter's lock and has a state."""
    return Parser(_language(grammar))


@lru_cache(maxsize=64)
def _cursor(grammar: Grammar, query: str, _thread: int) -> QueryCursor:
    return QueryCursor(Query(_language(grammar), query))
