"""The benchmark `conala` (Yin et al. 2018)."""

from typing import ClassVar

from pydantic import BaseModel

from swarm_bench.benchmarks.cases.texts import PYTHON
from swarm_bench.benchmarks.one_line.benchmark import Line, OneLine, Shots, shots


class Intent(Line):
    """Task to do in Python, and a line that does it."""

    question_id: int | str
    """Id of the question on Stack Overflow that the row is from."""
    intent: str
    rewritten_intent: str | None = None
    """Intent, rewritten with the names that the line uses."""
    snippet: str

    @property
    def text(self) -> str:
        """Return the better of the two sentences."""
        return (self.rewritten_intent or self.intent).strip()

    @property
    def answer(self) -> str:
        """Return the line; some have several."""
        return self.snippet

    @property
    def group(self) -> str:
        """Return the question: it may have several answers."""
        return str(self.question_id)


class Conala(OneLine):
    """Sentences that are to become one line of Python (Yin et al. 2018)."""

    name: ClassVar[str] = "conala"
    dataset: ClassVar[str] = "conala-mini"
    Row: ClassVar[type[BaseModel]] = Intent
    instruction: ClassVar[str] = "Answer the following instructions in one line of Python code:"
    languages: ClassVar[frozenset[str]] = PYTHON
    oddities: ClassVar[tuple[str, ...]] = (
        *OneLine.oddities,
        "22 of the 500 snippets of CoNaLa's test part have several lines, of which the first is "
        "read: its own answers (reference) have a BLEU of 0.95, and 0.956 of them match.",
    )

    shots: Shots = shots(
        "reverse the string `name`",
        "name[::-1]",
        "get the largest value of dictionary `prices`",
        "max(prices.values())",
    )
