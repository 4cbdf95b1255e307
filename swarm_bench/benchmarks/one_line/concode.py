"""The benchmark `concode` (Iyer et al. 2018)."""

from typing import ClassVar

from pydantic import BaseModel

from swarm_bench.benchmarks.cases.texts import JAVA
from swarm_bench.benchmarks.one_line.benchmark import Line, OneLine, Shots, shots

_FIELD = "concode_field_sep"


class Method(Line):
    """What a method in Java does, what its class has, and its code in one line."""

    nl: str
    code: str

    @property
    def text(self) -> str:
        """Return the sentence, without what the class has."""
        text = self.nl.partition(_FIELD)[0].strip()
        return text.removesuffix(".").strip()

    @property
    def answer(self) -> str:
        """Return the code; names of locals and arguments are numbers."""
        return self.code


class Concode(OneLine):
    """Sentences that are to become a method in one line of Java (Iyer et al. 2018)."""

    name: ClassVar[str] = "concode"
    dataset: ClassVar[str] = "concode-mini"
    Row: ClassVar[type[BaseModel]] = Method
    instruction: ClassVar[str] = "Answer the following instructions in a one line of Java code:"
    languages: ClassVar[frozenset[str]] = JAVA
    oddities: ClassVar[tuple[str, ...]] = (
        *OneLine.oddities,
        "The answers of Concode's test part are not published: give its dev part, as the bigcode "
        "harness does. No model is shown what the class has.",
    )

    shots: Shots = shots(
        "returns the name of the user",
        "String function ( ) { return name ; }",
        "tells whether the list has no entries",
        "boolean function ( ) { return entries . size ( ) == 0 ; }",
    )
