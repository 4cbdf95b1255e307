"""What is wrong with what a person wrote, in words that do not name our library's types."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

Line = Callable[[Sequence[int | str]], int]
"""The line of a place in a file, from 1; 0 where that is not known."""
Problem = tuple[int, str]
"""The line of a problem in a file, 0 where it is not known, and a clause."""
MOST = 10
"""Problems of a file that are said at once."""
_MOST_LOCATED = 100
"""Problems of a file whose lines are looked for; the others are only counted."""
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a key that is known here",
    "unexpected_keyword_argument": "is not a key that is known here",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_type": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
}


def plainly(value: object) -> str:
    """A value as a person writes it: a whole number without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


def place_of(error: ErrorDetails) -> str:
    """Where it is, as `tasks.0.prompt`."""
    return ".".join(str(part) for part in error["loc"]) or "it"


def words_of(error: ErrorDetails) -> str:
    """What is wrong there, as a clause that follows the place."""
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "greater_than_equal":
            return f"must be at least {plainly(context['ge'])}"
        case "less_than_equal":
            return f"must be at most {plainly(context['le'])}"
        case "greater_than":
            return f"must be more than {plainly(context['gt'])}"
        case "literal_error":
            return f"must be {context['expected']}"
        case "string_pattern_mismatch":
            return f"cannot be {error['input']!r}: it must fit {context['pattern']}"
        case "string_type" if isinstance(error["input"], bool | int | float):
            return "must be a string; put it into quotes"
        case "value_error":
            return str(context["error"])
        case kind:
            return _WORDS.get(kind, error["msg"][:1].lower() + error["msg"][1:])


def wrong_file(
    path: object,
    error: ValidationError | None,
    model: type[BaseModel],
    line: Line | None = None,
    others: Sequence[Problem] = (),
) -> str:
    """All that is wrong in a file, by line, as one sentence; `model` is what it should have been,
    and `others` are problems that it does not know.

    An unknown key that looks like a known one is taken for that one.
    """
    known = sorted(_keys(model.model_json_schema()))
    errors = error.errors(include_url=False) if error else []
    located = _without_misspelt(errors[:_MOST_LOCATED], known)
    problems = [(line(one["loc"]) if line else 0, _clause(one, known)) for one in located]
    shown = sorted([*problems, *others])[:MOST]
    clauses = [f"{path}:{number}: {clause}" if number else clause for number, clause in shown]
    left = len(located) + len(errors[_MOST_LOCATED:]) + len(others) - len(shown)
    more = [f"and {left} more"] if left else []
    return f"{'; '.join([*dict.fromkeys(clauses), *more])}; fix the file"


def _without_misspelt(errors: list[ErrorDetails], known: Sequence[str]) -> list[ErrorDetails]:
    """Without the missing keys that stand there under a name that looks like theirs."""
    unknown = [one["loc"] for one in errors if one["type"] == "extra_forbidden"]
    there = {(*loc[:-1], meant) for loc in unknown if (meant := _meant(loc[-1], known))}
    return [one for one in errors if one["type"] != "missing" or one["loc"] not in there]


def _clause(error: ErrorDetails, known: Sequence[str]) -> str:
    clause = f"{place_of(error)} {words_of(error)}"
    meant = _meant(error["loc"][-1], known) if error["type"] == "extra_forbidden" else None
    return f"{clause}, did you mean {meant!r}?" if meant else clause


def _meant(key: int | str, known: Sequence[str]) -> str | None:
    """The known key that an unknown one looks like; `None` for one that stands in a wrong place."""
    if not isinstance(key, str) or key in known:
        return None
    same = [name for name in known if name.lower() == key.lower()]
    return next(iter([*same, *get_close_matches(key, known, n=1)]), None)


def _keys(schema: Any) -> set[str]:
    """The names of all properties in a JSON schema."""
    if isinstance(schema, list):
        return {key for one in schema for key in _keys(one)}
    if not isinstance(schema, dict):
        return set()
    properties = schema.get("properties")
    own = set(properties) if isinstance(properties, dict) else set()
    return own | {key for one in schema.values() for key in _keys(one)}


def first_clause(error: ValidationError) -> str:
    """Place and words of the first one, where one says enough."""
    first = error.errors()[0]
    return f"{place_of(first)} {words_of(first)}"
