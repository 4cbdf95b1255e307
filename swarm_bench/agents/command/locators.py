"""Location of a figure or an answer in what a program printed: by JSONPath or regular
expression."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar

import regex
from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment, JSONPathError
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from swarm_bench.agents.command.figures import Printed, Reader, read_count
from swarm_bench.agents.reading.json_lines import MAX_FIGURE, as_amount, as_count, as_text
from swarm_bench.core.figures import total

PATTERN_SECONDS = 1.0
"""Seconds of computing for a pattern in all that an agent printed: a text can be made to keep a
pattern busy for ever, and the number of texts is the agent's choice too."""

_CONTEXT_SIZE = 16
"""Characters around a figure that may belong to it."""
Result = TypeVar("Result")

_QUERIES = JSONPathEnvironment(strict=True)
# They would run regular expressions without a limit of time; `pattern` is there for that.
for _name in ("match", "search"):
    del _QUERIES.function_extensions[_name]


def _check_path(query: str) -> str:
    try:
        _QUERIES.compile(query)
    except JSONPathError as error:
        reason = error.args[0] if error.args else "it cannot be read"
        raise ValueError(f"is not a JSONPath: {query!r}: {reason}") from error
    return query


def _check_pattern(pattern: str) -> str:
    try:
        regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"is not a regular expression: {pattern!r}: {error}") from error
    return pattern


JsonPath = Annotated[str, AfterValidator(_check_path)]
Pattern = Annotated[str, AfterValidator(_check_pattern)]
Stream = Literal["output", "stdout", "stderr"]


class TimeBudget:
    """The time for patterns in what an agent printed: `PATTERN_SECONDS` for each in all."""

    def __init__(self) -> None:
        self.timed_out = set[str]()
        """Patterns whose time is over: what else they would match is unknown."""
        self._spent = dict[str, float]()

    def search(self, pattern: str, find: Callable[[float], Result]) -> Result | None:
        """Return what `find` returns in the seconds that it gets; `None` for a pattern out of
        time."""
        remaining = PATTERN_SECONDS - self._spent.get(pattern, 0.0)
        if pattern in self.timed_out or remaining <= 0:
            self.timed_out.add(pattern)
            return None
        started = time.thread_time()
        try:
            return find(remaining)
        except TimeoutError:
            self.timed_out.add(pattern)
            return None
        finally:
            self._spent[pattern] = PATTERN_SECONDS - remaining + time.thread_time() - started


@dataclass(frozen=True, kw_only=True)
class Material:
    """The output of a program, as far as it can be read."""

    texts: dict[Stream, str]
    json: object = None
    """The parsed output; for JSON lines the list of all of them."""
    is_json: bool = False
    readable: bool = True
    """Whether the output is what it should be: what it does not show does not exist."""
    budget: TimeBudget = field(default_factory=TimeBudget)

    def inside(self, node: object) -> "Material":
        """Narrow the material to a node; its patterns have no time of their own."""
        return Material(texts={}, json=node, is_json=True, budget=self.budget)


class Locator(BaseModel):
    """A JSONPath, a regular expression, or the second in what the first selects."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    path: JsonPath | None = None
    pattern: Pattern | None = None
    """Its group `value`, else its first group, else the whole match."""
    stream: Stream = "output"
    take: Literal["first", "last", "sum", "count", "join"] = "last"
    constant: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    zero_is_missing: bool = False

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_complete(self) -> "Locator":
        if (self.constant is None) == (self.path is None and self.pattern is None):
            raise ValueError("needs 'path', 'pattern' or both, or else 'constant'")
        if self.path is not None and self.stream != "output":
            raise ValueError("has a 'path', which is for the stream 'output'; use 'pattern'")
        return self

    def texts(self, material: Material) -> list[str]:
        """Return all texts that stand there."""
        return [text for value in self.values(material) if (text := _text(value)) is not None]

    def text(self, material: Material) -> str | None:
        texts = self.texts(material)
        if not texts:
            return None
        match self.take:
            case "first":
                return texts[0]
            case "join":
                return "".join(texts)
            case _:
                return texts[-1]

    def number(self, material: Material, read: Reader) -> float | None:
        """Return the figure that stands there; `None` also for a sum of which a part is no
        figure."""
        if self.constant is not None:
            return self.constant
        printed = self._find_printed(material)
        if self.take == "count":
            return len(printed) if self._can_be_counted(material) else None
        numbers = [read(figure) for figure in printed]
        selected = {"sum": numbers, "first": numbers[:1]}.get(self.take, numbers[-1:])
        result = total(selected)
        return None if self.zero_is_missing and result == 0 else result

    def _can_be_counted(self, material: Material) -> bool:
        """Tell whether there is anything to count in: no match in nothing is not 0."""
        if self.timed_out(material):
            return False
        return material.is_json if self.path else bool(material.texts.get(self.stream))

    def timed_out(self, material: Material) -> bool:
        """Tell whether its pattern took too long, so that what stands there is unknown."""
        return self.pattern in material.budget.timed_out

    def values(self, material: Material) -> list[Any]:
        """Return everything that stands there, in order; nothing when its pattern ran out of time:
        a part of it would be a wrong sum."""
        return [printed.value for printed in self._find_printed(material)]

    def _find_printed(self, material: Material) -> list[Printed]:
        if self.path is None:
            return self._matches(material, material.texts.get(self.stream, ""))
        nodes = find_all(self.path, material)
        if self.pattern is None:
            return [Printed(value=node) for node in nodes]
        texts = (text for node in nodes if (text := _text(node)) is not None)
        matches = [match for text in texts for match in self._matches(material, text)]
        return [] if self.timed_out(material) else matches

    def _matches(self, material: Material, text: str) -> list[Printed]:
        def find(seconds: float) -> list[Printed]:
            matches = self._regex.finditer(text, timeout=seconds, concurrent=True)
            return [_add_context(match) for match in matches]

        return material.budget.search(self.pattern, find) or [] if self.pattern else []

    @cached_property
    def _regex(self) -> "regex.Pattern[str]":
        return regex.compile(self.pattern or "", regex.MULTILINE)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) or value is None else [value]


Locators = Annotated[tuple[Locator, ...], BeforeValidator(_as_list)]
"""The first of them that leads to something counts."""


def first_text(locators: Iterable[Locator], material: Material) -> str | None:
    """Return the first text that is not blank; a blank one when there are only such."""
    blank = None
    for locator in locators:
        text = locator.text(material)
        if text is not None and text.strip():
            return text
        blank = text if blank is None else blank
    return blank


def first_count(locators: Iterable[Locator], material: Material) -> int | None:
    """Return the first number of things."""
    counts = (as_count(locator.number(material, read_count)) for locator in locators)
    return next((count for count in counts if count is not None), None)


def first_amount(locators: Iterable[Locator], material: Material, read: Reader) -> float | None:
    """Return the first figure of at least 0."""
    amounts = (as_amount(locator.number(material, read)) for locator in locators)
    return next((amount for amount in amounts if amount is not None), None)


def first_texts(locators: Sequence[Locator], material: Material) -> list[str] | None:
    """Return all texts of the first locator that has any; `None` without locators, or when a
    pattern ran out of time before anything matched."""
    texts = next(filter(None, (locator.texts(material) for locator in locators)), [])
    unknown = not locators or any(locator.timed_out(material) for locator in locators)
    return None if unknown and not texts else texts


def find_all(query: str, material: Material, limit: int | None = None) -> list[Any]:
    """Return all nodes that the query selects, or the first `limit`; none when the output is no
    JSON, or nested too deeply."""
    if not material.is_json:
        return []
    try:
        nodes = _query(query).finditer(material.json)  # type: ignore[arg-type]  # any JSON
        return [node.value for node in islice(nodes, limit)]
    except (JSONPathError, RecursionError):
        return []


@lru_cache
def _query(query: str) -> JSONPath | CompoundJSONPath:
    return _QUERIES.compile(query)


def first_match(pattern: str, text: str, timeout: float) -> str | None:
    """Return what a pattern matches first: its group `value`, else its first group, else all of it;
    the empty text for a group that took no part. Raises `TimeoutError` after `timeout` seconds."""
    match = regex.search(pattern, text, regex.MULTILINE, timeout=timeout)
    return None if match is None else _group(match) or ""


def _group(match: "regex.Match[str]") -> str | None:
    if "value" in match.re.groupindex:
        return match["value"]
    return match[1] if match.re.groups else match[0]


def _add_context(match: "regex.Match[str]") -> Printed:
    """Return the group with what stands around it, up to other groups: those are read apart."""
    value = _group(match)
    number = match.re.groupindex.get("value", min(match.re.groups, 1))
    start, end = match.span(number)
    other_spans = [match.span(group) for group in range(1, match.re.groups + 1) if group != number]
    first = max([start - _CONTEXT_SIZE, 0, *(stop for _, stop in other_spans if stop <= start)])
    last = min([end + _CONTEXT_SIZE, *(begin for begin, _ in other_spans if begin >= end)])
    return Printed(
        value=value, text_before=match.string[first:start], text_after=match.string[end:last]
    )


def _text(value: object) -> str | None:
    """Return a text, or a number as text; `None` for objects, lists and nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, int) and abs(value) > MAX_FIGURE:
        return None
    return as_text(str(value))
