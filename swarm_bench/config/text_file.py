"""Small text files that a person writes."""

from pathlib import Path

from swarm_bench.core.errors import ConfigError

LARGEST = 256 * 1024
"""Bytes of a file that a person writes by hand; a larger one was named by mistake."""


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
