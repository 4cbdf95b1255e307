"""The contract that no record is made from merged dictionaries."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stored_kinds import every_kind

PACKAGE = Path(__file__).parents[2] / "swarm_bench"
KINDS = {kind.__name__ for kind in every_kind()}
MERGED = [
    "TrialRecord(mode='m', **values)",
    "records.TrialRecord(**{**a, **b})",
    "TrialRecord.model_validate({**a, **b})",
    "Experiment.model_validate({'a': 1, **b})",
    "Task.model_construct(title='t')",
]
TYPED = ["TrialRecord(mode='m', **vars(part))", "Task.model_validate(values)", "dict(**a, **b)"]


def merged(text: str) -> Iterator[int]:
    """The lines in which values without types become a stored record."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in KINDS:
                spread = [word.value for word in node.keywords if word.arg is None]
                if not all(map(_is_of_a_part, spread)):
                    yield node.lineno
            case ast.Attribute(attr="model_construct"):
                yield node.lineno
            case ast.Attribute(attr="model_validate"):
                if any(isinstance(value, ast.Dict) and None in value.keys for value in node.args):
                    yield node.lineno


def _is_of_a_part(value: ast.expr) -> bool:
    """Whether it is `vars(part)`, whose names and types are those of a class."""
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "vars"


@pytest.mark.parametrize("line", MERGED)
def test_merged_dictionaries_are_found(line: str) -> None:
    assert list(merged(line)) == [1]


@pytest.mark.parametrize("line", TYPED)
def test_parts_with_types_are_none(line: str) -> None:
    assert list(merged(line)) == []


def test_no_record_is_made_of_them() -> None:
    files = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    breaches = [f"{path}:{line}" for path, text in files.items() for line in merged(text)]
    assert breaches == []
