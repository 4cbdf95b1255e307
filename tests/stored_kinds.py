"""The types of what is stored."""

import importlib
import pkgutil
from collections.abc import Iterator

import swarm_bench.core
from swarm_bench.core.stored import Stored


def every_kind() -> list[type[Stored]]:
    """All stored types of the core."""
    for module in pkgutil.walk_packages(swarm_bench.core.__path__, "swarm_bench.core."):
        importlib.import_module(module.name)
    return list(_kinds(Stored))


def _kinds(base: type[Stored]) -> Iterator[type[Stored]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)
