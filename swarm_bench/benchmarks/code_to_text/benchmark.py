"""The benchmark `code-to-text` (CodeXGLUE, Lu et al. 2021). What stands around a function makes a
model go on with its documentation; references of tokens become text by the rules of Moses."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, Field, model_validator

from swarm_bench.benchmarks.cases.passing import of_answer
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.benchmarks.cases.texts import find_blocks, unify_lines
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Better, Column, Metric, Style
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way
from swarm_bench.scoring.texts.bleu import docstring_bleu

Language = Literal["go", "java", "javascript", "php", "python", "ruby"]
Phrase = Literal["goal", "explanation"]
PHRASES: Mapping[Phrase, str] = {
    "goal": "The goal of this function is to:",
    "explanation": "Explanation of the code above:",
}
QUOTES = ('"""', "'''")
_DANGLING = tuple(re.compile(rf"[^'\"]{quote}\s*$") for quote in "'\"")
"""One quote at the end: some docstrings have no more. What stands before it is dropped with it."""


def write_opener(language: Language, phrase: Phrase) -> str:
    """Return what begins a comment behind the code."""
    text = PHRASES[phrase]
    if language == "python":
        blank = " " if phrase == "goal" else ""
        return f'\n"""{blank}{text}\n'
    return f"\n{'=begin' if language == 'ruby' else '/*'} {text}\n"


def list_closers(language: Language) -> tuple[str, ...]:
    """Return what ends that comment."""
    if language == "python":
        return QUOTES
    return ("=end",) if language == "ruby" else ("*/",)


def cut_signature(code: str, docstring: str) -> str:
    """Return Python's code up to the docstring, whose quotes are open."""
    return f"{_find_head(code, docstring)}{QUOTES[0]}"


def drop_docstring(code: str, docstring: str) -> str:
    """Return Python's code without its docstring."""
    remainder = code[code.index(docstring) + len(docstring) :]
    for quotes in QUOTES:
        remainder = remainder.replace(quotes, "")
    return _find_head(code, docstring).strip().removesuffix(QUOTES[1]) + remainder


def _find_head(code: str, docstring: str) -> str:
    """Return what precedes the docstring and its quotes."""
    text = code[: code.index(docstring)]
    quotes = next((quote for quote in QUOTES if quote in text), None)
    text = text if quotes is None else text[: text.index(quotes)]
    for dangling in _DANGLING:
        if match := dangling.search(text):
            text = text[: match.start()]
    return text


_BLEU = "bleu"
_QUESTION = "Say in one sentence what this function does. Answer with that sentence alone."
_FENCE = "```"
_FENCES = (_FENCE, "~~~")


class Function(BaseModel):
    """A function, and how it is documented."""

    language: Language
    code: str = Field(min_length=1)
    """Code of the function; in Python with the docstring, which is hidden before a model is
    asked."""
    docstring: str = ""
    docstring_tokens: list[str] = Field(min_length=1)
    """Tokens of the first paragraph of the docstring."""
    func_name: str = ""
    repo: str = ""
    path: str = ""
    """Path of the function's file: functions of one file resemble each other."""

    @model_validator(mode="after")
    def _hides_its_docstring(self) -> Self:
        if not "".join(self.docstring_tokens).strip():
            raise ValueError("has docstring_tokens of blanks alone, which nobody can write")
        if self.language == "python" and not (self.docstring and self.docstring in self.code):
            raise ValueError("has a docstring that is not in its code, so it cannot be hidden")
        return self


class CodeToText(ModelBenchmark):
    """Functions in six languages that are to be described, each with its documentation."""

    name: ClassVar[str] = "code-to-text"
    dataset: ClassVar[str] = "python-docstrings"
    Row: ClassVar[type[BaseModel]] = Function
    oddities: ClassVar[tuple[str, ...]] = (
        "The bigcode harness calls the figure blue, and gives it a hundredfold.",
        "parity=true drops the letter r at the beginning of a documentation, so that 'returns' is "
        "'eturns'; keeps what ends the comment in an answer; and with style=left reads behind "
        "''' where an answer has it. The bigcode harness does all three.",
        "The first 2,000 rows of a language are asked; the bigcode harness had 1,200 of them at "
        "first, and has all today (-p rows=20000).",
        "phrase=goal is that of the bigcode harness today, phrase=explanation its first one, in "
        "which no blank follows the quotes of Python.",
        "Answers are greedy, which the bigcode harness must be told (--do_sample False).",
        "An empty answer has a figure above 0, since lengths are one longer than they are.",
    )

    language: Language = Field(default="python", description="Of the functions.")
    style: Literal["body", "left"] = Field(
        default="body",
        description="What is shown: the function without its documentation, or in Python only what "
        "stands before it.",
    )
    phrase: Phrase = Field(default="goal", description="What begins the comment behind a body.")
    rows: int = Field(default=2000, ge=1, description="Of the language, from the first one.")
    temperature: float | None = Field(default=0, ge=0, description="Of sampling.")
    max_tokens: int = Field(default=128, ge=1, description="Of an answer.")

    @model_validator(mode="after")
    def _has_something_before_it(self) -> Self:
        if self.style == "left" and self.language != "python":
            raise ValueError(
                "has style=left, which needs language=python: elsewhere the documentation is not "
                "in the code"
            )
        return self

    def mistaken(self, way: Way) -> Mapping[str, str]:
        """Refuse a phrase that no prompt has."""
        if way == "chat":
            return self.without_effect("phrase", "in chat")
        return self.without_effect("phrase", "with style=left") if self.style == "left" else {}

    def default_dataset(self) -> str:
        """Return a data set that has the language."""
        return self.dataset if self.language == "python" else "code-to-text-mini"

    def notes(self, rows: Sequence[Any]) -> Sequence[str]:
        """Say how many rows of the language are not asked."""
        number = sum(row.language == self.language for row in rows)
        if number <= self.rows:
            return ()
        return (
            f"The data set has {number:,} rows in {self.language}, of which the first "
            f"{self.rows:,} are asked; -p rows={number} asks all.",
        )

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each row of the language: its number in the data set. Raises
        `UsageError` where there is none."""
        all_rows = tuple(rows)
        language_rows = [
            (number, row) for number, row in enumerate(all_rows) if row.language == self.language
        ]
        if not language_rows:
            languages = sorted({row.language for row in all_rows})
            raise UsageError(
                f"--dataset: there is no row in {self.language}, but in {', '.join(languages)}; "
                f"give -p language={languages[0]}, or other rows"
            )
        return (
            RowCase(id=str(number), title=row.func_name, group=_name_file(row), row=row)
            for number, row in islice(language_rows, self.rows)
        )

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Have the documentation written, behind the code or in its place."""
        row, reference = case.row, self.reference(case)
        if way == "text":
            sampling = self.sampling(*(QUOTES[::-1] if self.language == "python" else ("\n",)))
            return Ask(prompt=self._write_prompt(row), sampling=sampling, reference=reference)
        code = self._select_code(row).removesuffix(QUOTES[0]).rstrip()
        text = f"{_QUESTION}\n\n{_FENCE}{self.language}\n{code}\n{_FENCE}"
        turns = (Turn(role="user", text=text),)
        return Ask(prompt=turns, sampling=self.sampling(), reference=reference)

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the first line that is not empty, up to what ends the comment."""
        text = completion.text
        if way == "chat":
            return _read_sentence(text)
        prompt = self._write_prompt(case.row)
        if completion.whole:  # answers of files may have their prompt
            text = text.removeprefix(prompt)
            text = text.partition(self._opener)[2] if self._opener in text else text
        if self.parity:
            return _read_left(prompt + text) if self.style == "left" else _read_first_line(text)
        line = _read_first_line(text)
        if not completion.whole:
            for end in list_closers(self.language):
                line = line.partition(end)[0].rstrip()
        return line

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Compare with the documentation of the data set."""
        return {_BLEU: docstring_bleu(prediction, self.reference(case))}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return BLEU of a documentation."""
        return (
            Metric(
                key=_BLEU,
                title="Docstring BLEU",
                unit="0 to 1",
                style=Style.FRACTION,
                better=Better.HIGHER,
                definition="Of each answer in lower case, with 1 added to orders 2 to 4; others "
                "give it a hundredfold.",
                read=of_answer(_BLEU),
                relative=False,
                compared=True,
                column=Column(title="BLEU"),
            ),
        )

    def lesson(self, case: RowCase) -> str:
        """Return the function with its documentation."""
        return f"{self._write_prompt(case.row)}{self.reference(case)}\n"

    def reference(self, case: RowCase) -> str:
        """Return the first paragraph of the documentation, as a text."""
        text = " ".join(case.row.docstring_tokens).replace("\n", "")
        if self.parity:
            text = text.removeprefix("r")
        return detokenize(text.split())

    @property
    def _opener(self) -> str:
        return write_opener(self.language, self.phrase)

    def _write_prompt(self, row: Function) -> str:
        return self._select_code(row) + ("" if self.style == "left" else self._opener)

    def _select_code(self, row: Function) -> str:
        if self.language != "python":
            return row.code
        return (cut_signature if self.style == "left" else drop_docstring)(row.code, row.docstring)


def _name_file(row: Function) -> str | None:
    return "/".join(filter(None, (row.repo, row.path))) or None


def _read_first_line(text: str) -> str:
    return text.strip().partition("\n")[0].rstrip()


def _read_sentence(text: str) -> str:
    """Return the sentence of a chat, which may stand in a block of code, or be a docstring."""
    text = unify_lines(text).strip()
    if text.startswith(_FENCES) and (block := next(iter(find_blocks(text)), None)):
        text = block.text.strip()
    for quotes in QUOTES:
        if text.startswith(quotes):
            return _read_first_line(text.removeprefix(quotes).partition(quotes)[0])
    return _unquote(_read_first_line(text))


def _unquote(line: str) -> str:
    """Return what stands between quotes that are around a whole line."""
    quote = line[:1]
    is_quoted = len(line) > 1 and quote in "\"'`" and line[-1] == quote and line.count(quote) == 2
    return line[1:-1] if is_quoted else line


def _read_left(text: str) -> str:
    """Read prompt and answer as the bigcode harness does."""
    line = _read_first_line(text)
    for quotes in QUOTES:
        if quotes in text:
            text = text.partition(quotes)[2]
            line = _read_first_line(text).partition(quotes)[0]
    return line


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
    """Return the text of which the tokens were made: punctuation, quotation marks, brackets and
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
