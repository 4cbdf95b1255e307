"""The smallest answer that keeps a JSON schema."""

import json
from collections.abc import Mapping
from typing import Any

WORD = "rehearsal"
"""Word that is put where a schema wants text."""
_MAX_DEPTH = 12
_MAX_NODES = 1000
"""Values in one answer. A schema of a few lines can ask for more than there is memory."""
_MAX_LETTERS = 100_000
_MAX_NUMBER = 1e300
_FORMATS = {"date": "2000-01-01", "date-time": "2000-01-01T00:00:00Z", "uri": "http://localhost/"}

_Schema = Mapping[str, Any]


def build_smallest(schema: _Schema) -> Any:
    """Make a value that the schema allows: required properties only, first of what is listed, and
    no more items or letters than it asks for. One that asks for very much gets less."""
    return _build(schema, _AnswerLimits(schema), 0)


class _AnswerLimits:
    """The schema and the limits that the parts of one answer share."""

    def __init__(self, root: _Schema) -> None:
        self.root = root
        self.nodes = _MAX_NODES
        """Values that may still be made."""
        self.letters = _MAX_LETTERS


def _build(schema: object, limits: _AnswerLimits, depth: int) -> Any:
    limits.nodes -= 1
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH or limits.nodes < 0:
        return WORD
    if "const" in schema:
        return _take_fixed(schema["const"], limits)
    if options := _list(schema.get("enum")):
        return _take_fixed(options[0], limits)
    if (resolved := _resolve(schema, limits.root)) is not None:
        return _build(resolved, limits, depth + 1)
    match _kind(schema):
        case "object":
            return _build_object(schema, limits, depth)
        case "array":
            return _build_array(schema, limits, depth)
        case "integer" | "number" as kind:
            return _build_number(schema, 1 if kind == "integer" else 0.001)
        case "boolean":
            return False
        case "null":
            return None
    return _build_string(schema, limits)


def _take_fixed(value: object, limits: _AnswerLimits) -> object:
    """Take a value from the schema."""
    if limits.letters < 0:
        return WORD
    limits.letters -= len(json.dumps(value))
    return value


def _resolve(schema: _Schema, root: _Schema) -> _Schema | None:
    """Resolve a reference, a choice or a combination to the schema behind it."""
    if isinstance(reference := schema.get("$ref"), str):
        return _target(reference, root)
    if options := _list(schema.get("anyOf")) or _list(schema.get("oneOf")):
        return _mapping(options[0])
    if parts := _list(schema.get("allOf")):
        return _merge(schema, parts, root)
    return None


def _kind(schema: _Schema) -> str:
    """Return the type in lower case, because Gemini writes it in capitals."""
    type_ = schema.get("type")
    if isinstance(type_, list):
        type_ = next((kind for kind in type_ if kind != "null"), "null")
    if isinstance(type_, str):
        return type_.lower()
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _build_object(schema: _Schema, limits: _AnswerLimits, depth: int) -> dict[str, Any]:
    properties = _mapping(schema.get("properties"))
    names = [name for name in _list(schema.get("required")) if isinstance(name, str)]
    values: dict[str, Any] = {}
    for name in names:
        if limits.nodes > 0 and limits.letters > 0:
            limits.letters -= len(name)
            values[name] = _build(properties.get(name, {}), limits, depth + 1)
    return values


def _build_array(schema: _Schema, limits: _AnswerLimits, depth: int) -> list[Any]:
    least = _number_of(schema.get("minItems"), 0, _MAX_NODES)
    first = _list(schema.get("prefixItems"))
    items: list[Any] = []
    while len(items) < least and limits.nodes > 0:
        item = first[len(items)] if len(items) < len(first) else schema.get("items", {})
        items.append(_build(item, limits, depth + 1))
    return items


def _build_string(schema: _Schema, limits: _AnswerLimits) -> str:
    if (form := schema.get("format")) in _FORMATS:
        return _FORMATS[form]
    least = _number_of(schema.get("minLength"), 0, max(0, limits.letters))
    text = " ".join([WORD] * (1 + least // len(WORD)))
    limits.letters -= len(text)
    return text[: _number_of(schema.get("maxLength"), len(text), len(text))]


def _build_number(schema: _Schema, step: float) -> float:
    """Choose 0, or the number nearest to it that the limits allow."""
    least, maximum = _limit(schema.get("minimum")), _limit(schema.get("maximum"))
    if (exclusive_minimum := _limit(schema.get("exclusiveMinimum"))) is not None:
        least = exclusive_minimum + step
    if (exclusive_maximum := _limit(schema.get("exclusiveMaximum"))) is not None:
        maximum = exclusive_maximum - step
    if least is not None and least > 0:
        return least
    return maximum if maximum is not None and maximum < 0 else 0


def _merge(schema: _Schema, parts: list[Any], root: _Schema) -> _Schema:
    """Join several schemas that hold at once."""
    joined: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
    for part in map(_mapping, parts[:_MAX_NODES]):
        reference = part.get("$ref")
        limits = _target(reference, root) if isinstance(reference, str) else part
        for key, value in limits.items():
            if key == "properties":
                joined[key] = {**_mapping(joined.get(key)), **_mapping(value)}
            elif key == "required":
                joined[key] = [*_list(joined.get(key)), *_list(value)]
            else:
                joined.setdefault(key, value)
    return joined


def _target(reference: str, root: _Schema) -> _Schema:
    """Follow `#/$defs/Name`; empty when it points nowhere."""
    target: object = root
    for step in reference.removeprefix("#").split("/")[1:]:
        target = _mapping(target).get(step.replace("~1", "/").replace("~0", "~"))
    return _mapping(target)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number_of(value: object, default: int, maximum: int) -> int:
    """Read a whole number from 0 to `most`."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return default
    return int(max(0, min(maximum, value)))


def _limit(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) < _MAX_NUMBER else None
