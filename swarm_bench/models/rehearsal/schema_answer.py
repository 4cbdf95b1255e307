"""The smallest answer that keeps a JSON schema."""

from collections.abc import Mapping
from typing import Any

WORD = "rehearsal"
"""What stands where a schema wants text."""
_MAX_DEPTH = 12
_FORMATS = {"date": "2000-01-01", "date-time": "2000-01-01T00:00:00Z", "uri": "http://localhost/"}

_Schema = Mapping[str, Any]


def smallest(schema: _Schema) -> Any:
    """A value that the schema allows: required properties only, first of what is listed, and no
    more items or letters than it asks for."""
    return _value(schema, schema, 0)


def _value(schema: object, root: _Schema, depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return WORD
    if "const" in schema:
        return schema["const"]
    if listed := _list(schema.get("enum")):
        return listed[0]
    if (other := _other(schema, root)) is not None:
        return _value(other, root, depth + 1)
    match _kind(schema):
        case "object":
            return _object(schema, root, depth)
        case "array":
            return _array(schema, root, depth)
        case "integer" | "number" as kind:
            return _number(schema, 1 if kind == "integer" else 0.001)
        case "boolean":
            return False
        case "null":
            return None
    return _string(schema)


def _other(schema: _Schema, root: _Schema) -> _Schema | None:
    """The schema that stands behind a reference, a choice or a combination."""
    if isinstance(reference := schema.get("$ref"), str):
        return _target(reference, root)
    if options := _list(schema.get("anyOf")) or _list(schema.get("oneOf")):
        return _mapping(options[0])
    if parts := _list(schema.get("allOf")):
        return _joined(schema, parts, root)
    return None


def _kind(schema: _Schema) -> str:
    """The type in lower case, because Gemini writes it in capitals."""
    given = schema.get("type")
    if isinstance(given, list):
        given = next((kind for kind in given if kind != "null"), "null")
    if isinstance(given, str):
        return given.lower()
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _object(schema: _Schema, root: _Schema, depth: int) -> dict[str, Any]:
    properties = _mapping(schema.get("properties"))
    names = [name for name in _list(schema.get("required")) if isinstance(name, str)]
    return {name: _value(properties.get(name, {}), root, depth + 1) for name in names}


def _array(schema: _Schema, root: _Schema, depth: int) -> list[Any]:
    least = _whole(schema.get("minItems"), 0)
    items = _list(schema.get("prefixItems"))[:least]
    items = [*items, *[schema.get("items", {})] * (least - len(items))]
    return [_value(item, root, depth + 1) for item in items]


def _string(schema: _Schema) -> str:
    if (form := schema.get("format")) in _FORMATS:
        return _FORMATS[form]
    least = _whole(schema.get("minLength"), 0)
    text = " ".join([WORD] * (1 + least // len(WORD)))
    return text[: _whole(schema.get("maxLength"), len(text))]


def _number(schema: _Schema, step: float) -> float:
    """0, or the number nearest to it that the limits allow."""
    least, most = _limit(schema.get("minimum")), _limit(schema.get("maximum"))
    if (above := _limit(schema.get("exclusiveMinimum"))) is not None:
        least = above + step
    if (below := _limit(schema.get("exclusiveMaximum"))) is not None:
        most = below - step
    if least is not None and least > 0:
        return least
    return most if most is not None and most < 0 else 0


def _joined(schema: _Schema, parts: list[Any], root: _Schema) -> _Schema:
    """One schema for several that hold at once."""
    joined: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
    for part in map(_mapping, parts):
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
    """What `#/$defs/Name` points to; empty when it points nowhere."""
    found: object = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = _mapping(found).get(step.replace("~1", "/").replace("~0", "~"))
    return _mapping(found)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _limit(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
