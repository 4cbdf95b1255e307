"""What is wrong with what a person wrote, in words that do not name our library's types."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from swarm_bench.core.errors import WrongFile

Line = Callable[[Sequence[int | str]], int]
"""The line of a path in a file, from 1; 0 where that is not known."""
Problem = tuple[int, str]
"""The line of a problem in a file, 0 where it is not known, and a clause."""
MAX_PROBLEMS = 10
"""Problems of a file that are reported at once."""
_MOST_LOCATED = 100
"""Problems of a file whose lines are looked for; the others are only counted."""
_CLAUSES = {
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
    "date_type": "must be a day, as 2026-01-31",
    "date_parsing": "must be a day, as 2026-01-31",
    "date_from_datetime_parsing": "must be a day, as 2026-01-31",
    "date_from_datetime_inexact": "must be a day, as 2026-01-31",
}


def format_value(value: object) -> str:
    """Write a value as a person does: a whole number without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


def format_path(path: Sequence[int | str], content: object = None) -> str:
    """Write where something is: `task 2: prompt`, or `task 'find-it': prompt` where the `content`
    of the file has an id for it; `key.files: item 1`. People count from 1."""
    clauses, names = list[str](), list[str]()
    for depth, part in enumerate(path, start=1):
        in_mapping = isinstance(content, dict)
        content = _descend(content, part)
        if in_mapping or not isinstance(part, int):
            names.append(str(part))
            continue
        noun = names.pop().removesuffix("s") if names and depth < len(path) else "item"
        id = content.get("id") if isinstance(content, dict) and noun != "item" else None
        name = repr(id) if id and isinstance(id, str) else str(part + 1)
        clauses += [".".join(names)] * bool(names) + [f"{noun} {name}"]
        names = []
    return ": ".join([*clauses, *([".".join(names)] if names else [])])


def _descend(content: object, part: int | str) -> object:
    if isinstance(content, dict):
        return content.get(part)
    if isinstance(content, list) and isinstance(part, int) and part < len(content):
        return content[part]
    return None


def describe_problem(error: ErrorDetails) -> str:
    """Say what is wrong there, as a clause that follows the path."""
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "greater_than_equal":
            return f"must be at least {format_value(context['ge'])}"
        case "less_than_equal":
            return f"must be at most {format_value(context['le'])}"
        case "greater_than":
            return f"must be more than {format_value(context['gt'])}"
        case "less_than":
            return f"must be less than {format_value(context['lt'])}"
        case "json_invalid":
            return f"is no JSON ({context['error']})"
        case "literal_error":
            return f"must be {context['expected']}"
        case "string_pattern_mismatch":
            return f"cannot be {error['input']!r}: it must fit {context['pattern']}"
        case "string_type" if isinstance(error["input"], bool | int | float):
            return "must be a string; put it into quotes"
        case "value_error":
            return str(context["error"])
        case kind:
            return _CLAUSES.get(kind, error["msg"][:1].lower() + error["msg"][1:])


def build_file_error(
    path: object,
    error: ValidationError | None,
    model: type[BaseModel],
    line: Line | None = None,
    other_problems: Sequence[Problem] = (),
    content: object = None,
) -> WrongFile:
    """Make the error on all that is wrong in a file, by line; `model` is what it should have been,
    `other_problems` are those that the model does not know, and the `content` has ids.

    An unknown key that looks like an existing one is taken for it.
    """
    keys = sorted(_collect_keys(model.model_json_schema()))
    errors = error.errors(include_url=False) if error else []
    located = _drop_misspelt(errors[:_MOST_LOCATED], keys)
    problems = [
        (line(detail["loc"]) if line else 0, _clause(detail, keys, content)) for detail in located
    ]
    reported = sorted([*problems, *other_problems])[:MAX_PROBLEMS]
    clauses = [f"{path}:{number}: {clause}" if number else clause for number, clause in reported]
    omitted = len(located) + len(errors[_MOST_LOCATED:]) + len(other_problems) - len(reported)
    remaining = [f"and {omitted} more"] if omitted else []
    return WrongFile([*dict.fromkeys(clauses), *remaining])


def _drop_misspelt(errors: list[ErrorDetails], keys: Sequence[str]) -> list[ErrorDetails]:
    """Drop the missing keys that stand there under a similar name."""
    unknown = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
    misspelt = {
        (*loc[:-1], similar) for loc in unknown if (similar := _find_similar_key(loc[-1], keys))
    }
    return [error for error in errors if error["type"] != "missing" or error["loc"] not in misspelt]


def _clause(error: ErrorDetails, keys: Sequence[str], content: object) -> str:
    clause = f"{format_path(error['loc'], content) or 'it'} {describe_problem(error)}"
    similar = (
        _find_similar_key(error["loc"][-1], keys) if error["type"] == "extra_forbidden" else None
    )
    return f"{clause}, did you mean {similar!r}?" if similar else clause


def _find_similar_key(key: int | str, keys: Sequence[str]) -> str | None:
    """Find the key that an unknown key looks like; `None` for a key in the wrong position."""
    if not isinstance(key, str) or key in keys:
        return None
    same = [name for name in keys if name.lower() == key.lower()]
    return next(iter([*same, *get_close_matches(key, keys, n=1)]), None)


def _collect_keys(schema: Any) -> set[str]:
    """Collect the names of all properties in a JSON schema."""
    if isinstance(schema, list):
        return {key for part in schema for key in _collect_keys(part)}
    if not isinstance(schema, dict):
        return set()
    properties = schema.get("properties")
    names = set(properties) if isinstance(properties, dict) else set()
    return names | {key for part in schema.values() for key in _collect_keys(part)}


def first_clause(error: ValidationError) -> str:
    """Return path and problem of the first error, where that says enough; of what may be of several
    types, the first one of the type that it says."""
    errors = error.errors()
    typed_paths = [detail["loc"][:-1] for detail in errors if detail["loc"][-1:] == ("type",)]
    of_type = (
        detail for detail in errors if detail["loc"][: len(typed_paths[0])] not in typed_paths
    )
    first = next(of_type, errors[0]) if typed_paths else errors[0]
    return f"{format_path(first['loc']) or 'it'} {describe_problem(first)}"
