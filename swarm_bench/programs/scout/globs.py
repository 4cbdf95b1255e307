"""Glob patterns as editors and shells know them: `*`, `?`, `**`, `[a-z]`, `{a,b}`."""

import re

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]|.", re.DOTALL)
_BRACES = re.compile(r"\{([^{}]*)\}")
MAX_ALTERNATIVES = 64


def matcher(pattern: str) -> re.Pattern[str]:
    """An expression that matches whole relative paths.

    A pattern without `/` is looked for at any depth, as ripgrep does it.
    """
    alternatives = [_translate(part) for part in _expand(pattern.removeprefix("./"))]
    return re.compile("|".join(alternatives), re.DOTALL)


def _expand(pattern: str) -> list[str]:
    """`*.{ts,tsx}` as `*.ts` and `*.tsx`; more than 64 alternatives are taken literally."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        current = waiting.pop(0)
        braces = _BRACES.search(current)
        if braces is None or len(waiting) + len(done) > MAX_ALTERNATIVES:
            done.append(current)
            continue
        before, after = current[: braces.start()], current[braces.end() :]
        waiting += [before + choice + after for choice in braces[1].split(",")]
    return done


def _translate(pattern: str) -> str:
    anchored = pattern if "/" in pattern else "**/" + pattern
    return "(?:" + "".join(_part(part) for part in _PARTS.findall(anchored.lstrip("/"))) + r")\Z"


def _part(part: str) -> str:
    match part:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
    if len(part) > 2 and part[0] == "[":
        inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^{inner[1:]}]" if inner[0] in "!^" and len(inner) > 1 else f"[{inner}]"
    return re.escape(part)
