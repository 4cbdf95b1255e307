"""Takes secrets out of what was parsed. The bytes that an agent printed are without them, but a
JSON text can spell each character of a key in two ways, and becomes the key when it is parsed."""

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from swarm_bench.runtime.sink import clean_text, without_secrets

Value = TypeVar("Value")


def cleaned(value: Value, secrets: Collection[str]) -> Value:
    """The value with every secret replaced in all texts of its mappings, tuples, lists and
    dataclasses. Figures of names that become the same are added."""
    return cast("Value", _cleaned(value, secrets))


def _cleaned(value: Any, secrets: Collection[str]) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        return clean_text(value, secrets)
    if isinstance(value, bytes):
        return without_secrets(value, secrets)
    if isinstance(value, Mapping):
        return _mapping(value, secrets)
    if isinstance(value, list | tuple):
        return type(value)(_cleaned(one, secrets) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        values = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        return replace(value, **_mapping(values, secrets))
    return value


def _mapping(values: Mapping[Any, Any], secrets: Collection[str]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for name, value in values.items():
        key, one = _cleaned(name, secrets), _cleaned(value, secrets)
        found[key] = found[key] + one if key in found and isinstance(one, int | float) else one
    return found
