"""The smallest answer that keeps a JSON schema."""

import json
from collections.abc import Mapping
from typing import Any

WORD = "rehearsal"
"""What stands where a schema wants text."""
_MAX_DEPTH = 12
_MAX_NODES = 1000
"""Values in one answer. A schema of a few lines can ask for more than there is memory."""
_MAX_LETTERS = 100_000
_MAX_NUMBER = 1e300
_FORMATS = {"date": "2000-01-01", "date-time": "2000-01-01T00:00:00Z", "uri": "http://localhost/"}

_Schema = Mapping[str, Any]


def smallest(schema: _Schema) -> Any:
    """Make a value that the schema allows: required properties only, first of what is listed, and
    no more items or letters than it asks for. One that asks for very much gets less."""
    return _value(schema, _Whole(schema), 0)


class _Whole:
    """The schema and the limits that the parts of one answer share."""

    def __init__(self, root: _Schema) -> None:
        self.root = root
        self.nodes = _MAX_NODES
        """Values that may still be made."""
        self.letters = _MAX_LETTERS


def _value(schema: object, whole: _Whole, depth: int) -> Any:
    whole.nodes -= 1
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH or whole.nodes < 0:
        return WORD
    if "const" in schema:
        return _fixed(schema["const"], whole)
    if listed := _list(schema.get("enum")):
        return _fixed(listed[0], whole)
    if (other := _other(schema, whole.root)) is not None:
        return _value(other, whole, depth + 1)
    match _kind(schema):
        case "object":
            return _object(schema, whole, depth)
        case "array":
            return _array(schema, whole, depth)
        case "integer" | "number" as kind:
            return _number(schema, 1 if kind == "integer" else 0.001)
        case "boolean":
            return False
        case "null":
            return None
    return _string(schema, whole)


def _fixed(value: object, whole: _Whole) -> object:
    """Take a value from the schema."""
    if whole.letters < 0:
        return WORD
    whole.letters -= len(json.dumps(value))
    return value


def _other(schema: _Schema, root: _Schema) -> _Schema | None:
    """Resolve a reference, a choice or a combination to the schema behind it."""
    if isinstance(reference := schema.get("$ref"), str):
        return _target(reference, root)
    if options := _list(schema.get("anyOf")) or _list(schema.get("oneOf")):
        return _mapping(options[0])
    if parts := _list(schema.get("allOf")):
        return _joined(schema, parts, root)
    return None


def _kind(schema: _Schema) -> str:
    """Return the type in lower case, because Gemini writes it in capitals."""
    type_ = schema.get("type")
    if isinstance(type_, list):
        type_ = next((kind for kind in type_ if kind != "null"), "null")
    if isinstance(type_, str):
        return type_.lower()
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _object(schema: _Schema, whole: _Whole, depth: int) -> dict[str, Any]:
    properties = _mapping(schema.get("properties"))
    names = [name for name in _list(schema.get("required")) if isinstance(name, str)]
    made: dict[str, Any] = {}
    for name in names:
        if whole.nodes > 0 and whole.letters > 0:
            whole.letters -= len(name)
            made[name] = _value(properties.get(name, {}), whole, depth + 1)
    return made


def _array(schema: _Schema, whole: _Whole, depth: int) -> list[Any]:
    least = _number_of(schema.get("minItems"), 0, _MAX_NODES)
    first = _list(schema.get("prefixItems"))
    made: list[Any] = []
    while len(made) < least and whole.nodes > 0:
        item = first[len(made)] if len(made) < len(first) else schema.get("items", {})
        made.append(_value(item, whole, depth + 1))
    return made


def _string(schema: _Schema, whole: _Whole) -> str:
    if (form := schema.get("format")) in _FORMATS:
        return _FORMATS[form]
    least = _number_of(schema.get("minLength"), 0, max(0, whole.letters))
    text = " ".join([WORD] * (1 + least // len(WORD)))
    whole.letters -= len(text)
    return text[: _number_of(schema.get("maxLength"), len(text), len(text))]


def _number(schema: _Schema, step: float) -> float:
    """Choose 0, or the number nearest to it that the limits allow."""
    least, most = _limit(schema.get("minimum")), _limit(schema.get("maximum"))
    if (above := _limit(schema.get("exclusiveMinimum"))) is not None:
        least = above + step
    if (below := _limit(schema.get("exclusiveMaximum"))) is not None:
        most = below - step
    if least is not None and least > 0:
        return least
    return most if most is not None and most < 0 else 0


def _joined(schema: _Schema, parts: list[Any], root: _Schema) -> _Schema:
    """Join several schemas that hold at once."""
    joined: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
    for part in map(_mapping, parts[:_MAX_NODES]):
        reference = part.get("$ref")
        whole = _target(reference, root) if isinstance(reference, str) else part
        for key, value in whole.items():
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


def _number_of(value: object, default: int, most: int) -> int:
    """Read a whole number from 0 to `most`."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return default
    return int(max(0, min(most, value)))


def _limit(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) < _MAX_NUMBER else None
