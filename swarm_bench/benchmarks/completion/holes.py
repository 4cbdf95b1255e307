"""Makes holes in code, and puts them to a model: with the tokens of its family around what stands
before and behind, or in turns."""

import hashlib
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from swarm_bench.benchmarks.cases.texts import find_blocks
from swarm_bench.core.roles.language_model import Turn

Part = Literal["whole_line", "until_eol"]
PARTS: tuple[Part, ...] = ("whole_line", "until_eol")
_TRIES = 200
"""Tries for one hole: there is none in a text of blanks."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a text that is to be written again."""

    path: str
    text: str
    """Text that all holes of a chunk share."""
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
    """Number of holes for each file in each part, if it has as many."""
    lines: int
    """Number of lines that are masked; 0 for any number."""
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


Family = Literal[
    "codegemma", "codellama", "codeqwen", "qwen2.5-coder", "deepseek-coder", "starcoder2",
    "codestral",
]  # fmt: skip
PREFIX, SUFFIX = "{prefix}", "{suffix}"
"""The slots of a template."""
_SLOT = re.compile(r"\{(?:prefix|suffix)\}")


@dataclass(frozen=True, kw_only=True)
class Form:
    """A text around a hole, and what its model may write behind the answer."""

    template: str
    stops: tuple[str, ...] = ()

    def fill(self, prefix: str, suffix: str) -> str:
        """Put a hole into it. What stands in the code is no slot."""
        texts = {PREFIX: prefix, SUFFIX: suffix}
        return _SLOT.sub(lambda slot: texts[slot[0]], self.template)


def _make_form(prefix_mark: str, behind: str, fill: str, *stops: str) -> Form:
    """Make the form in which the suffix stands before what is to be written."""
    return Form(template=f"{prefix_mark}{PREFIX}{behind}{SUFFIX}{fill}", stops=stops)


_PIPED = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
_ANGLED = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")
_BEGIN, _HOLE, _END = "<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"
_FILES = "<|file_separator|>"
_FORMS: Mapping[Family, Form] = {
    "codegemma": _make_form(*_PIPED, _FILES, "<eos>", *_PIPED),
    "codellama": _make_form("<PRE> ", " <SUF>", " <MID>", "<EOT>", "</s>"),
    "codeqwen": _make_form(*_ANGLED, "<|endoftext|>", *_ANGLED),
    "qwen2.5-coder": _make_form(*_PIPED, "<|endoftext|>", "<|file_sep|>", *_PIPED),
    "deepseek-coder": _make_form(_BEGIN, _HOLE, _END, "<｜end▁of▁sentence｜>"),
    "starcoder2": _make_form(*_ANGLED, "<|endoftext|>", "<file_sep>", *_ANGLED),
    "codestral": Form(
        template=f"[SUFFIX]{SUFFIX}[PREFIX]{PREFIX}", stops=("[PREFIX]", "[SUFFIX]", "</s>")
    ),
}
_PARITY: Mapping[Family, Form] = {
    **{family: Form(template=form.template) for family, form in _FORMS.items()},
    "codegemma": _make_form(*_PIPED, _FILES),
    "codellama": _make_form("<PRE>", "<SUF>", "<MID>"),
    "codestral": Form(
        template=f"[PREFIX][SUFFIX]>{SUFFIX}{PREFIX}", stops=("[PREFIX]", "[SUFFIX]")
    ),
}
"""Forms of requests for parity, as the original asks."""
_BEGINNINGS: Mapping[str, Family] = {
    "codegemma": "codegemma", "codellama": "codellama", "codeqwen": "codeqwen",
    "codeqwen1.5": "codeqwen", "qwen2.5": "qwen2.5-coder", "deepseek": "deepseek-coder",
    "starcoder2": "starcoder2", "codestral": "codestral",
}  # fmt: skip
"""Up to the first hyphen or colon, the name of a model has one of these."""
_CODER = "coder"
"""Word in the name of a family, and so in those of its models: others of the same beginning
chat."""
_NAME = re.compile(r"[-:]")


def find_family(word: str, *, parity: bool = False) -> Family | None:
    """Return the family of a model by its word after `--models`; `None` where it has none that is
    known. With `parity`, models of a family that has coders are all of these."""
    if word.startswith(("http://", "https://")):
        name = word.partition("#")[2]
    else:
        name = word.partition(":")[2]
    name = name.split("@")[0].rpartition("/")[2].lower()
    family = _BEGINNINGS.get(_NAME.split(name, maxsplit=1)[0])
    is_other = family is not None and _CODER in family and _CODER not in name
    return None if is_other and not parity else family


def find_form(family: Family, *, parity: bool) -> Form:
    """Return the form of a family."""
    return (_PARITY if parity else _FORMS)[family]


OPEN, CLOSE = "<COMPLETION>", "</COMPLETION>"
_MARK = "{{FILL_HERE}}"
_PARITY_MARK = "{FILL_HERE}"
_TASK = (
    f"You complete code. The code below has one gap, written as {_MARK}. Write exactly what "
    f"belongs in the gap, between {OPEN} and {CLOSE}: not the code around it, no explanation, "
    "and with the indentation and the line ends that the code needs there. These are examples."
)
_EXAMPLES = (
    (
        "contract Counter {\n    uint256 public count;\n\n"
        "    function add(uint256 step) external {\n"
        f"        {_MARK}\n    }}\n}}",
        "count += step;",
    ),
    (
        f"def longest(lines):\n    best = ''\n    for line in lines:\n{_MARK}    return best\n",
        "        if len(line) > len(best):\n            best = line\n",
    ),
    (
        f"const total = prices.reduce((sum, price) => sum + {_MARK}, 0);",
        "price",
    ),
    (
        "/// Pays out the deposit of the caller, once.\nfunction withdraw() external {\n"
        f"{_MARK}    payable(msg.sender).transfer(amount);\n}}",
        "    uint256 amount = deposits[msg.sender];\n    deposits[msg.sender] = 0;\n",
    ),
    (
        f"The capital of France is {_MARK}, on the Seine.",
        "Paris",
    ),
)
_FENCES, _FENCE_CHARACTERS = ("```", "~~~"), "`~ \t\r\n"
_LAST = f"Fill the gap {_MARK} of the query. Answer with the completion alone."


def make_turns(prefix: str, suffix: str, *, parity: bool) -> tuple[Turn, ...]:
    """Put a hole to a model that answers in turns: a task, examples, the code, and an open tag."""
    examples = "".join(
        f"<QUERY>\n{code}\n</QUERY>\n{OPEN}{completion}{CLOSE}\n\n"
        for code, completion in _EXAMPLES
    )
    mark = _PARITY_MARK if parity else _MARK
    query = f"<QUERY>\n{prefix}{mark}{suffix}\n</QUERY>"
    return (Turn(role="user", text=f"{_TASK}\n\n{examples}{query}\n{_LAST}\n{OPEN}"),)


def drop_opening(answer: str) -> str:
    """Drop the tag with which a model may begin its answer; nothing else is trimmed."""
    return answer.removeprefix(OPEN)


def drop_fences(answer: str) -> str:
    """Return what stands between the fences that are around all of an answer."""
    found_blocks = find_blocks(answer) if answer.lstrip().startswith(_FENCES) else []
    if len(found_blocks) != 1 or answer[found_blocks[0].end :].strip(_FENCE_CHARACTERS):
        return answer
    return found_blocks[0].text.removesuffix("\n").removesuffix("\r")
