"""Layers of what is set, and those of a benchmark's properties."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarm_bench.config.dotenv_file import check_plain, read_dotenv
from swarm_bench.config.settings_file import read_settings
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.session.base import Source

PREFIX = "SWARM_BENCH_PROPERTY_"


Layers = dict[Source, Mapping[str, Any]]
"""What each source sets, the first one to win first."""


def merge(layers: Layers) -> tuple[dict[str, Any], dict[str, Source]]:
    """Merge the layers, and say where each value comes from."""
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for source, layer in reversed(layers.items()):
        values.update(layer)
        sources.update(dict.fromkeys(layer, source))
    return values, sources


def property_layers(benchmark: str, config: Path | None = None) -> Layers:
    """Read what the environment, `.env` and the settings file set. Raises `ConfigError`."""
    dotenv = _named(read_dotenv().written)
    check_plain({f"{PREFIX}{name}": value for name, value in dotenv.items()})
    file = read_settings(config)
    option = benchmark.replace("-", "_")
    table = file.options.get(option, {})
    if not isinstance(table, dict):
        raise ConfigError(
            f"{file.position(option)}: {benchmark} is a benchmark, whose properties stand in a "
            f"table: [{benchmark}]"
        )
    own = {name.replace("-", "_"): value for name, value in table.items()}
    return {"environment": _named(os.environ), ".env": dotenv, "file": own}


def _named(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name.upper().removeprefix(PREFIX).lower(): value
        for name, value in variables.items()
        if name.upper().startswith(PREFIX)
    }
