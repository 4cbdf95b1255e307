"""CodeBLEU (Ren et al. 2020): half of it words, half of it the shape of the syntax tree."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from tree_sitter import Node

from swarm_bench.scoring.texts.bleu import LONGEST, ORDERS, sentence_bleu
from swarm_bench.source.grammars import (
    GO,
    JAVASCRIPT,
    PYTHON,
    RUST,
    SOLIDITY,
    TSX,
    TYPESCRIPT,
    Grammar,
    grammar_of,
    parse,
)

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "go": GO,
        "javascript": JAVASCRIPT,
        "python": PYTHON,
        "rust": RUST,
        "solidity": SOLIDITY,
        "tsx": TSX,
        "typescript": TYPESCRIPT,
    }
)
"""Grammars by the name of the language."""
_LANGUAGES = {grammar: language for language, grammar in GRAMMARS.items()}
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "html_comment"})
_EVEN = (1 / ORDERS,) * ORDERS


def language_of(path: str) -> str | None:
    """Return the language that the suffix of a file says; `None` where there is no grammar."""
    path = path.lower()
    grammar = SOLIDITY if path.endswith(".sol") else grammar_of(path)
    return None if grammar is None else _LANGUAGES[grammar]


def code_bleu(guess: str, truth: str, language: str) -> float | None:
    """Return the mean of sentence BLEU over the texts between blanks and of the share of the
    truth's subtrees that the guess has too, names and comments aside; `None` for a language without
    a grammar, and for a truth that cannot be parsed in time. Short texts do not reach 1, since
    BLEU looks for four tokens in a row."""
    grammar = GRAMMARS.get(language)
    if grammar is None:
        return None
    guess, truth = guess[:LONGEST].strip(), truth[:LONGEST].strip()
    syntax = _syntax_match(guess, truth, grammar)
    if syntax is None:
        return None
    return 0.5 * sentence_bleu(guess.split(), truth.split(), _EVEN) + 0.5 * syntax


def _syntax_match(guess: str, truth: str, grammar: Grammar) -> float | None:
    guessed, expected = _tree(guess, grammar), _tree(truth, grammar)
    if expected is None:
        return None
    shapes: dict[object, int] = {}
    guess_shapes = set() if guessed is None else set(_subtrees(guessed, shapes))
    truth_shapes = list(_subtrees(expected, shapes))
    return sum(shape in guess_shapes for shape in truth_shapes) / len(truth_shapes)


def _tree(text: str, grammar: Grammar) -> Node | None:
    return parse(grammar, text.encode("utf-8", "replace"))


def _subtrees(root: Node, shapes: dict[object, int]) -> Iterator[int]:
    """Yield a number for the shape of the root and of each node that has children; equal shapes
    have the same number in `shapes`. Trees may be deeper than Python recurses."""
    cursor = root.walk()
    open_nodes: list[list[object]] = [[]]
    while True:
        while cursor.goto_first_child():
            open_nodes.append([])
        while True:
            node, parts = cursor.node, open_nodes.pop()
            assert node
            if node.type in _COMMENTS:
                parts = []
            elif node.is_named or node.is_missing:
                shape = _shape(node, parts, shapes)
                if node.child_count or not open_nodes:
                    yield shape
                parts = [cursor.field_name, shape]
            if not open_nodes:
                return
            open_nodes[-1] += parts
            if cursor.goto_next_sibling():
                open_nodes.append([])
                break
            cursor.goto_parent()


def _shape(node: Node, parts: list[object], shapes: dict[object, int]) -> int:
    is_broken = node.is_missing or (node.is_error and not node.child_count)
    kind = str(node) if is_broken else node.type
    return shapes.setdefault((kind, *parts), len(shapes))
