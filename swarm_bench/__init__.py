"""Measures whether a retrieval tool helps coding agents, on your code, for its price."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarm_bench.app.exporting import load as load

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `load` on its first use: the package itself stays quick to import."""
    if name == "load":
        from swarm_bench.app.exporting import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
