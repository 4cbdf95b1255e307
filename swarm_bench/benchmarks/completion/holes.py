"""Makes holes in code: what stands before one, what is to be written, and what stands behind."""

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Part = Literal["whole_line", "until_eol"]
PARTS: tuple[Part, ...] = ("whole_line", "until_eol")
_TRIES = 200
"""For one hole: there is none in a text of blanks."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a text that is to be written again."""

    path: str
    text: str
    """Shared by all holes of a chunk."""
    start: int
    end: int

    @property
    def prefix(self) -> str:
        """What stands before it."""
        return self.text[: self.start]

    @property
    def middle(self) -> str:
        """What is to be written."""
        return self.text[self.start : self.end]

    @property
    def suffix(self) -> str:
        """What stands behind it."""
        return self.text[self.end :]


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """Draws holes: the same ones for a seed, a path and a part, on every machine."""

    seed: int
    samples: int
    """Of each file in each part, where it has as many."""
    lines: int
    """That are masked; 0 for any number."""
    least: int
    """Characters from the cut in a line to the end of the hole."""
    parity: bool

    def draw_holes(self, path: str, chunks: Sequence[str], part: Part) -> list[Hole]:
        """Draw the holes of a file, none of blanks alone; fewer where it has no more."""
        pick = self._make_random(path, part)
        draw, texts = self._choose_drawing(part), self._prepare_texts(chunks, part)
        holes = dict[Hole, None]()
        for _ in range(_TRIES * self.samples if chunks else 0):
            if len(holes) == self.samples:
                break
            text = texts[pick(len(texts))]
            limits = draw(text, pick)
            if limits is None:
                continue
            hole = Hole(path, text, *limits)
            if self._can_be_asked(hole, part):
                holes[hole] = None
        return list(holes)

    def _make_random(self, path: str, part: Part) -> Callable[[int], int]:
        """Return a source of numbers below a limit. Of Python's generator, only `random()` is
        promised to be the same in every version."""
        text = f"{self.seed}\0{path}\0{part}"
        generator = random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()))
        return lambda limit: int(generator.random() * limit)

    def _prepare_texts(self, chunks: Sequence[str], part: Part) -> Sequence[str]:
        """Return the chunks as they are cut. The original loses the last line end of each."""
        if self.parity and part == "whole_line":
            return ["\n".join(chunk.splitlines()) for chunk in chunks]
        return chunks

    def _choose_drawing(
        self, part: Part
    ) -> Callable[[str, Callable[[int], int]], tuple[int, int] | None]:
        return self._draw_lines if part == "whole_line" else self._draw_characters

    def _draw_lines(self, text: str, pick: Callable[[int], int]) -> tuple[int, int] | None:
        """Draw lines, of which none is the first or the last."""
        lines = text.splitlines(keepends=True)
        inner = len(lines) - 2
        masked = self.lines or 1
        if inner < masked:
            return None
        first = 1 + pick(inner - masked + 1)
        last = first + masked if self.lines else first + 1 + pick(inner - first + 1)
        offsets = [0, *accumulate(map(len, lines))]
        return offsets[first], offsets[last]

    def _draw_characters(self, text: str, pick: Callable[[int], int]) -> tuple[int, int] | None:
        """Draw two places between characters, the first and the last character aside."""
        inner = len(text) - 2
        if inner < 2:
            return None
        start, end = sorted((1 + pick(inner), 1 + pick(inner)))
        return (start, end) if end - start >= max(self.least, 1) else None

    def _can_be_asked(self, hole: Hole, part: Part) -> bool:
        """Tell whether there is something to write, by default in the first line, which may be all
        that is compared."""
        middle = hole.middle
        if self.parity and part == "until_eol":
            return bool(middle.strip())
        return bool(middle.splitlines()[0].strip())
