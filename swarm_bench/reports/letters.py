"""The room that texts take in pictures, and what is done to those that have none."""

import math
import string
import unicodedata

from rich.cells import get_character_cell_size

from swarm_bench.reports.text import cut, plain

LETTER_SIZE = 13
"""Size of letters in pictures, where nothing else is said."""
_LETTER_WIDTHS = {
    **dict.fromkeys(string.printable, 0.64),
    **dict.fromkeys(string.ascii_uppercase, 0.79),
    **dict.fromkeys(" ',./:;IJ\\ijl|", 0.33),
    **dict.fromkeys("!()-[]frt", 0.41),
    **dict.fromkeys('"*?FLTY_`acekosvxyz', 0.61),
    **dict.fromkeys("#+<=>^~w×", 0.84),
    **dict.fromkeys("%@MWm", 1.0),
    "–": 0.5,
}
"""Widths of letters in a wide font (DejaVu Sans), as shares of their size."""
_CELL_WIDTHS = (0.0, 1.1, 1.4)
"""Widths of other letters by the cells of a terminal that they take."""
_BOLD = 1.2
_LEAST_WIDTH = 0.25
"""Width by which the letters that can have room are counted before they are measured."""


def measure(text: str, *, size: float = LETTER_SIZE, is_bold: bool = False) -> float:
    """Return the width of a line, rather too large than too small: fonts are those of a reader."""
    # A letter with an accent is a letter and what takes no room; a ligature all its letters.
    letters = unicodedata.normalize("NFKD", text)
    return sum(map(_measure_letter, letters)) * size * (_BOLD if is_bold else 1.0)


def _measure_letter(letter: str) -> float:
    width = _LETTER_WIDTHS.get(letter)
    return _CELL_WIDTHS[get_character_cell_size(letter)] if width is None else width


def fit(text: str, room: float, *, size: float = LETTER_SIZE, is_bold: bool = False) -> str:
    """Write one line that is not wider than a room, and cut it where that is needed."""
    line = plain(text)
    length = min(len(line), math.ceil(room / size / _LEAST_WIDTH))
    while length > 1 and measure(cut(line, length), size=size, is_bold=is_bold) > room:
        length -= 1
    return cut(line, length)


def shrink(figure: str, room: float, *, size: float = LETTER_SIZE, is_bold: bool = False) -> float:
    """Return the size of letters with which a figure, which is never cut, has room; 0 where it has
    room as it is."""
    width = measure(figure, size=size, is_bold=is_bold)
    return round(size * room / width, 1) if width > room else 0
