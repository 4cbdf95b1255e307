"""Small text files that a person writes, and TOML in them."""

import re
import tomllib
from pathlib import Path
from typing import Any

from swarm_bench.core.errors import ConfigError

LARGEST = 256 * 1024
"""Bytes of a file that a person writes by hand; a larger one was named by mistake."""
LONGEST_KEY = 100
"""Parts of a key: the library reads dotted keys in quadratic time."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}\.[ \t]*+){{{LONGEST_KEY},}}+", re.ASCII)


def read_text(
    path: Path, kind: str, advice: str = "check the path", *, largest: int = LARGEST
) -> str:
    """Read a file of at most `largest` bytes; `kind` is what a person calls it, and `advice` what
    to do when it is not there. Links are followed. Raises `ConfigError`."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device would be read for ever
            raise ConfigError(
                f"The {kind} {path} cannot be read: it is not a regular file; check the path"
            )
        with path.open("rb") as file:
            data = file.read(largest + 1)
        if len(data) > largest:
            raise ConfigError(f"The {kind} {path} is larger than {largest // 1024} KiB; shorten it")
        return data.decode("utf-8-sig")  # some editors begin with a mark
    except OSError as error:
        raise ConfigError(
            f"The {kind} {path} cannot be read: {error.strerror}; {advice}"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"The {kind} {path} is not UTF-8: {error}; fix the file") from error


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
