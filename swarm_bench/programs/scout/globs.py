"""Glob patterns as editors and shells know them: `*`, `?`, `**`, `[a-z]`, `{a,b}`."""

import re
from collections.abc import Iterator

from swarm_bench.programs.braces import alternatives

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]|.", re.DOTALL)
_SEPARATORS = ("*", "**", "**/", "/")
MAX_ALTERNATIVES = 64


def matcher(pattern: str) -> re.Pattern[str]:
    """Compile an expression that matches whole relative paths.

    A pattern without `/` is looked for at any depth, as ripgrep does it. One that stands for more
    than 64 others is taken literally.
    """
    plain = pattern.removeprefix("./")
    try:
        globs = alternatives(plain, MAX_ALTERNATIVES)
    except ValueError:
        globs = [plain]
    return re.compile("|".join(map(_translate, globs)), re.DOTALL)


def _translate(pattern: str) -> str:
    anchored = pattern if "/" in pattern else "**/" + pattern
    return "(?:" + "".join(_pieces(_PARTS.findall(anchored.lstrip("/")))) + r")\Z"


def _pieces(parts: list[str]) -> Iterator[str]:
    """Yield the expression in pieces. A `*` with another one after it in the same name takes as
    little as it can and is not tried again, or many of them would try all combinations."""
    is_open = False
    for index, part in enumerate(parts):
        if part == "*" and is_open:
            yield ")"
        if part == "*":
            next_separator = next((part for part in parts[index + 1 :] if part in _SEPARATORS), "/")
            is_open = next_separator == "*"
            yield "(?>[^/]*?" if is_open else "[^/]*"
        else:
            yield _part(part)


def _part(part: str) -> str:
    match part:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "?":
            return "[^/]"
    if len(part) > 2 and part[0] == "[":
        inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^/{inner[1:]}]" if inner[0] in "!^" and len(inner) > 1 else f"[{inner}]"
    return re.escape(part)
