"""The file `.env` of the working folder, which is read here and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from dotenv import dotenv_values

from swarm_bench.core.text_file import read_text

FILE = Path(".env")


@dataclass(frozen=True, kw_only=True)
class DotEnv:
    """Its variables that are set, by name, in two forms."""

    written: Mapping[str, str] = field(default_factory=dict)
    """As they stand there: filled in, a key could carry the value of another variable along."""
    filled: Mapping[str, str] = field(default_factory=dict)
    """With other variables in the places of `${NAME}`, as most programs read the file."""

    def without(self, prefix: str) -> "DotEnv":
        """Those that have a value, and a name that does not begin with `prefix`, in any case."""
        written, filled = (
            {
                name: value
                for name, value in variables.items()
                if value and not name.upper().startswith(prefix)
            }
            for variables in (self.written, self.filled)
        )
        return DotEnv(written=written, filled=filled)


def read_dotenv() -> DotEnv:
    """Read the file; there are no variables without one. Raises `ConfigError`."""
    if not FILE.is_file():  # a pipe would wait, or be empty for whoever needs it
        return DotEnv()
    text = read_text(FILE, "file")
    written, filled = (
        {
            name: value
            for name, value in dotenv_values(stream=StringIO(text), interpolate=interpolate).items()
            if value is not None
        }
        for interpolate in (False, True)
    )
    return DotEnv(written=written, filled=filled)
