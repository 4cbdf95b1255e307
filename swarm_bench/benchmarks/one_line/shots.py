"""The two examples that stand before what is asked."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

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
