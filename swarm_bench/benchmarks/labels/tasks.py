"""The tasks of the benchmark `labels`: what a row has, what is asked, and in which words."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

Name = Literal["complexity", "clone", "defect"]
YES, NO = "yes", "no"
_YES_OR_NO = {"1": YES, "0": NO, "true": YES, "false": NO}
_GROWTH = ("constant", "logn", "linear", "nlogn", "quadratic", "cubic", "exponential")
_EXPONENTIAL = {"np": "exponential", "exponential/np": "exponential"}


def _make_validator(
    labels: tuple[str, ...], values: Mapping[str, str], expected: str
) -> Callable[[Any], str]:
    def label(value: Any) -> str:
        """Return the word of a value in the data. Raises `ValueError`."""
        text = str(value).strip().lower()
        word = values.get(text, text)
        if word not in labels:
            raise ValueError(f"must be {expected}")
        return word

    return label


YesOrNo = Annotated[str, BeforeValidator(_make_validator((YES, NO), _YES_OR_NO, "0 or 1"))]
Growth = Annotated[
    str,
    BeforeValidator(
        _make_validator(_GROWTH, _EXPONENTIAL, f"one of {', '.join((*_GROWTH, 'np'))}")
    ),
]


class Labelled(BaseModel):
    """A row of any task."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    idx: str | None = Field(
        default=None,
        validation_alias=AliasChoices("idx", "id"),
        description="By which predictions name it; by default its number, from 0.",
    )

    @property
    def id(self) -> str | None:
        """Return the id by which predictions name the row."""
        return self.idx

    @property
    def code(self) -> str:
        """What is to be labelled."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """The right word."""
        raise NotImplementedError


class Complexity(Labelled):
    """A Java program, and how its time grows, as CodeComplex has them."""

    src: str
    complexity: Growth

    @property
    def code(self) -> str:
        """The program."""
        return self.src

    @property
    def label(self) -> str:
        """How its time grows."""
        return self.complexity


class Defect(Labelled):
    """A C function, and whether it has a defect, as Devign has them."""

    func: str
    target: YesOrNo

    @property
    def code(self) -> str:
        """The function."""
        return self.func

    @property
    def label(self) -> str:
        """Whether it has a defect."""
        return self.target


class Clone(Labelled):
    """Two Java functions, and whether they do the same, as BigCloneBench has them."""

    func1: str
    func2: str
    is_clone: YesOrNo = Field(validation_alias="label")
    id1: str | None = None
    id2: str | None = None

    @property
    def id(self) -> str | None:
        """Both ids, as predictions name a pair."""
        return self.idx if self.id1 is None or self.id2 is None else f"{self.id1}-{self.id2}"

    @property
    def code(self) -> str:
        """Both functions."""
        return f"First function:\n{self.func1}\n\nSecond function:\n{self.func2}"

    @property
    def label(self) -> str:
        """Whether they do the same."""
        return self.is_clone


@dataclass(frozen=True, kw_only=True)
class Task:
    """Labelling task: its rows, question and labels."""

    row: type[Labelled]
    question: str
    labels: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    """Values for a label in data and in files of predictions, other than its word."""

    def find_label(self, text: str, *, values: bool) -> str | None:
        """Return the first label of a text; `None` for none. With `values` also those that data
        have, of which a number is the whole text: in prose, or in another number, it is none."""
        text = text.strip().lower()
        if values and text in self.values:
            return self.values[text]
        extra = (value for value in self.values if not value.isdigit()) if values else ()
        names = [*self.labels, *extra]
        pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        match = re.search(rf"(?<!\w)_{{0,2}}({pattern})_{{0,2}}(?!\w)", text)
        return None if match is None else self.values.get(match[1], match[1])


TASKS: Mapping[Name, Task] = {
    "complexity": Task(
        row=Complexity,
        question="How does the time of this Java program grow with the size of its input?",
        labels=_GROWTH,
        values=_EXPONENTIAL,
    ),
    "clone": Task(
        row=Clone,
        question="Do these two Java functions do the same?",
        labels=(NO, YES),
        values=_YES_OR_NO,
    ),
    "defect": Task(
        row=Defect,
        question="Does this C function have a defect that makes it insecure?",
        labels=(NO, YES),
        values=_YES_OR_NO,
    ),
}
