"""Which lines of a source file say nothing to a compiler."""

from swarm_bench.source.grammars import (
    GO,
    JAVASCRIPT,
    PYTHON,
    RUST,
    TSX,
    TYPESCRIPT,
    grammar_of,
    matches,
    parse,
)

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
