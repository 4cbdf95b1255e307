"""What `conala`, `spider` and `concode` have in common: a sentence, and the one line of code that
does what it says. Two examples stand before what is asked."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from swarm_bench.benchmarks.cases.passing import answer_share
from swarm_bench.benchmarks.cases.role import (
    ModelBenchmark,
    RowCase,
    Scores,
    Tools,
    counts_of,
)
from swarm_bench.benchmarks.cases.texts import find_program
from swarm_bench.core.metric import Better, Column, Metric, Style
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way
from swarm_bench.scoring.texts.bleu import bleu_counts, corpus_bleu

MARK = "Solution:\n"
"""Stands before each answer: those of the two examples, and the one that is asked."""


def check_mark(text: str) -> str:
    """Return a text that stands in a prompt. Raises `ValueError` for one with the mark, which tells
    the answer from the prompt."""
    if MARK in f"{text}\n":
        raise ValueError(f"has {MARK!r}, behind which an answer is looked for; change the text")
    return text


Text = Annotated[str, Field(min_length=1), AfterValidator(check_mark)]


class Shots(BaseModel):
    """Two sentences, each with its line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instruction1: Text
    solution1: Text
    instruction2: Text
    solution2: Text

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return each sentence with its line."""
        return [(self.instruction1, self.solution1), (self.instruction2, self.solution2)]


def shots(*texts: str) -> Any:
    """Declare the examples that are shown where no others are set."""
    names = tuple(Shots.model_fields)
    return Field(
        default=Shots.model_validate(dict(zip(names, texts, strict=True))),
        description=f"Two examples, as JSON with {', '.join(names)}.",
    )


STOP = "\n"
_MARKS = 3
_PARITY_BLANKS = " " * 19
_COUNTS, _EXACT = "bleu_counts", "exact"
_LINE_ALONE = "Answer with that line alone."

_BLEU = Metric(
    key="bleu",
    title="BLEU",
    unit="0 to 1",
    style=Style.FRACTION,
    better=Better.HIGHER,
    definition="Of all lines together against those of the data set: tokens 13a, orders 1 to 4, 1 "
    "added to the matches and totals of each. Of several runs the mean.",
    counts=counts_of(_COUNTS),
    of_counts=corpus_bleu,
    relative=False,
    compared=True,
)
_EQUAL = answer_share(
    _EXACT,
    "Exact match",
    "Lines that are those of the data set, blanks at both ends apart.",
    column=Column(title="Exact"),
)


class Line(BaseModel):
    """A row, whatever its data set calls what is in it."""

    @property
    def text(self) -> str:
        """What is asked."""
        raise NotImplementedError

    @property
    def answer(self) -> str:
        """The line of the data set."""
        raise NotImplementedError

    @property
    def group(self) -> str | None:
        """Return the group whose rows resemble each other; `None` where each stands by itself."""
        return None

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if not self.text:
            raise ValueError("has nothing to ask")
        if not self.answer.strip():
            raise ValueError("has no answer, as those of a part whose answers are not published")
        check_mark(self.text)
        return self


class OneLine(ModelBenchmark):
    """What the three have in common."""

    instruction: ClassVar[str]
    """The first line of a prompt, and what a chat begins with."""
    languages: ClassVar[frozenset[str]]
    """Names of the language in the fence of a block."""

    oddities: ClassVar[tuple[str, ...]] = (
        "parity=true puts 19 blanks behind each text and each example, which an indentation in the "
        "source of the bigcode harness does, and keeps all lines of an answer.",
        "BLEU adds 1 to the matches and the totals of every order: two lines of two tokens that "
        "have none in common have 0.64.",
        "The bigcode harness scores the first sample of a case; here several runs have their mean.",
        "Its examples are rows of the data set, and not shipped: give them with -p shots=@FILE.",
    )

    shots: Shots
    temperature: float | None = Field(default=0.2, ge=0, description="Of sampling.")
    top_p: float | None = Field(default=0.95, gt=0, le=1, description="Of sampling.")
    max_tokens: int = Field(default=256, ge=1, description="Of an answer.")

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each row: its number, as other harnesses count them."""
        return (
            RowCase(id=str(number), title=_make_title(row.text), group=row.group, row=row)
            for number, row in enumerate(rows)
        )

    def notes(self, rows: Sequence[Any]) -> Sequence[str]:
        """Say why the answers of the data set are not the best that can be."""
        long = sum("\n" in row.answer.strip() for row in rows)
        if self.parity or not long:
            return ()
        return (
            f"{long} of {len(rows)} answers of the data set have several lines, of which the first "
            "is read: that is why reference has a BLEU and an exact match below 1.",
        )

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Show two examples, and ask for the third line."""
        answer = case.row.answer
        if way == "chat":
            return Ask(
                prompt=self._make_turns(case.row), sampling=self.sampling(), reference=answer
            )
        return Ask(
            prompt=self._write_prompt(case.row), sampling=self.sampling(STOP), reference=answer
        )

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the first line that is not empty; of a file, behind the prompt that it may
        have."""
        text = completion.text
        if completion.whole and text.count(MARK) >= _MARKS:
            text = text.split(MARK, _MARKS)[-1]
        text = (find_program(text, self.languages) if way == "chat" else text).strip()
        line = text if self.parity else text.partition("\n")[0].rstrip()
        quoted = way == "chat" and len(line) > 1 and line[0] == line[-1] == "`"
        return line.strip("`") if quoted else line

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Count what BLEU sums, and compare with the line of the data set."""
        answer = case.row.answer
        return {
            _COUNTS: list(bleu_counts(prediction, answer)),
            _EXACT: prediction == answer.strip(),
        }

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return BLEU of all lines together, and the share of equal ones."""
        return (_BLEU, _EQUAL)

    def lesson(self, case: RowCase) -> str:
        """Return the sentence and its line, as they stand in a prompt."""
        return "".join(self._write_examples([(case.row.text, f"{case.row.answer}\n")]))

    def reference(self, case: RowCase) -> str | None:
        """Return the line of the data set."""
        return str(case.row.answer)

    def _write_prompt(self, row: Line) -> str:
        pairs = [*self.shots.pairs, (row.text, None)]
        return "".join((self.instruction, "\n", *self._write_examples(pairs)))

    def _write_examples(self, pairs: Iterable[tuple[str, str | None]]) -> Iterator[str]:
        end = f"{_PARITY_BLANKS}\n" if self.parity else "\n"
        for text, answer in pairs:
            yield f"\nInstruction:\n{text}{end}{MARK}"
            if answer is not None:
                yield answer + end.removesuffix("\n")

    def _make_turns(self, row: Line) -> tuple[Turn, ...]:
        head = f"{self.instruction}\n{_LINE_ALONE}\n\n"
        turns = list[Turn]()
        for text, answer in self.shots.pairs:
            turns += [
                Turn(role="user", text=text if turns else head + text),
                Turn(role="assistant", text=answer),
            ]
        return (*turns, Turn(role="user", text=row.text))


def _make_title(text: str) -> str:
    return " ".join(text.split())[:100]
