"""English text of tokens, by the rules of Moses' detokeniser."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

_ENTITIES = {
    "#124": "|",
    "bar": "|",
    "lt": "<",
    "gt": ">",
    "bra": "[",
    "ket": "]",
    "quot": '"',
    "apos": "'",
    "#91": "[",
    "#93": "]",
    "amp": "&",
}
_ENTITY = re.compile(f"&({'|'.join(_ENTITIES)});")
_OPENING = frozenset("([{¿¡")
_CLOSING = frozenset(",.?!:;\\%}])")
_QUOTES = frozenset("'\"„“`")
_DOUBLE_QUOTES = frozenset("„“")
_WITHOUT_BLANKS = (
    (0x1100, 0x11FF),
    (0x2E80, 0xA4CF),
    (0xA840, 0xA87F),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
    (0xFF65, 0xFFDC),
    (0x17000, 0x18AFF),
    (0x1B000, 0x1B12F),
    (0x1B170, 0x1B2FF),
    (0x20000, 0x2FFFF),
)
"""Characters of scripts that are written without blanks."""

Side = Literal["before", "after", "neither"]


def detokenize(tokens: Sequence[str]) -> str:
    """Return the text of which somebody made the tokens: punctuation, quotation marks, brackets and
    contractions join what they belong to."""
    text = f" {' '.join(tokens)} ".replace(" @-@ ", "-")
    pieces = _ENTITY.sub(lambda match: _ENTITIES[match[1]], text).split()
    joined, blank, open_quotes = list[str](), "", set[str]()
    for preceding, piece in zip(["", *pieces], pieces, strict=False):
        side = _joins(preceding, piece, open_quotes)
        joined += [piece] if side == "before" else [blank, piece]
        blank = "" if side == "after" else " "
    return "".join(joined)


def _joins(preceding: str, piece: str, open_quotes: set[str]) -> Side:
    """Return which neighbours a piece joins. `open_quotes` are the marks that wait for their
    second half."""
    if _is_without_blanks(piece[0]):
        return "before" if preceding and _is_without_blanks(preceding[-1]) else "neither"
    if all(mark in _OPENING or unicodedata.category(mark) == "Sc" for mark in piece):
        return "after"
    if _CLOSING.issuperset(piece):
        return "before"
    if preceding and piece[0] == "'" and piece[1:2].isalpha():
        return "before"
    if _QUOTES.issuperset(piece):
        return _quote_joins(preceding, piece, open_quotes)
    return "neither"


def _quote_joins(preceding: str, piece: str, open_quotes: set[str]) -> Side:
    mark = '"' if _DOUBLE_QUOTES.issuperset(piece) else piece
    if mark in open_quotes:
        open_quotes.remove(mark)
        return "before"
    if piece == "'" and preceding.endswith("s"):
        return "before"
    open_quotes.add(mark)
    return "after"


def _is_without_blanks(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _WITHOUT_BLANKS)
