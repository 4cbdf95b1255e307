from typing import Any

import pytest

from swarm_bench.models.rehearsal.schema_answer import WORD, smallest

CASES: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string"}, WORD),
    ({"type": "STRING"}, WORD),
    ({"type": ["null", "integer"]}, 0),
    ({"type": "boolean"}, False),
    ({"type": "null"}, None),
    ({"enum": ["b", "a"]}, "b"),
    ({"const": 3}, 3),
    ({"type": "integer", "minimum": 1, "maximum": 100}, 1),
    ({"type": "integer", "exclusiveMinimum": 0}, 1),
    ({"type": "number", "maximum": -2}, -2),
    ({"type": "string", "maxLength": 4}, WORD[:4]),
    ({"type": "array", "items": {"type": "string"}}, []),
    ({"type": "array", "items": {"type": "string"}, "minItems": 2}, [WORD, WORD]),
    ({"properties": {"a": {"type": "null"}, "b": {}}, "required": ["a"]}, {"a": None}),
    ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, False),
    ({"$ref": "#/$defs/x", "$defs": {"x": {"enum": [7]}}}, 7),
    ({"$ref": "#/$defs/none"}, WORD),
    ({"type": "string", "format": "date"}, "2000-01-01"),
    ({}, WORD),
]


@pytest.mark.parametrize(("schema", "value"), CASES)
def test_smallest_value_that_a_schema_allows(schema: dict[str, Any], value: Any) -> None:
    assert smallest(schema) == value


def test_text_is_as_long_as_asked() -> None:
    assert len(smallest({"type": "string", "minLength": 30})) >= 30


def test_schemas_that_hold_together_are_joined() -> None:
    parts = [
        {"properties": {"a": {"const": 1}}, "required": ["a"]},
        {"$ref": "#/$defs/b"},
    ]
    other = {"properties": {"b": {"const": 2}}, "required": ["b"]}
    schema = {"type": "object", "allOf": parts, "$defs": {"b": other}}
    assert smallest(schema) == {"a": 1, "b": 2}


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}, "required": ["next"]}
    assert isinstance(smallest({"$ref": "#/$defs/n", "$defs": {"n": node}}), dict)


def test_what_a_model_router_asks() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "complexity_reasoning": {"type": "STRING"},
            "complexity_score": {"type": "INTEGER", "minimum": 1, "maximum": 100},
        },
        "required": ["complexity_reasoning", "complexity_score"],
    }
    assert smallest(schema) == {"complexity_reasoning": WORD, "complexity_score": 1}
