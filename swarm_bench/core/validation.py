"""What is wrong with what a person wrote, in words that do not name our library's types."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a key that is known here",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_type": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
}


def place_of(error: ErrorDetails) -> str:
    """Where it is, as `tasks.0.prompt`."""
    return ".".join(str(part) for part in error["loc"]) or "the whole of it"


def words_of(error: ErrorDetails) -> str:
    """What is wrong there, as a clause that follows the place."""
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than_equal":
            return f"must be at most {context['le']}"
        case "greater_than":
            return f"must be more than {context['gt']}"
        case "literal_error":
            return f"must be {context['expected']}"
        case "string_pattern_mismatch":
            return f"cannot be {error['input']!r}: it must fit {context['pattern']}"
        case "value_error":
            return str(context["error"])
        case kind:
            return _WORDS.get(kind, error["msg"][:1].lower() + error["msg"][1:])


def first_error(error: ValidationError) -> ErrorDetails:
    """The first one is said; the next shows when it is fixed."""
    return error.errors()[0]
