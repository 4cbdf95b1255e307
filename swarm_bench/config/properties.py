"""Properties of a benchmark, wherever they are set: the environment, `.env`, the settings file."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from swarm_bench.config.dotenv_file import check_plain, read_dotenv
from swarm_bench.config.settings_file import read_settings
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.session.base import Source

PREFIX = "SWARM_BENCH_PROPERTY_"


def property_layers(
    benchmark: str, config: Path | None = None
) -> Iterator[tuple[Source, Mapping[str, Any]]]:
    """Yield what each source sets, the first one to win first. Raises `ConfigError`."""
    yield "environment", _named(os.environ)
    written = _named(read_dotenv().written)
    check_plain({f"{PREFIX}{name}": value for name, value in written.items()})
    yield ".env", written
    file = read_settings(config)
    option = benchmark.replace("-", "_")
    table = file.options.get(option, {})
    if not isinstance(table, dict):
        raise ConfigError(
            f"{file.position(option)}: {benchmark} is a benchmark, whose properties stand in a "
            f"table: [{benchmark}]"
        )
    yield "file", {name.replace("-", "_"): value for name, value in table.items()}


def _named(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name.upper().removeprefix(PREFIX).lower(): value
        for name, value in variables.items()
        if name.upper().startswith(PREFIX)
    }
