"""The grammars of programming languages, and queries over what they parse, such as the lines that
say nothing to a compiler."""

import threading
import warnings
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

from tree_sitter import Language, Node, Parser, Query, QueryCursor


@dataclass(frozen=True, slots=True)
class Grammar:
    """Module and function that have the parser of a language."""

    module: str
    entry: str = "language"


PYTHON = Grammar("tree_sitter_python")
JAVASCRIPT = Grammar("tree_sitter_javascript")
TYPESCRIPT = Grammar("tree_sitter_typescript", "language_typescript")
TSX = Grammar("tree_sitter_typescript", "language_tsx")
GO = Grammar("tree_sitter_go")
RUST = Grammar("tree_sitter_rust")
SOLIDITY = Grammar("tree_sitter_solidity")
BASH = Grammar("tree_sitter_bash")

GRAMMARS = {
    "py": PYTHON,
    "rs": RUST,
    "go": GO,
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), JAVASCRIPT),
    **dict.fromkeys(("ts", "mts", "cts"), TYPESCRIPT),
    "tsx": TSX,
}
"""Grammars by file ending."""
WIDEST = 10_000
"""Parts of one node."""
_MOST_STEPS = 2_000
"""Most steps in which the shortest text is parsed; the library counts them."""
_BYTES_A_STEP = 20
"""Bytes of a text for each further step: programs take a step for 30 to 1,000 of their bytes."""


def parse(grammar: Grammar, source: bytes) -> Node | None:
    """Return the root of a source text, whatever is broken in it; `None` where the library would
    try for minutes to repair it, as it does with 20 kB of `-,`. The same text has the same result
    on every machine."""
    max_steps = _MOST_STEPS + len(source) // _BYTES_A_STEP
    parser, steps = _parser(grammar, threading.get_ident()), 0

    def is_enough(offset: int, has_error: bool) -> bool:
        nonlocal steps
        del offset, has_error
        steps += 1
        return steps > max_steps

    try:
        tree = parser.parse(lambda offset, point: source[offset:], progress_callback=is_enough)
    except ValueError:
        parser.reset()
        return None
    return tree.root_node


def matches(grammar: Grammar, query: str, root: Node) -> list[dict[str, list[Node]]]:
    """Run a query of the grammar: what each match captured, by name."""
    cursor = _cursor(grammar, query, threading.get_ident())
    return [captures for _, captures in cursor.matches(root)]


def is_wide(root: Node) -> bool:
    """Tell whether it is a table of data, or no source at all: a query over it would take time in
    proportion to the square of its widest node."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.child_count > WIDEST:
            return True
        if node.descendant_count > WIDEST:
            pending += node.children
    return False


def grammar_of(path: str) -> Grammar | None:
    return GRAMMARS.get(path.rpartition(".")[2])


@lru_cache(maxsize=16)
def _language(grammar: Grammar) -> Language:
    entry = getattr(import_module(grammar.module), grammar.entry)
    with warnings.catch_warnings():  # the grammar of Solidity hands over a number, as all once did
        warnings.simplefilter("ignore", DeprecationWarning)
        return Language(entry())


@lru_cache(maxsize=64)
def _parser(grammar: Grammar, _thread: int) -> Parser:
    """Make one per thread: a parser works without the interpreter's lock and has a state."""
    return Parser(_language(grammar))


@lru_cache(maxsize=64)
def _cursor(grammar: Grammar, query: str, _thread: int) -> QueryCursor:
    return QueryCursor(Query(_language(grammar), query))


_COMMENT = "(comment) @comment"
_QUERIES = {
    PYTHON: "(comment) @comment (expression_statement . (string) @comment .)",
    **dict.fromkeys((JAVASCRIPT, TYPESCRIPT, TSX, GO), _COMMENT),
    RUST: "(line_comment) @comment (block_comment) @comment",
}


def comment_lines(path: str, source: bytes) -> frozenset[int]:
    """Return the numbers, from 1, of the lines on which comments and docstrings stand alone. Empty
    for a language that is not supported, and for a file that takes too long to parse."""
    grammar = grammar_of(path)
    root = None if grammar is None else parse(grammar, source)
    if grammar is None or root is None:
        return frozenset()
    lines = source.splitlines()
    numbers = set[int]()
    for captures in matches(grammar, _QUERIES[grammar], root):
        for node in captures["comment"]:
            (first, column), last = node.start_point, node.end_point.row
            is_alone = first < len(lines) and not lines[first][:column].strip()
            numbers |= set(range(first + (1 if is_alone else 2), last + 2))
    return frozenset(numbers)
