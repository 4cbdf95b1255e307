"""Checks that a type carries for pydantic, which is imported where values are read: `--help` and
completion do without."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Before(NamedTuple):
    """A function that makes a value of what was written, before the type is checked."""

    function: Callable[[Any], object]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self.function, handler(source))


class After(NamedTuple):
    """A function that checks a value of the type."""

    function: Callable[[Any], object]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self.function, handler(source))


class Limits:
    """What pydantic's schemas of numbers call `ge`, `le`, `gt` and `allow_inf_nan`."""

    def __init__(self, **limits: float) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        return {**handler(source), **self._limits}
