"""The settings file: what it sets, and every mistake in it with its line."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from swarm_bench.config.text_file import read_text, read_toml
from swarm_bench.core.entry_points import list_plugins
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.validation import MAX_PROBLEMS

FILE = Path("swarm-bench.toml")
_KIND = "settings file"


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """What a settings file sets; names have underscores."""

    path: Path = FILE
    options: Mapping[str, Any] = field(default_factory=dict)

    def position(self, name: str) -> str:
        """Return file and line, as `swarm-bench.toml:3`."""
        name_pattern = "[-_]".join(map(re.escape, name.split("_")))
        key = re.compile(rf"[ \t]*(?:\[[ \t]*)?[\"']?{name_pattern}(?![\w-])")
        lines = read_text(self.path, _KIND).split("\n")
        number = next((number for number, line in enumerate(lines, 1) if key.match(line)), 0)
        return f"{self.path}:{number}" if number else str(self.path)

    def problems(self, names: Collection[str]) -> list[str]:
        """Return a clause for each option that does not exist."""
        tables = {plugin.name.replace("-", "_") for plugin in list_plugins("benchmarks")}
        unknown = [
            name
            for name, value in self.options.items()
            if name not in names and not (isinstance(value, dict) and name in tables)
        ]
        omitted = [f"and {len(unknown) - MAX_PROBLEMS} more"] if len(unknown) > MAX_PROBLEMS else []
        clauses = (
            f"{self.position(name)}: {_why_not(name, self.options[name], names)}"
            for name in unknown[:MAX_PROBLEMS]
        )
        return [*clauses, *omitted]


def read_settings(config: Path | None) -> SettingsFile:
    """Read `config`, or the file of the working folder, if it is there. Raises `ConfigError`."""
    path = config or FILE
    if not path.is_file():
        if config is not None and not config.exists():
            raise ConfigError(f"The settings file {config} does not exist; fix --config")
        if os.path.lexists(path):
            raise ConfigError(f"The settings file {path} is not a file; fix --config, or remove it")
        return SettingsFile()
    options = read_toml(path, _KIND)
    return SettingsFile(
        path=path, options={name.replace("-", "_"): value for name, value in options.items()}
    )


def _why_not(name: str, value: object, names: Collection[str]) -> str:
    if name == "trust":
        return (
            "a file cannot vouch for itself; remove the line, and give --trust or set "
            "SWARM_BENCH_TRUST in the environment"
        )
    if isinstance(value, dict):
        return (
            f"the table [{name}] is not known; write the options without one: they are the same "
            "for every command"
        )
    close = get_close_matches(name, sorted(names), n=1)
    advice = "see 'swarm-bench compare --help'"
    if close:
        advice = f"did you mean {close[0].replace('_', '-')}?"
    return f"{name.replace('_', '-')} is no option; {advice}"
