"""A name that a repository defines and often uses, to ask a search tool for."""

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from swarm_bench.runtime.untrusted import read

MOST_FILES = 3000
LARGEST_FILE = 200_000
"""Bytes; what is larger is seldom written by hand."""
SHORTEST = 6
"""Letters of a name that says something."""
_DEFINED = re.compile(
    r"\b(?:class|def|fn|func|function|struct|interface|trait|type|enum|module)\s+([A-Za-z_]\w*)"
)
_PARTS = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
"""Between two words of a name, which no sentence has."""
_NAME = re.compile(r"[A-Za-z_]\w*")


def find_frequent_name(root: Path, files: Collection[str]) -> str | None:
    """Find the name that is defined once and used in the most files, of several words if there is
    such a name; else the stem of a file. `None` for a repository without any name."""
    texts = [text for path in sorted(files)[:MOST_FILES] if (text := _read_text(root / path))]
    defined: Counter[str] = Counter(name for text in texts for name in _DEFINED.findall(text))
    once = {name for name, times in defined.items() if times == 1 and _is_meaningful(name)}
    once = set(filter(_PARTS.search, once)) or once
    used: Counter[str] = Counter(name for text in texts for name in once & set(_NAME.findall(text)))
    if used:
        return min(used, key=lambda name: (-used[name], name))
    stems = sorted(stem for path in files if _is_meaningful(stem := PurePosixPath(path).stem))
    return stems[0] if stems else None


def _is_meaningful(name: str) -> bool:
    return len(name) >= SHORTEST and not name.startswith("_")


def _read_text(path: Path) -> str:
    """Read the text of a file; empty for what is no file, too large, or no text."""
    try:
        content = read(path, LARGEST_FILE)
    except OSError:
        return ""
    return "" if b"\0" in content else content.decode("utf-8", "replace")
