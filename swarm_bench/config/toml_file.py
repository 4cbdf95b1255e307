"""TOML that a person wrote."""

import re
import tomllib
from pathlib import Path
from typing import Any

from swarm_bench.config.text_file import read_text
from swarm_bench.core.errors import ConfigError

LONGEST_KEY = 100
"""Parts of a key: the library reads dotted keys in quadratic time."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}\.[ \t]*+){{{LONGEST_KEY},}}+", re.ASCII)


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Read a file; `kind` is what a person calls it. Raises `ConfigError`."""
    text = read_text(path, kind)
    if _LONG_KEY.search(text):
        raise ConfigError(
            f"The {kind} {path} has a key of more than {LONGEST_KEY} parts; the options have one "
            "each"
        )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a `ValueError`
        raise ConfigError(f"The {kind} {path} is not TOML: {error}; fix it") from error
