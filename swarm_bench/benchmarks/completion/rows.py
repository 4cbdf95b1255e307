"""Rows of the benchmark: files, of which holes are made, or holes that somebody has made. And how
near a completion comes to what stood there: Indel, BLEU, CodeBLEU, exact match."""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import (
    BaseModel,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from swarm_bench.benchmarks.cases.passing import of_answer
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Better, Column, Metric, Style
from swarm_bench.scoring.texts.bleu import LONGEST, sentence_bleu
from swarm_bench.scoring.texts.code_bleu import code_bleu

LEAST_LINES = 3
LEAST_CHARACTERS = 10
"""Fewest characters of a file of which holes are made."""
LARGEST = 8 * 1024 * 1024
"""Characters of a text."""
_Text = Field(default=None, max_length=LARGEST)
_OF_HOLES = ("prefix", "middle", "suffix")
_ALL_PARTS = "all"
_DAY = "dated before the cutoff"
_BLANK = "with a hole that is blank in the lines that are compared"


class Code(BaseModel):
    """A file (path, content, perhaps its date), or a hole in one (path, prefix, middle, suffix,
    perhaps the part of the data that it belongs to)."""

    path: str = Field(min_length=1, max_length=1000)
    content: str | None = _Text
    date: datetime.date | None = None
    prefix: str | None = _Text
    middle: str | None = _Text
    suffix: str | None = _Text
    part: str | None = Field(default=None, min_length=1, max_length=100)
    _location: str = PrivateAttr("--dataset")

    @field_validator("date", "part", mode="before")
    @classmethod
    def _missing(cls, value: object) -> object:
        """Take an empty field of a CSV file for one that is not there."""
        return None if value == "" else value

    @field_validator("path", "part")
    @classmethod
    def _is_of_one_line(cls, name: str | None) -> str | None:
        if name is not None and not name.isprintable():
            raise ValueError(f"cannot be {name!r}: it must be shown in one line")
        return name

    @field_validator("part")
    @classmethod
    def _is_a_part(cls, part: str | None) -> str | None:
        if part == _ALL_PARTS:
            raise ValueError(f"cannot be {part!r}, which names all cases in the table")
        return part

    @model_validator(mode="after")
    def _is_one_of_both(self, info: ValidationInfo) -> "Code":
        self._location = (info.context or {}).get("where", self._location)
        present = [name for name in _OF_HOLES if getattr(self, name) is not None]
        absent = [name for name in _OF_HOLES if name not in present]
        if self.content is not None and present:
            raise ValueError(f"has a content and a {present[0]}: it is either a file or a hole")
        if self.content is None and absent:
            also = "" if present else " for a hole, or a content for a file"
            raise ValueError(f"has no {absent[0]}{also}")
        if self.middle is not None and not self.middle.strip():
            raise ValueError("has a middle of blanks alone, which nobody can complete")
        return self

    @property
    def location(self) -> str:
        """Return the location of the row, for errors."""
        return self._location

    @property
    def is_file(self) -> bool:
        """Whether holes are to be made of it."""
        return self.content is not None


@dataclass(frozen=True, kw_only=True)
class ChosenRows:
    """The rows that cases are made of, and how many there were besides."""

    files: tuple[tuple[str, str], ...]
    """Path and text of each file."""
    holes: tuple[Code, ...]
    omitted: Counter[str]
    """Numbers of rows that are omitted, by a clause that says why."""
    dates: tuple[datetime.date | None, ...]
    """Dates of the rows that are used."""

    def notes(self) -> Iterator[str]:
        """Yield what a reader of the figures must know of the rows."""
        if self.omitted:
            yield f"Rows left out: {self.omitted.total()} ({_list_omitted(self.omitted)})."
        days = sorted(day for day in self.dates if day is not None)
        if undated := len(self.dates) - len(days):
            yield (
                f"{undated} of {len(self.dates)} rows have no date: models may have read them, and "
                "no cutoff omits them."
            )
        if days:
            span = f"{days[0]}" if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
            yield f"The code is dated {span}: models that were trained later may have read it."


def choose_rows(rows: Iterable[Code], cutoff: datetime.date | None, lines: int = 0) -> ChosenRows:
    """Choose the rows that can be asked: of equal files the first, none that is too short, none
    from before the cutoff, and no hole whose first `lines` are blank (0: all of them). Raises
    `UsageError` where none remains, or two are one."""
    rows = tuple(rows)
    _check_kinds(rows)
    omitted, paths = Counter[str](), dict[str, str]()
    used, texts = list[Code](), set[str]()
    for row in rows:
        if row.is_file and row.path in paths:
            raise UsageError(
                f"{row.location}: the file {row.path!r} is at {paths[row.path]} too; "
                "omit one of them"
            )
        paths[row.path] = row.location
        if reason := _find_fault(row, cutoff, lines, texts):
            omitted[reason] += 1
        else:
            used.append(row)
    if not used:
        raise UsageError(
            f"--dataset: no row can be used ({_list_omitted(omitted)}); give other rows"
        )
    return ChosenRows(
        files=tuple((row.path, _normalise_line_ends(row.content)) for row in used if row.is_file),
        holes=tuple(row for row in used if not row.is_file),
        omitted=omitted,
        dates=tuple(row.date for row in used),
    )


def _list_omitted(omitted: Counter[str]) -> str:
    return ", ".join(f"{number} {clause}" for clause, number in sorted(omitted.items()))


def _find_fault(row: Code, cutoff: datetime.date | None, lines: int, texts: set[str]) -> str | None:
    """Say in a clause why a row is not used; `bare` are the texts of files before it."""
    if cutoff is not None and row.date is not None and row.date < cutoff:
        return _DAY
    if row.content is None:
        return None if select_compared(row.middle or "", "", lines)[0].strip() else _BLANK
    if len(row.content.splitlines()) < LEAST_LINES:
        return f"of fewer than {LEAST_LINES} lines"
    if len(row.content) < LEAST_CHARACTERS:
        return f"of fewer than {LEAST_CHARACTERS} characters"
    text = "".join(row.content.split())
    if text in texts:
        return "equal to another but for blanks"
    texts.add(text)
    return None


def _check_kinds(rows: Sequence[Code]) -> None:
    for row in rows:
        if row.is_file != rows[0].is_file:
            kind = "a file" if row.is_file else "a hole"
            raise UsageError(
                f"{row.location}: the row is {kind}, and those before it are not; give files or "
                "holes, not both"
            )
        if not row.is_file and (row.part is None) != (rows[0].part is None):
            has = "no part" if row.part is None else "a part"
            raise UsageError(
                f"{row.location}: the row has {has}, unlike those before it; give all rows a part, "
                "or none"
            )


def _normalise_line_ends(text: str | None) -> str:
    """End lines as models do, whatever machine the file is from."""
    return (text or "").replace("\r\n", "\n").replace("\r", "\n")


_WEIGHTS = {
    1: (1.0,),
    2: (0.5, 0.5),
    3: (0.33, 0.33, 0.33, 0.0),
    4: (0.25, 0.25, 0.25, 0.25),
}
"""Weights of n-grams, by the number of lines that are compared."""
_TITLES = {
    "indel": ("Indel", "Share of characters that need neither be inserted nor deleted"),
    "bleu": ("BLEU", "Sentence BLEU of what is between blanks, smoothed (method 1)"),
    "code_bleu": ("CodeBLEU", "Half n-grams, half subtrees of the syntax"),
    "exact": ("Exact", "Share of completions that are equal, character by character"),
}
_PUBLISHED = ("indel", "bleu", "code_bleu")


def select_compared(middle: str, guess: str, lines: int) -> tuple[str, str]:
    """Return what is compared of both: their first lines, or with 0 as many lines of the guess as
    the other has. Blanks count, and the last line end does not."""
    middles, guesses = middle.splitlines(), guess.splitlines()
    if lines:
        middles = middles[:lines]
    return "\n".join(middles), "\n".join(guesses[: lines or len(middles)])


def compute_scores(middle: str, guess: str, language: str | None) -> dict[str, float | None]:
    """Score what is compared; CodeBLEU is missing for a language that has no grammar here."""
    lines = len(middle.splitlines())
    weights = _WEIGHTS[min(max(lines, 1), 4)]
    return {
        "indel": indel(guess, middle),
        "bleu": sentence_bleu(guess.split(), middle.split(), weights),
        "code_bleu": None if language is None else code_bleu(guess, middle, language),
        "exact": float(guess == middle),
    }


def make_metrics() -> Iterator[Metric]:
    """Declare each score as the mean over files, and those that are published also as the sum."""
    for key, (title, definition) in _TITLES.items():
        yield Metric(
            key=key,
            title=title,
            unit="0 to 1",
            style=Style.FRACTION,
            better=Better.HIGHER,
            definition=f"{definition}. The mean over files of the mean over the holes of each.",
            read=of_answer(key),
            relative=False,
            of_groups="mean",
            compared=key == "indel",
            column=Column(title=title),
        )
    for key in _PUBLISHED:
        title, _ = _TITLES[key]
        yield Metric(
            key=f"{key}_sum",
            title=f"{title}, summed",
            unit="shares",
            style=Style.FRACTION,
            better=Better.HIGHER,
            definition=f"{title}: the sum over files of the mean over the holes of each, as it was "
            "published. The number of files is the most.",
            read=of_answer(key),
            relative=False,
            of_groups="sum",
        )


def indel(guess: str, truth: str) -> float:
    """Return twice the length of the longest common subsequence over the sum of both lengths; 1 for
    two empty texts. Blanks count."""
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(guess[:LONGEST], truth[:LONGEST])
