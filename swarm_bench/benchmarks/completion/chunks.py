"""Cuts code into pieces that a model can read whole, at the borders of what is declared."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

_ANYWHERE = ("\n\n", "\n", " ", "")
_TYPESCRIPT = (
    "export", "interface", "type", "enum", "class", "function", "const", "let", "if", "for",
    "while",
)  # fmt: skip
_DECLARED: dict[str, tuple[str, ...]] = {
    "solidity": (
        "pragma", "using", "contract", "interface", "library", "constructor", "type", "function",
        "event", "modifier", "error", "struct", "enum", "if", "for", "while", "do while",
        "assembly",
    ),
    "python": ("class", "def", "async def", "    def", "    async def"),
    "javascript": ("export", "class", "function", "const", "let", "var", "if", "for", "while"),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": ("import", "type", "func", "const", "var", "if", "for", "switch"),
    "rust": ("mod", "pub", "impl", "trait", "struct", "enum", "fn", "const", "let", "if", "for"),
}  # fmt: skip
"""What begins a line at whose beginning code is cut, from the coarsest to the finest."""
_SHARED = 8
"""In parity, neighbours share this part of the largest size,"""
_SMALL = 10
"""and what is smaller than this part of it is no chunk of its own."""


def split_chunks(
    text: str, language: str | None, largest: int, *, parity: bool = False
) -> list[str]:
    """Cut a text into chunks of at most `largest` characters, which join to it. With `parity`,
    neighbours overlap, small ones are joined, overlaps included, and some are longer."""
    separators = [f"\n{word} " for word in _DECLARED.get(language or "", ())]
    overlap = largest // _SHARED if parity else 0
    cut = list(_cut(text, (*separators, *_ANYWHERE), largest, overlap)) if text else []
    return list(_join(cut, largest)) if parity else cut


def _cut(text: str, separators: Sequence[str], largest: int, overlap: int) -> Iterator[str]:
    """Cut at the first separator that occurs, and what is too long at those behind it."""
    first = next(number for number, separator in enumerate(separators) if separator in text)
    if not separators[first]:
        yield from _slice(text, largest, overlap)
        return
    finer, short = separators[first + 1 :], list[str]()
    for piece in _split_pieces(text, separators[first]):
        if len(piece) < largest:
            short.append(piece)
            continue
        yield from _gather(short, largest, overlap)
        short = []
        yield from _cut(piece, finer, largest, overlap)
    yield from _gather(short, largest, overlap)


def _slice(text: str, largest: int, overlap: int) -> Iterator[str]:
    """Cut anywhere; each slice begins with the end of the one before it."""
    for start in range(0, max(len(text) - overlap, 1), largest - overlap):
        yield text[start : start + largest]


def _split_pieces(text: str, separator: str) -> Iterable[str]:
    """Return the pieces, each with the separator at its beginning."""
    first, *remaining = text.split(separator)
    return filter(None, (first, *(separator + piece for piece in remaining)))


def _gather(pieces: Iterable[str], largest: int, overlap: int) -> Iterator[str]:
    """Join neighbours to what is not too long; the next begins with the last of them, up to the
    overlap."""
    window, size = deque[str](), 0
    for piece in pieces:
        if window and size + len(piece) > largest:
            yield "".join(window)
            while size > overlap or (size and size + len(piece) > largest):
                size -= len(window.popleft())
        window.append(piece)
        size += len(piece)
    if window:
        yield "".join(window)


def _join(cut: Iterable[str], largest: int) -> Iterator[str]:
    pending = ""
    for chunk in cut:
        small = min(len(pending), len(chunk)) < largest // _SMALL
        if len(pending) + len(chunk) < largest or small:
            pending += chunk
        else:
            yield pending
            pending = chunk
    if pending:
        yield pending
