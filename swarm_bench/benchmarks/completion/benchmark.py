"""The benchmark `completion`: fill-in-the-middle, as CompChomper measures it on Solidity. Code is
cut at the borders of what is declared into pieces that a model can read whole."""

import datetime
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.benchmarks.cases.texts import cut
from swarm_bench.benchmarks.completion import holes
from swarm_bench.benchmarks.completion.holes import PARTS, Hole, Sampler
from swarm_bench.benchmarks.completion.rows import (
    ChosenRows,
    Code,
    choose_rows,
    compute_scores,
    make_metrics,
    select_compared,
)
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.language_model import Ask, Completion, Gap, Sampling, Way
from swarm_bench.core.session.models import Arm
from swarm_bench.scoring.texts.code_bleu import language_of

NEW_TOKENS = 128
_BUDGETS = {"tabby": (512, 64), "continue": (500, 1024)}
"""Budgets of editors: the tokens around a hole that they send, and those that a model may write."""
_LONGEST_ID, _MARK = 200, 8
"""Characters of a case's id, and of what tells shortened ones apart."""
_PARITY_LANGUAGE = "javascript"
_GENERATIONS = "generations:"
"""Answers of a file have a colon, and are no model."""


class CodeCompletion(ModelBenchmark):
    """Code with a hole in it, of which models write what stood there."""

    name: ClassVar[str] = "completion"
    dataset: ClassVar[str] = "contracts-mini"
    Row: ClassVar[type[BaseModel]] = Code
    ways: ClassVar[tuple[Way, ...]] = ("gap", "text", "chat")
    oddities: ClassVar[tuple[str, ...]] = (
        "The context of 1,024 tokens is no limit of ours nor of the original: a request is bounded "
        "by its chunk of 2,048 characters, as a request must not depend on a model's tokens. A "
        "budget cuts by the same measure, 2 characters a token.",
        "parity=true lets chunks overlap by an eighth and joins small ones, overlaps included, so "
        "that some text comes twice; by default the chunks join to the file.",
        "parity=true loses the last line end of a chunk whose lines are masked.",
        "parity=true admits holes that begin with the end of a line or with a blank line. With "
        "lines_to_match=1 nothing is compared there, and an empty answer gets 1.",
        "parity=true asks with the tokens of the family before it asks to fill a gap, asks "
        "codestral by [PREFIX][SUFFIX]>, CodeLlama without blanks, and few models with stop words.",
        "parity=true takes each model whose name begins with qwen2.5 or deepseek for one of code; "
        "by default only with coder in its name, as others do not know the tokens around a hole.",
        "parity=true writes the gap of the chat prompt with single braces, though its examples "
        "have double ones. The wording of the prompt is not the original's.",
        "parity=true parses any language as JavaScript for CodeBLEU.",
        "The original draws other holes on each machine; here a seed, a path and a part decide.",
        "Even an equal line may have a CodeBLEU below 1: what has fewer than four words has no "
        "n-grams of four.",
        "Comments have no syntax: where a hole is of these alone, an empty answer gets half of "
        "CodeBLEU.",
        "Figures that end on 'summed' are as they were published: at most the number of files.",
    )

    temperature: float | None = Field(default=0, ge=0, description="Of sampling.")
    max_tokens: int = Field(default=NEW_TOKENS, ge=1, description="Of an answer.")
    samples: int = Field(
        default=3, ge=1, le=100, description="Holes of a file in each of the two parts."
    )
    seed: int = Field(default=42, description="Of the choice of the holes.")
    lines_to_mask: int = Field(
        default=1, ge=0, le=1000, description="Lines of a hole in whole_line; 0 for any number."
    )
    least_characters: int = Field(
        default=3, ge=1, description="Of a hole in until_eol, which begins within a line."
    )
    chunk_tokens: int = Field(
        default=1024, ge=16, le=1_000_000, description="Of what stands around a hole, and in it."
    )
    characters_per_token: float = Field(
        default=2, gt=0, le=100, description="By which tokens are counted, for whatever model."
    )
    lines_to_match: int = Field(
        default=1, ge=0, description="Lines that are compared; 0 for all lines of the hole."
    )
    cutoff: datetime.date | None = Field(
        default=None, description="Rows with an earlier date are left out, and counted."
    )
    family: holes.Family | None = Field(
        default=None, description="Tokens around a hole. Default: by the model's name."
    )
    template: str | None = Field(
        default=None, description="The text around a hole, with {prefix} and {suffix}."
    )
    budget: Literal["tabby", "continue"] | None = Field(
        default=None, description="Ask as that editor does: less code, and an answer of its length."
    )

    @field_validator("template")
    @classmethod
    def _has_slots(cls, template: str | None) -> str | None:
        if template is not None:
            for slot in (holes.PREFIX, holes.SUFFIX):
                if template.count(slot) != 1:
                    number = template.count(slot) or "no"
                    raise ValueError(f"has {number} {slot}, and needs one")
        return template

    @model_validator(mode="after")
    def _has_one_form(self) -> "CodeCompletion":
        if self.template is not None and self.family is not None:
            raise ValueError("has a family and a template; give one of them")
        if self.budget is not None and self.max_tokens != NEW_TOKENS:
            raise ValueError("has a budget and max_tokens; give one of them")
        return self

    def mistaken(self, way: Way) -> Mapping[str, str]:
        """Refuse tokens around a hole where a model is asked without."""
        if way == "text":
            return {}
        names = ("family", "template")
        return {
            k: v for name in names for k, v in self.without_effect(name, f"with way={way}").items()
        }

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield the holes of the rows."""
        used, numbers = self._choose(rows), Counter[str]()
        for part, hole in chain(map(_make_hole, used.holes), self._draw(used.files)):
            name = f"{hole.path}:{part}" if part else hole.path
            numbers[name] += 1
            yield RowCase(
                id=_shorten_id(f"{name}:{numbers[name]}"), row=hole, part=part, group=hole.path
            )

    def _choose(self, rows: Iterable[Any]) -> ChosenRows:
        return choose_rows(rows, self.cutoff, 0 if self.parity else self.lines_to_match)

    def _draw(self, files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Hole]]:
        sampler = Sampler(
            seed=self.seed,
            samples=self.samples,
            lines=self.lines_to_mask,
            least=self.least_characters,
            parity=self.parity,
        )
        largest = self._count_characters(self.chunk_tokens)
        for path, text in files:
            pieces = split_chunks(text, language_of(path), largest, parity=self.parity)
            for part in PARTS:
                for hole in sampler.draw_holes(path, pieces, part):
                    yield part, hole

    def notes(self, rows: Iterable[Any]) -> Sequence[str]:
        """Say which rows are no cases, and how old the others are."""
        return tuple(self._choose(rows).notes())

    def asks_by(self) -> tuple[Way, ...]:
        """Fill gaps where a model can; ask by text where the tokens around a hole are known."""
        if self.template is not None or (self.parity and self.family is not None):
            return ("text", "gap", "chat")
        return self.ways if self.family is not None else ("gap", "chat")

    def arms(self, models: Sequence[Arm]) -> Sequence[Arm]:
        """Ask each model with the tokens of its family; what is no model has none, and is asked by
        gap. Raises `UsageError`."""
        return [self._set_family(arm) for arm in models]

    def _set_family(self, arm: Arm) -> Arm:
        values = {
            **self.model_dump(include={"family", "template", "way", "parity"}),
            **arm.properties,
        }
        if values["family"] or values["template"]:
            return arm
        if family := holes.find_family(arm.model, parity=values["parity"]):
            return _add_properties(arm, family=family)
        if values["way"] != "text":
            return arm
        if ":" in arm.model and not arm.model.startswith(_GENERATIONS):
            raise UsageError(
                f"--property way=text: the tokens around a gap of {arm.model} are not known; give "
                "--property family=... or template=@FILE"
            )
        return _add_properties(arm, way="gap")

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Put the hole: as a gap, within the tokens of the family, or in turns."""
        prefix, suffix = self._cut_context(case.row)
        reference = case.row.middle
        if way == "gap":
            gap = Gap(prefix=prefix, suffix=suffix)
            return Ask(prompt=gap, sampling=self._make_sampling(), reference=reference)
        if way == "text":
            form = self._form
            prompt = form.fill(prefix, suffix)
            return Ask(
                prompt=prompt, sampling=self._make_sampling(*form.stops), reference=reference
            )
        turns = holes.make_turns(prefix, suffix, parity=self.parity)
        return Ask(prompt=turns, sampling=self._make_sampling(holes.CLOSE), reference=reference)

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return what was written up to the first stop word; blanks count."""
        if way == "gap":
            return completion.text
        if way == "text":
            return cut(completion, self._form.stops)
        answer = holes.drop_opening(cut(completion, (holes.CLOSE,)))
        return answer if self.parity else holes.drop_fences(answer)

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Compare with what stood there."""
        language = _PARITY_LANGUAGE if self.parity else language_of(case.row.path)
        return compute_scores(
            *select_compared(case.row.middle, prediction, self.lines_to_match), language
        )

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return Indel, BLEU, CodeBLEU and exact match."""
        return tuple(make_metrics())

    def lesson(self, case: RowCase) -> str:
        """Return the code around the hole, with what stood in it."""
        return str(case.row.text)

    def reference(self, case: RowCase) -> str | None:
        """Return what stood there."""
        return str(case.row.middle)

    @property
    def _form(self) -> holes.Form:
        if self.template is not None:
            return holes.Form(template=self.template)
        assert self.family
        return holes.find_form(self.family, parity=self.parity)

    def _cut_context(self, hole: Hole) -> tuple[str, str]:
        """Return what is sent: all that there is, or what a budget leaves of both sides."""
        prefix, suffix = hole.prefix, hole.suffix
        if self.budget is None:
            return prefix, suffix
        max_characters, total = (
            self._count_characters(_BUDGETS[self.budget][0]),
            len(prefix) + len(suffix),
        )
        if total <= max_characters:
            return prefix, suffix
        prefix_length = max_characters * len(prefix) // total
        return prefix[len(prefix) - prefix_length :], suffix[: max_characters - prefix_length]

    def _count_characters(self, tokens: int) -> int:
        return max(int(tokens * self.characters_per_token), 1)

    def _make_sampling(self, *stop: str) -> Sampling:
        sampling = self.sampling(*stop)
        if self.budget is None:
            return sampling
        return replace(sampling, max_tokens=_BUDGETS[self.budget][1])


def _shorten_id(id: str) -> str:
    """Shorten an id that is too long for a case to its end, behind a mark of the whole."""
    if len(id) <= _LONGEST_ID:
        return id
    mark = sha256(id.encode()).hexdigest()[:_MARK]
    return f"{mark}…{id[_MARK + 1 - _LONGEST_ID :]}"


def _add_properties(arm: Arm, **properties: Any) -> Arm:
    return arm.model_copy(update={"properties": {**arm.properties, **properties}})


def _make_hole(row: Code) -> tuple[str | None, Hole]:
    prefix, middle, suffix = row.prefix or "", row.middle or "", row.suffix or ""
    end = len(prefix) + len(middle)
    return row.part, Hole(row.path, prefix + middle + suffix, len(prefix), end)


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
"""Words of a line at whose beginning code is cut, from the coarsest to the finest."""
_SHARED = 8
"""Part of the largest size that neighbours share in parity (an eighth)."""
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
