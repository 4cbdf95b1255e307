"""Searches and reads with a command line, for programs that have nothing better to offer.

Every line that a command prints differs from what a program writes around its output: paths
begin with `./`, lines of a file have their number before them.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any

MAX_COLUMNS = 310
# Claude Code replaces grep and find by programs of its own, which read other dialects.
_GREP = "LC_ALL=C command grep"
_COUNTING = "-rIcE"
_SKIPPED = (".git", ".canopy", ".hg", ".svn")
_BRACES = re.compile(r"\{([^{}]*)\}")


def command(name: str, arguments: Mapping[str, Any]) -> str:
    """Write the command line that does what a call of scout's Grep, Glob or Read does."""
    match name:
        case "Grep" if arguments.get("output_mode") == "count":
            return _count(arguments)
        case "Grep":
            return _lines(arguments)
        case "Glob":
            return _find(str(arguments["pattern"]))
    return _window(arguments)


def counts(arguments: Mapping[str, Any]) -> bool:
    """Tell whether a call runs a command line of ours that counts."""
    return any(f"{_GREP} {_COUNTING} " in str(value) for value in arguments.values())


def plain(pattern: str) -> str:
    """Write the same expression in the dialect that grep -E, ripgrep, JavaScript and Python
    share."""
    return re.sub(r"(?<!\\)\(\?:", "(", pattern)


def expand_braces(glob: str) -> list[str]:
    """Write out the patterns that one with `{a,b}` stands for."""
    braces = _BRACES.search(glob)
    if not braces:
        return [glob]
    before, after = glob[: braces.start()], glob[braces.end() :]
    return [
        pattern for part in braces[1].split(",") for pattern in expand_braces(before + part + after)
    ]


def relative_path(path: str) -> str:
    """Write a path of the workspace as the commands print it."""
    return path if path.startswith(("/", "./")) else f"./{path}"


def _count(arguments: Mapping[str, Any]) -> str:
    search = f"{_GREP} {_COUNTING} {_write_exclusions()} -e {_pattern(arguments)} ."
    return f"{search} | grep -v ':0$' | sort -t: -k2,2nr -k1,1{_head(arguments)}"


def _lines(arguments: Mapping[str, Any]) -> str:
    cut = f"{_head(arguments)} | cut -c1-{MAX_COLUMNS}"
    if path := arguments.get("path"):
        return (
            f"{_GREP} -InHE -e {_pattern(arguments)} {shlex.quote(relative_path(str(path)))}{cut}"
        )
    search = f"{_GREP} -rInE {_write_exclusions()} -e {_pattern(arguments)} ."
    return f"{search} | sort -s -t: -k1,1{cut}"


def _find(glob: str) -> str:
    names = " -o ".join(_name(pattern) for pattern in expand_braces(glob))
    pruned = " -o ".join(f"-name {folder}" for folder in _SKIPPED)
    search = f"command find . \\( {pruned} \\) -prune -o -type f \\( {names} \\) -print"
    return f"{search} | sort | head -n 200"


def _name(glob: str) -> str:
    name = glob.removeprefix("**/")
    if "/" in name:
        return f"-path {shlex.quote('./' + glob.replace('**/', '*').replace('**', '*'))}"
    return f"-name {shlex.quote(name)}"


def _window(arguments: Mapping[str, Any]) -> str:
    first = arguments.get("offset", 1)
    last = first + arguments.get("limit", 200) - 1
    path = shlex.quote(relative_path(str(arguments["file_path"])))
    return f"cat -n {path} | sed -n '{first},{last}p' | cut -c1-{MAX_COLUMNS}"


def _pattern(arguments: Mapping[str, Any]) -> str:
    return shlex.quote(plain(str(arguments["pattern"])))


def _write_exclusions() -> str:
    return " ".join(f"--exclude-dir={folder}" for folder in _SKIPPED)


def _head(arguments: Mapping[str, Any]) -> str:
    limit = arguments.get("head_limit")
    return f" | head -n {limit}" if isinstance(limit, int) else ""
