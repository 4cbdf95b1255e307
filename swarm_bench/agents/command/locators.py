"""Where a figure or an answer stands in what a program left: JSONPath, regular expression."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar

import regex
from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment, JSONPathError
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from swarm_bench.agents.reading.json_lines import MAX_FIGURE, amount_of, count_of, text_of
from swarm_bench.core.totals import total

PATIENCE = 1.0
"""Seconds of computing for one pattern in all that an agent left: a text can be made to keep a
pattern busy for ever, and the number of texts is the agent's choice too."""

Found = TypeVar("Found")

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


class Patience:
    """Looks for patterns in what one agent left, each for `PATIENCE` seconds in all."""

    def __init__(self) -> None:
        self.given_up = set[str]()
        """Patterns whose time is over: nobody knows what else they would find."""
        self._spent = dict[str, float]()

    def look(self, pattern: str, find: Callable[[float], Found]) -> Found | None:
        """What `find` finds in the seconds that it is given; `None` for a pattern given up."""
        left = PATIENCE - self._spent.get(pattern, 0.0)
        if pattern in self.given_up or left <= 0:
            self.given_up.add(pattern)
            return None
        began = time.thread_time()
        try:
            return find(left)
        except TimeoutError:
            self.given_up.add(pattern)
            return None
        finally:
            self._spent[pattern] = PATIENCE - left + time.thread_time() - began


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a program left, as far as it can be read."""

    texts: dict[Stream, str]
    json: object = None
    """The parsed output; for JSON lines the list of all of them."""
    is_json: bool = False
    readable: bool = True
    """Whether the output is what it should be: what is not found in it is not there."""
    patience: Patience = field(default_factory=Patience)

    def inside(self, node: object) -> "Material":
        """What stands in one node; its patterns have no time of their own."""
        return Material(texts={}, json=node, is_json=True, patience=self.patience)


class Place(BaseModel):
    """One place: a JSONPath, a regular expression, or one in what the other finds."""

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
    def _short(cls, given: Any) -> Any:
        return {"path": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _says_where(self) -> "Place":
        if (self.constant is None) == (self.path is None and self.pattern is None):
            raise ValueError("needs 'path', 'pattern' or both, or else 'constant'")
        if self.path is not None and self.stream != "output":
            raise ValueError("has a 'path', which is for the stream 'output'; use 'pattern'")
        return self

    def texts(self, material: Material) -> list[str]:
        """All texts that stand there."""
        return [text for value in self.values(material) if (text := _words(value)) is not None]

    def text(self, material: Material) -> str | None:
        found = self.texts(material)
        if not found:
            return None
        match self.take:
            case "first":
                return found[0]
            case "join":
                return "".join(found)
            case _:
                return found[-1]

    def number(self, material: Material) -> float | None:
        """The figure that stands there; `None` also for a sum of which a part is no figure."""
        if self.constant is not None:
            return self.constant
        values = self.values(material)
        if self.take == "count":
            return len(values) if self._can_be_counted(material) else None
        numbers = [_number(value) for value in values]
        chosen = {"sum": numbers, "first": numbers[:1]}.get(self.take, numbers[-1:])
        whole = total(chosen)
        return None if self.zero_is_missing and whole == 0 else whole

    def _can_be_counted(self, material: Material) -> bool:
        """Nothing found in nothing is not 0."""
        if self.given_up(material):
            return False
        return material.is_json if self.path else bool(material.texts.get(self.stream))

    def given_up(self, material: Material) -> bool:
        """Whether its pattern took too long, so that nothing is known of what stands there."""
        return self.pattern in material.patience.given_up

    def values(self, material: Material) -> list[Any]:
        """Everything that stands there, in order; nothing when its pattern was given up: a part
        of it would be a wrong sum."""
        if self.path is None:
            return self._matches(material, material.texts.get(self.stream, ""))
        found = find_all(self.path, material)
        if self.pattern is None:
            return found
        texts = (text for value in found if (text := _words(value)) is not None)
        matches = [match for text in texts for match in self._matches(material, text)]
        return [] if self.given_up(material) else matches

    def _matches(self, material: Material, text: str) -> list[Any]:
        def find(seconds: float) -> list[Any]:
            found = self._compiled.finditer(text, timeout=seconds, concurrent=True)
            return [_group(match) for match in found]

        return material.patience.look(self.pattern, find) or [] if self.pattern else []

    @cached_property
    def _compiled(self) -> "regex.Pattern[str]":
        return regex.compile(self.pattern or "", regex.MULTILINE)


def _as_list(given: Any) -> Any:
    return given if isinstance(given, list | tuple) or given is None else [given]


Places = Annotated[tuple[Place, ...], BeforeValidator(_as_list)]
"""The first of them where something stands counts."""


def first_text(places: Iterable[Place], material: Material) -> str | None:
    """The first text that is not blank; a blank one when there are only such."""
    blank = None
    for place in places:
        text = place.text(material)
        if text is not None and text.strip():
            return text
        blank = text if blank is None else blank
    return blank


def first_count(places: Iterable[Place], material: Material) -> int | None:
    """The first number of things."""
    return next(filter(_known, (count_of(place.number(material)) for place in places)), None)


def first_amount(places: Iterable[Place], material: Material) -> float | None:
    """The first figure of at least 0."""
    return next(filter(_known, (amount_of(place.number(material)) for place in places)), None)


def first_texts(places: Sequence[Place], material: Material) -> list[str] | None:
    """All texts of the first place that has any; `None` when no place is given, or a pattern was
    given up before anything was found."""
    found = next(filter(None, (place.texts(material) for place in places)), [])
    unknown = not places or any(place.given_up(material) for place in places)
    return None if unknown and not found else found


def find_all(query: str, material: Material, most: int | None = None) -> list[Any]:
    """All nodes that the query selects, or the first `most`; none when the output is no JSON, or
    nested too deeply."""
    if not material.is_json:
        return []
    try:
        found = _query(query).finditer(material.json)  # type: ignore[arg-type]  # any JSON
        return [node.value for node in islice(found, most)]
    except (JSONPathError, RecursionError):
        return []


@lru_cache
def _query(query: str) -> JSONPath | CompoundJSONPath:
    return _QUERIES.compile(query)


def found_in(pattern: str, text: str, patience: float) -> str | None:
    """What a pattern finds first: its group `value`, else its first group, else all of it; the
    empty text for a group that took no part. Raises `TimeoutError` after `patience` seconds."""
    match = regex.search(pattern, text, regex.MULTILINE, timeout=patience)
    return None if match is None else _group(match) or ""


def _known(value: object) -> bool:
    return value is not None


def _group(match: "regex.Match[str]") -> str | None:
    if "value" in match.re.groupindex:
        return match["value"]
    return match[1] if match.re.groups else match[0]


def _words(value: object) -> str | None:
    """A text, or a number as one; objects, lists and nothing are none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, int) and abs(value) > MAX_FIGURE:
        return None
    return text_of(str(value))


def _number(value: object) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value.replace(",", ""))
        except ValueError:
            return None
    return amount_of(value)
