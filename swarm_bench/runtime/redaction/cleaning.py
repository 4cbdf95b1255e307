"""Takes secrets out of what was parsed. The bytes that an agent printed are without them, but a
JSON text can spell each character of a key in two ways, and becomes the key when it is parsed."""

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from swarm_bench.runtime.sink import clean_text, replace_secrets

Value = TypeVar("Value")


def clean_value(value: Value, secrets: Collection[str]) -> Value:
    """Replace every secret in all texts of the value's mappings, tuples, lists and dataclasses.
    Figures of names that become the same are added."""
    return cast("Value", _clean_any(value, secrets))


def _clean_any(value: Any, secrets: Collection[str]) -> Any:
    if value is None or isinstance(value, int | float):  # most are, and the rest takes its time
        return value
    if isinstance(value, str) and not isinstance(value, Enum):
        return clean_text(value, secrets)
    if isinstance(value, bytes):
        return replace_secrets(value, secrets)
    if isinstance(value, Mapping):
        return _clean_mapping(value, secrets)
    if isinstance(value, list | tuple):
        return type(value)(_clean_any(item, secrets) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        values = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        return replace(
            value,
            **{name: _clean_any(field_value, secrets) for name, field_value in values.items()},
        )
    return value


def _clean_mapping(values: Mapping[Any, Any], secrets: Collection[str]) -> dict[Any, Any]:
    clean: dict[Any, Any] = {}
    for name, value in values.items():
        key, item = _clean_any(name, secrets), _clean_any(value, secrets)
        clean[key] = clean[key] + item if key in clean and isinstance(item, int | float) else item
    return clean
