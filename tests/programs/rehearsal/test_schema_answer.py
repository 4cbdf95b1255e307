import json
from typing import Any

import pytest

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.rehearsal.thinking.retrieval_tools import fill_required
from swarm_bench.programs.rehearsal.thinking.schema_answer import WORD, build_smallest

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
    assert build_smallest(schema) == value


def test_text_is_as_long_as_asked() -> None:
    assert len(build_smallest({"type": "string", "minLength": 30})) >= 30


def test_schemas_that_hold_together_are_joined() -> None:
    parts = [
        {"properties": {"a": {"const": 1}}, "required": ["a"]},
        {"$ref": "#/$defs/b"},
    ]
    other = {"properties": {"b": {"const": 2}}, "required": ["b"]}
    schema = {"type": "object", "allOf": parts, "$defs": {"b": other}}
    assert build_smallest(schema) == {"a": 1, "b": 2}


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}, "required": ["next"]}
    assert isinstance(build_smallest({"$ref": "#/$defs/n", "$defs": {"n": node}}), dict)


def test_what_a_model_router_asks() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "complexity_reasoning": {"type": "STRING"},
            "complexity_score": {"type": "INTEGER", "minimum": 1, "maximum": 100},
        },
        "required": ["complexity_reasoning", "complexity_score"],
    }
    assert build_smallest(schema) == {"complexity_reasoning": WORD, "complexity_score": 1}


def _tree(depth: int, width: int) -> dict[str, Any]:
    """A few definitions, each of which asks for several of the next."""
    names = [f"n{at}" for at in range(width)]
    nodes = {
        f"d{at}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/d{at + 1}"} for name in names},
            "required": names,
        }
        for at in range(depth)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**nodes, f"d{depth}": {"type": "string"}}}


def _asks(schema: dict[str, Any], name: str = "a") -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, "required": [name]}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 10**9},
        {"type": "string", "minLength": 10**9},
        {"type": "array", "minItems": 1e9, "items": {"type": "string", "minLength": 10**9}},
        {"type": "array", "minItems": 999, "items": {"type": "array", "minItems": 999}},
        {"type": "string", "minLength": -5, "maxLength": -1},
        {"type": "array", "minItems": 900, "items": {"const": "x" * 100_000}},
        {"type": "array", "minItems": 900, "items": _asks({}, "x" * 100_000)},
        {"type": "array", "minItems": float("nan"), "maximum": 10**400},
        {"type": "number", "exclusiveMinimum": 10**400},
        _tree(5, 20),
        {"type": "array", "minItems": 5, "items": {"$ref": "#"}},
    ],
)
def test_what_asks_for_very_much_gets_less(schema: dict[str, Any]) -> None:
    assert len(json.dumps(build_smallest(schema))) < 400_000
    assert len(
        json.dumps(fill_required(ToolSpec(name="t", description="", schema=_asks(schema)), {}, ""))
    )
