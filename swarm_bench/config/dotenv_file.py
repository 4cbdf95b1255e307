"""The file `.env` of the working folder, which is read here and nowhere else."""

import os
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from dotenv import dotenv_values
from dotenv.variables import parse_variables

from swarm_bench.config.text_file import read_text
from swarm_bench.core.errors import ConfigError

FILE = Path(".env")
LARGEST = 1024 * 1024
"""Bytes: other programs keep certificates and whole documents there."""
MOST_PLACES = 1_000
"""Times that `${NAME}` may stand in the file: the library finds those that never end in quadratic
time."""
LARGEST_FILLED = LARGEST
"""Characters of all values together, once they are filled in."""


@dataclass(frozen=True, kw_only=True)
class DotEnv:
    """Its variables that are set, by name, in two forms."""

    raw: Mapping[str, str] = field(default_factory=dict)
    """Values as they stand in the file: filled in, a key could carry the value of another variable
    along."""
    expanded: Mapping[str, str] = field(default_factory=dict)
    """Values with other variables in the places of `${NAME}`, as most programs read the file."""
    names_only: frozenset[str] = frozenset()
    """Names that stand there without a `=`, and are not set."""

    def exclude(self, prefix: str) -> "DotEnv":
        """Keep those that have a value, and a name without `prefix`, in any case."""

        def select(variables: Mapping[str, str]) -> dict[str, str]:
            return {
                name: value
                for name, value in variables.items()
                if value and not name.upper().startswith(prefix)
            }

        return DotEnv(raw=select(self.raw), expanded=select(self.expanded))


def read_dotenv() -> DotEnv:
    """Read the file; there are no variables without one. Raises `ConfigError`."""
    # A folder may be a virtual environment; the null device hides a file from a container.
    if FILE.is_dir() or not os.path.lexists(FILE) or _is_null(FILE):
        return DotEnv()
    text = read_text(FILE, "file", "remove it, or fix where it leads", largest=LARGEST)
    if text.count("${") > MOST_PLACES:
        raise ConfigError(f"{FILE} has more than {MOST_PLACES} of ${{NAME}}; write the values out")
    variables = dotenv_values(stream=StringIO(text), interpolate=False)
    raw = {name: value for name, value in variables.items() if value is not None}
    return DotEnv(
        raw=raw,
        expanded=_expand(raw),
        names_only=frozenset(variables.keys() - raw.keys()),
    )


def _is_null(path: Path) -> bool:
    return path.exists() and path.samefile(os.devnull)


def check_plain(options: Mapping[str, str]) -> None:
    """Raise `ConfigError` for one that would have to be filled in: options are shown and stored,
    and what is filled in may be a key."""
    for name, value in options.items():
        if "${" in value:
            raise ConfigError(
                f"{FILE} has ${{…}} in {name.upper()}, which is not filled in; write the value out"
            )


def _expand(raw: Mapping[str, str]) -> dict[str, str]:
    """Fill in the variables before each, and those of the environment. Raises `ConfigError`
    before a value grows too long, as it does when each doubles the previous."""
    expanded: dict[str, str] = {}
    variables = ChainMap(expanded, os.environ)
    remaining = LARGEST_FILLED
    for name, value in raw.items():
        parts: list[str] = []
        for atom in parse_variables(value):
            parts.append(atom.resolve(variables))
            remaining -= len(parts[-1])
            if remaining < 0:
                size = f"{LARGEST_FILLED // 1024} KiB"
                raise ConfigError(
                    f"The values in {FILE} are more than {size} once ${{NAME}} is filled in, "
                    f"at {name}; write them out"
                )
        expanded[name] = "".join(parts)
    return expanded
