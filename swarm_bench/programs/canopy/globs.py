"""Globs as canopy reads them: `**`, `*`, `?`, `[a-z]` and `{a,b}`, over whole relative paths.

`*` also matches `/`, as it does in canopy's queries. Braces and `**/` are written out into
plain globs, and `fnmatch` translates those: its patterns cannot be made to backtrack without
end, which matters because globs come from agents.
"""

import fnmatch
import re
from functools import lru_cache

from swarm_bench.programs.canopy.errors import ToolError

LONGEST = 1_000
MOST_ALTERNATIVES = 256
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")
"""A set of characters; a bracket that comes first in it is one of them."""


@lru_cache(maxsize=256)
def compile_glob(glob: str) -> re.Pattern[str]:
    """A pattern for `match` on a relative path.

    Raises:
        ToolError: the glob is too long, has too many alternatives, an open brace or bracket.
    """
    if len(glob) > LONGEST:
        raise ToolError(f"The glob is longer than {LONGEST} characters; give a shorter one")
    plain = [glob.removeprefix("./")]
    while any(_is_compound(each) for each in plain):
        plain = [simpler for each in plain for simpler in _expand(each)]
        if len(plain) > MOST_ALTERNATIVES:
            raise ToolError(f"The glob {glob!r} stands for too many others; give a simpler one")
    for each in plain:
        if "[" in _CLASS.sub("", each):
            raise ToolError(f"The glob {glob!r} has an open bracket; close it")
    return re.compile("|".join(fnmatch.translate(each) for each in plain))


def _is_compound(glob: str) -> bool:
    return "{" in glob or "**/" in glob


def _expand(glob: str) -> list[str]:
    """One step: the first brace, or else the first `**/`, written out."""
    if "{" in glob:
        return _expand_brace(glob)
    head, found, tail = glob.partition("**/")
    return [head + tail, f"{head}*/{tail}"] if found else [glob]


def _expand_brace(glob: str) -> list[str]:
    start = glob.index("{")
    depth = 0
    cuts = [start]
    for place in range(start, len(glob)):
        character = glob[place]
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0 or (depth == 1 and character == ","):
            cuts.append(place)
        if depth == 0:
            head, tail = glob[:start], glob[place + 1 :]
            pairs = zip(cuts, cuts[1:], strict=False)
            return [head + glob[left + 1 : right] + tail for left, right in pairs]
    raise ToolError(f"The glob {glob!r} has an open brace; close it")
