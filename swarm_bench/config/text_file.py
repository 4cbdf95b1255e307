"""Text that a person writes: how it is decoded, small files of it, TOML and `{{ name }}` in them.

Known names are filled in, an unknown one is a mistake, and that is all: no statements and no
filters. What is not a name between the braces belongs to another program, as `{{.Names}}` and
`{{json .}}` do, and stays as it is.
"""

import codecs
import re
import tomllib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from swarm_bench.core.errors import ConfigError

LARGEST = 256 * 1024
"""Bytes of a file that a person writes by hand; a larger one was named by mistake."""
LONGEST_KEY = 100
"""Parts of a key: the library reads dotted keys in quadratic time."""
_MARKS = (  # that of UTF-32 begins as that of UTF-16 does
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MARK = "\ufeff"
"""Begins what some editors and shells write; in a text that was put together, also a part."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}\.[ \t]*+){{{LONGEST_KEY},}}+", re.ASCII)


def decode_text(content: bytes) -> str:
    """Decode a text: UTF-8, or as the mark at its beginning says. Raises `UnicodeDecodeError`."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    return content.decode(encoding)


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
        return decode_text(data)
    except OSError as error:
        raise ConfigError(
            f"The {kind} {path} cannot be read: {error.strerror}; {advice}"
        ) from error
    except UnicodeDecodeError as error:
        encoding = error.encoding.upper()
        raise ConfigError(f"The {kind} {path} is not {encoding}: {error}; fix the file") from error


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


# A file may be a stranger's: every expression here takes time in proportion to the text.
PLACEHOLDER = r"\{\{\s*+(?P<placeholder>[A-Za-z_][^{}\s]*+)\s*+\}\}"
_PLACEHOLDER = re.compile(PLACEHOLDER)
_CLOSED = re.compile(r"\{\{\s*+(?P<first>\w*+)(?P<rest>[^{}\n]*+)\}\}")


def placeholders(text: str) -> set[str]:
    """Return the names in a text."""
    return set(_PLACEHOLDER.findall(text))


def substitute(text: str, put: Callable[[str], str]) -> str:
    """Return the text with what `put` gives for each name. One pass: what a value holds is not
    looked at again."""
    return _PLACEHOLDER.sub(lambda match: put(match["placeholder"]), text)


def remove_closed(text: str) -> str:
    """Return the text without anything that stands between `{{` and `}}` in a line."""
    return _CLOSED.sub(" ", text)


def check_placeholders(text: str, allowed: Collection[str]) -> None:
    """Raise `ValueError` with a clause for a name that is not allowed, and for an allowed name
    that does not stand alone."""
    for name in sorted(placeholders(text)):
        if name not in allowed:
            raise ValueError(
                f"has the placeholder {{{{ {name} }}}}; known are {', '.join(allowed)}"
            )
    for match in _CLOSED.finditer(text):
        if match["first"] in allowed and match["rest"].strip():
            raise ValueError(
                f"has {match[0]}, which is not filled in; write {{{{ {match['first']} }}}} alone"
            )
